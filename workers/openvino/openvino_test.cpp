#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/file_system.h"
#include "base/subprocess.h"
#include "compile_options.h"
#include "engine_errors.h"
#include "input_values.h"
#include "openvino_engine.h"
#include "process_settings.h"
#include "run/worker_loop.h"
#include "tiny_onnx.h"

namespace deepgap::openvino {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class OpenvinoWorker : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "deepgap-openvino-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_TRUE(write_file_atomically(model(), workers::tiny_onnx()).ok());
  }
  void TearDown() override {
    for (const auto& name : RootedFileSystem().list(folder_)) unlink((folder_ + "/" + name).c_str());
    rmdir(folder_.c_str());
  }
  std::string model() const { return folder_ + "/tiny.onnx"; }

  run::LoadRequest request(std::int64_t batch = 2, Mode mode = Mode::kLatency) const {
    run::LoadRequest request;
    request.model_path = model();
    request.batch = batch;
    request.mode = mode;
    request.inputs = {workers::tiny_input(batch)};
    request.input_buffers = 3;
    return request;
  }
  static std::optional<std::string> effective(const run::LoadReply& reply, std::string_view name) {
    for (const auto& row : reply.settings)
      if (row.name == name) return row.effective;
    return std::nullopt;
  }

  std::string folder_;
};

class Patient final : public run::MeasureObserver {
 public:
  bool go_on(const run::MeasureProgress&) override { return true; }
};

run::Tensor tensor_of(const run::TensorSpec& spec, const std::vector<float>& values) {
  run::Tensor tensor{spec, std::vector<std::byte>(values.size() * sizeof(float))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST_F(OpenvinoWorker, ComputesWhatTheModelSays) {
  OpenvinoEngine engine;
  run::LoadReply loaded;
  const auto outcome = engine.load(request(), loaded);
  ASSERT_TRUE(outcome.ok()) << outcome.failure().message;
  ASSERT_EQ(loaded.outputs.size(), 1u);
  EXPECT_EQ(loaded.outputs[0].name, "output");
  EXPECT_EQ(loaded.outputs[0].shape, (std::vector<std::int64_t>{2, workers::kTinyOutputs}));

  std::vector<float> values(16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 8 - 1;
  std::vector<run::Tensor> outputs;
  const std::vector<run::Tensor> inputs{tensor_of(workers::tiny_input(2), values)};
  ASSERT_TRUE(engine.outputs(inputs, outputs).ok());
  std::vector<float> found(8);
  ASSERT_EQ(outputs.at(0).bytes.size(), 32u);
  std::memcpy(found.data(), outputs[0].bytes.data(), 32);
  // Relu(input x weight), in double precision.
  const auto weight = workers::tiny_weight();
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 4; ++column) {
      double sum = 0;
      for (std::size_t k = 0; k < 8; ++k)
        sum += static_cast<double>(values[row * 8 + k]) * static_cast<double>(weight[k * 4 + column]);
      EXPECT_NEAR(found[row * 4 + column], std::max(0.0, sum), 1e-5);
    }
}

TEST_F(OpenvinoWorker, Fp32IsSaidAndSettingsAreReadBack) {
  OpenvinoEngine engine;
  run::LoadReply loaded;
  run::LoadRequest load = request();
  load.settings = {{"cpu.threads", "1"}, {"cpu.streams", "1"}};
  ASSERT_TRUE(engine.load(load, loaded).ok());
  EXPECT_EQ(effective(loaded, "engine.inference_precision"), "fp32");
  EXPECT_EQ(effective(loaded, "cpu.threads"), "1");
  EXPECT_EQ(effective(loaded, "cpu.streams"), "1");
  EXPECT_EQ(effective(loaded, "openvino.execution_devices"), "CPU");
  for (const char* name :
       {"cpu.affinity", "openvino.cpu_pinning", "openvino.hyper_threading", "openvino.scheduling_core_type",
        "openvino.optimal_requests", "openvino.performance_hint", "openvino.execution_mode"})
    EXPECT_TRUE(effective(loaded, name).has_value()) << name;
}

TEST_F(OpenvinoWorker, MeasuresBothModes) {
  OpenvinoEngine engine;
  for (const Mode mode : {Mode::kLatency, Mode::kThroughput}) {
    run::LoadReply loaded;
    ASSERT_TRUE(engine.load(request(1, mode), loaded).ok());
    ASSERT_GE(loaded.slots, 1);
    run::MeasureOptions options;
    options.mode = mode;
    options.in_flight = loaded.slots;
    options.warmup_fixed_calls = 3;
    options.stopping.fixed_count = 1000;
    options.stopping.time_limit = 600s;
    Patient observer;
    run::MeasureReply reply;
    const auto outcome = run::measure(engine, options, true, observer, reply);
    ASSERT_TRUE(outcome.ok()) << outcome.failure().message;
    EXPECT_GE(reply.samples.size(), 1000u);
    EXPECT_GT(*std::min_element(reply.samples.host_ns.begin(), reply.samples.host_ns.end()), 0);
  }
}

TEST_F(OpenvinoWorker, KeepsAsManyInFlightAsAsked) {
  OpenvinoEngine engine;
  run::LoadReply loaded;
  run::LoadRequest load = request(1, Mode::kThroughput);
  load.in_flight = 5;
  ASSERT_TRUE(engine.load(load, loaded).ok());
  EXPECT_EQ(loaded.slots, 5);
  // Left in flight on purpose: a load and the end of the engine wait for them.
  for (int slot = 0; slot < 5; ++slot) ASSERT_TRUE(engine.enqueue(slot).ok());
  ASSERT_TRUE(engine.load(load, loaded).ok());
  ASSERT_TRUE(engine.enqueue(3).ok());
  run::Completion completion;
  ASSERT_TRUE(engine.wait_any(completion).ok());
  EXPECT_EQ(completion.slot, 3);
  ASSERT_TRUE(engine.enqueue(0).ok());
}

TEST_F(OpenvinoWorker, SynchronousCallsLeaveNothingToWaitFor) {
  OpenvinoEngine engine;
  run::LoadReply loaded;
  ASSERT_TRUE(engine.load(request(), loaded).ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(engine.call().ok());
  EXPECT_FALSE(engine.done(0));
  ASSERT_TRUE(engine.enqueue(0).ok());
  run::Completion completion;
  ASSERT_TRUE(engine.wait_any(completion).ok());
  EXPECT_FALSE(engine.done(0));
}

TEST_F(OpenvinoWorker, ProfilesItsOps) {
  OpenvinoEngine engine;
  run::LoadReply loaded;
  ASSERT_TRUE(engine.load(request(), loaded).ok());
  std::vector<run::OpTime> ops;
  ASSERT_TRUE(engine.profile(5, ops).ok());
  ASSERT_FALSE(ops.empty());
  EXPECT_TRUE(std::any_of(ops.begin(), ops.end(), [](const run::OpTime& op) {
    return op.type == "FullyConnected" || op.type == "MatMul";
  }));
}

TEST_F(OpenvinoWorker, BrokenModelsAreBadModels) {
  OpenvinoEngine engine;
  run::LoadReply loaded;
  const std::string whole = workers::tiny_onnx();
  const auto failure = [&](const std::string& bytes) {
    EXPECT_TRUE(write_file_atomically(model(), bytes).ok());
    const auto outcome = engine.load(request(), loaded);
    EXPECT_FALSE(outcome.ok());
    return outcome.ok() ? run::EngineFailure{} : outcome.failure();
  };
  for (const std::string& bytes :
       {std::string(), std::string("<html>not found</html>"), whole.substr(0, whole.size() / 2)}) {
    const auto found = failure(bytes);
    EXPECT_EQ(found.kind, "bad_model") << bytes.size();
    EXPECT_EQ(found.message.find('\n'), std::string::npos);
    EXPECT_EQ(found.message.find("Exception from"), std::string::npos) << found.message;
  }
  run::LoadRequest absent = request();
  absent.model_path = folder_ + "/absent.onnx";
  EXPECT_THAT(engine.load(absent, loaded).failure().message, HasSubstr("found no such file"));
  EXPECT_TRUE(write_file_atomically(model(), whole).ok());
  EXPECT_TRUE(engine.load(request(), loaded).ok());  // nothing of it sticks
}

TEST_F(OpenvinoWorker, WrongInputsAndSettingsAreBadRequests) {
  OpenvinoEngine engine;
  run::LoadReply loaded;
  const auto message = [&](const run::LoadRequest& load) {
    const auto outcome = engine.load(load, loaded);
    EXPECT_FALSE(outcome.ok());
    return outcome.ok() ? std::string() : outcome.failure().kind + ": " + outcome.failure().message;
  };
  run::LoadRequest load = request();
  load.inputs[0].name = "x";
  EXPECT_EQ(message(load), "bad_request: expected inputs named input, found 'x'");
  load = request();
  load.inputs[0].dtype = "float16";
  EXPECT_EQ(message(load),
            "bad_request: expected the input 'input' to be float32 as in the model, found float16");
  load = request();
  load.inputs.clear();
  EXPECT_EQ(message(load), "bad_request: expected the 1 inputs of the model (input), found 0");
  load = request();
  load.inputs[0].shape = {2, 9};
  EXPECT_THAT(message(load), HasSubstr("bad_request: OpenVINO: "));
  load = request();
  load.settings["cpu.threads"] = "many";
  EXPECT_EQ(message(load), "bad_request: expected cpu.threads to be a number from 1, or auto, found 'many'");
}

TEST_F(OpenvinoWorker, KeepsTheProtocol) {
  const std::string build = DEEPGAP_BUILD_FOLDER;
  const std::string log = folder_ + "/output";
  auto process = Subprocess::start({.command = {build + "/deepgap-worker-conformance",
                                                build + "/deepgap-worker-openvino", "--set", "cpu.threads=1"},
                                    .log_path = log});
  ASSERT_TRUE(process.ok());
  const auto status = process->wait(300s);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code, 0) << *RootedFileSystem().read(log);
}

TEST(InputValues, AreSeededAndInTheirRange) {
  for (const char* name :
       {"float32", "float16", "bfloat16", "float64", "int8", "uint8", "int32", "int64", "bool"}) {
    const auto type = element_type(name);
    ASSERT_TRUE(type.has_value());
    EXPECT_EQ(onnx_name(*type), name);
    ov::Tensor a(*type, {1000}), b(*type, {1000});
    Random random(5), same(5);
    fill_random(a, 0, 100, random);
    fill_random(b, 0, 100, same);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.get_byte_size()), 0) << name;
  }
  ov::Tensor ids(ov::element::i64, {10'000});
  Random random(1);
  fill_random(ids, 3, 7, random);
  const auto* values = ids.data<std::int64_t>();
  EXPECT_EQ(*std::min_element(values, values + 10'000), 3);
  EXPECT_EQ(*std::max_element(values, values + 10'000), 6);
  ov::Tensor real(ov::element::f32, {10'000});
  fill_random(real, -1, 1, random);
  const auto* reals = real.data<float>();
  EXPECT_GE(*std::min_element(reals, reals + 10'000), -1);
  EXPECT_LE(*std::max_element(reals, reals + 10'000), 1);
  EXPECT_FALSE(element_type("string").has_value());
}

TEST(ProcessSettings, ListsOfProcessors) {
  EXPECT_EQ(*parse_processors("0-3,8"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(*parse_processors("2,1,1"), (std::vector<int>{1, 2}));
  for (const char* wrong : {"", "a", "3-1", "1-", "-1", "1,,2", "9999999999"})
    EXPECT_FALSE(parse_processors(wrong).ok()) << wrong;
}

TEST(ProcessSettings, HugePagesTakeTheirWords) {
  EXPECT_FALSE(apply_process_settings({{"memory.huge_pages", "sometimes"}}).ok());
  ASSERT_TRUE(apply_process_settings({{"memory.huge_pages", "never"}}).ok());
  EXPECT_EQ(effective_process_settings({{"memory.huge_pages", "never"}}).at(1).effective, "never");
  ASSERT_TRUE(apply_process_settings({{"memory.huge_pages", "madvise"}}).ok());  // no longer turned off
}

TEST(EngineErrors, AreShortAndToldApart) {
  EXPECT_EQ(short_message("Exception from src/inference/src/cpp/core.cpp:97:\nCheck 'x' failed at "
                          "a.cpp:3:\nShape mismatch\n\n"),
            "Shape mismatch");
  EXPECT_EQ(short_message(""), "OpenVINO gave no reason");
  EXPECT_EQ(failure_of(std::bad_alloc(), "internal").kind, "out_of_memory");
  EXPECT_EQ(failure_of(std::runtime_error("std::bad_alloc"), "bad_model").kind, "out_of_memory");
  EXPECT_EQ(failure_of(std::runtime_error("OpenVINO does not support the following ONNX operations: Foo"),
                       "bad_model")
                .kind,
            "unsupported");
  EXPECT_EQ(failure_of(std::runtime_error("no"), "bad_model").kind, "bad_model");
}

// The first text is OpenVINO 2026.4's own.
TEST(EngineErrors, NameTheOperatorThatIsNotKnown) {
  const auto text = [](const std::string& message) {
    return failure_of(std::runtime_error("Check 'unsupported' failed at x.cpp:9:\n" + message), "bad_model")
        .message;
  };
  EXPECT_EQ(
      text("FrontEnd API failed with OpConversionFailure:\nModel wasn't fully converted. Summary:\n"
           "-- No conversion rule found for operations: my.dom.Frob\n"),
      "OpenVINO: expected operators that it knows, found my.dom.Frob: export the model with operators of the "
      "standard set (ai.onnx)");
  EXPECT_EQ(
      text("FrontEnd API failed with OpConversionFailure: Conversion failed for ai.onnx.Resize"),
      "OpenVINO: it cannot convert an operator of the model: Conversion failed for ai.onnx.Resize: export "
      "the model with operators of the standard set (ai.onnx)");
  EXPECT_EQ(text("FrontEnd API failed with OpConversionFailure"),
            "OpenVINO: it cannot convert an operator of the model: export the model with operators of the "
            "standard set (ai.onnx)");
}

}  // namespace
}  // namespace deepgap::openvino
