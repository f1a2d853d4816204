#include "run/protocol.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/random.h"

namespace deepgap::run {
namespace {

using nlohmann::json;

template <typename T>
T through(const Request& request) {
  auto received = decode_request(encode(7, request));
  EXPECT_TRUE(received.ok());
  EXPECT_EQ(received->id, 7);
  EXPECT_TRUE(received->request.has_value()) << received->failure.message;
  return std::get<T>(*received->request);
}

LoadRequest example_load() {
  LoadRequest request;
  request.model_path = "/models/resnet50.onnx";
  request.model_name = "resnet50";
  request.model_hash = "abc";
  request.precision = Precision::kBf16;
  request.mode = Mode::kThroughput;
  request.batch = 8;
  request.inputs = {{"input", "float32", {8, 3, 224, 224}, -1, 1}, {"ids", "int64", {8, 16}, 0, 30522}};
  request.input_buffers = 4;
  request.seed = 18446744073709551615u;
  request.settings = {{"cpu.threads", "2"}};
  return request;
}

// Text as in docs/worker-protocol.md, so that the two stay in step.
TEST(Protocol, ReadsTheRequestsOfTheDocument) {
  const auto hello =
      decode_request({R"({"id":1,"verb":"hello","protocol":1,"deepgap_version":"0.1.0"})", {}});
  ASSERT_TRUE(hello.ok() && hello->request);
  EXPECT_EQ(std::get<HelloVerb>(*hello->request).deepgap_version, "0.1.0");

  const auto load = decode_request(
      {R"({"id":2,"verb":"load","model":{"path":"/m.onnx","format":"onnx","name":"resnet50","hash":"99"},
           "device":"cpu","precision":"fp32","mode":"latency","batch":8,
           "inputs":[{"name":"input","dtype":"float32","shape":[8,3,224,224],"low":-1.0,"high":1.0}],
           "input_buffers":4,"seed":1,"in_flight":null,"settings":{"cpu.threads":"2"}})",
       {}});
  ASSERT_TRUE(load.ok() && load->request);
  const auto& request = std::get<LoadRequest>(*load->request);
  EXPECT_EQ(request.inputs.at(0).shape, (std::vector<std::int64_t>{8, 3, 224, 224}));
  EXPECT_EQ(request.inputs.at(0).low, -1);
  EXPECT_FALSE(request.in_flight.has_value());
  EXPECT_EQ(request.settings.at("cpu.threads"), "2");

  const auto measure = decode_request({R"({"id":3,"verb":"measure","mode":"latency",
           "warmup":{"min_calls":3,"min_ns":200000000,"max_ns":2000000000,"fixed_calls":null},
           "stop":{"target":0.01,"confidence":0.95,"min_samples":10,"min_ns":500000000,"time_limit_ns":6000000000,
                   "max_samples":1000000,"fixed_count":null},
           "in_flight":1,"start_at_ns":null})",
                                       {}});
  ASSERT_TRUE(measure.ok() && measure->request);
  const auto& options = std::get<MeasureVerb>(*measure->request).options;
  EXPECT_EQ(options.warmup.min_calls, 3);
  EXPECT_EQ(options.warmup.min_time, std::chrono::milliseconds(200));
  EXPECT_EQ(options.warmup.time_limit, std::chrono::seconds(2));
  EXPECT_EQ(options.stopping.time_limit, std::chrono::seconds(6));
  EXPECT_FALSE(options.start_at.has_value());
}

TEST(Protocol, RequestsComeBack) {
  const LoadRequest sent = example_load();
  const auto load = through<LoadRequest>(sent);
  EXPECT_EQ(load.model_path, sent.model_path);
  EXPECT_EQ(load.precision, sent.precision);
  EXPECT_EQ(load.mode, sent.mode);
  EXPECT_EQ(load.batch, 8);
  ASSERT_EQ(load.inputs.size(), 2u);
  EXPECT_EQ(load.inputs[1].dtype, "int64");
  EXPECT_EQ(load.inputs[1].high, 30522);
  EXPECT_EQ(load.seed, sent.seed);

  MeasureVerb measure;
  measure.options.mode = Mode::kThroughput;
  measure.options.in_flight = 4;
  measure.options.warmup_fixed_calls = 20;
  measure.options.stopping.fixed_count = 100;
  measure.options.stopping.target_relative_half_width = 0.02;
  measure.options.start_at = Nanoseconds(123456789012345);
  const auto options = through<MeasureVerb>(measure).options;
  EXPECT_EQ(options.mode, Mode::kThroughput);
  EXPECT_EQ(options.in_flight, 4);
  EXPECT_EQ(options.warmup_fixed_calls, 20);
  EXPECT_EQ(options.stopping.fixed_count, 100);
  EXPECT_EQ(options.stopping.target_relative_half_width, 0.02);
  EXPECT_EQ(options.start_at, measure.options.start_at);

  Tensor tensor{{"x", "float32", {1, 2}}, std::vector<std::byte>(8, std::byte{3})};
  const auto outputs = through<OutputsVerb>(OutputsVerb{{tensor}});
  EXPECT_EQ(outputs.inputs.at(0).bytes, tensor.bytes);
  EXPECT_EQ(through<ProfileVerb>(ProfileVerb{3}).calls, 3);
  EXPECT_EQ(through<ProbeVerb>(ProbeVerb{"cpu", "bandwidth.memory"}).quantity, "bandwidth.memory");
  EXPECT_EQ(through<EnqueueVerb>(EnqueueVerb{2}).slot, 2);
  for (const Request& request : {Request(CancelVerb{}), Request(RunVerb{}), Request(MemoryVerb{}),
                                 Request(PollVerb{}), Request(ExitVerb{})}) {
    const auto received = decode_request(encode(1, request));
    ASSERT_TRUE(received.ok() && received->request);
    EXPECT_EQ(received->request->index(), request.index());
    EXPECT_EQ(received->verb, verb_of(request));
  }
}

TEST(Protocol, BadRequestsAreAnsweredWhereTheyHaveAnId) {
  const auto failure = [](const char* text) {
    const auto received = decode_request({text, {}});
    EXPECT_TRUE(received.ok()) << text;
    EXPECT_FALSE(received->request.has_value()) << text;
    return received->failure;
  };
  EXPECT_EQ(failure(R"({"id":1,"verb":"dance"})").kind, "unsupported");
  EXPECT_EQ(failure(R"({"id":1})").kind, "bad_request");
  EXPECT_EQ(failure(R"({"id":1,"verb":"hello"})").message,
            "request 'hello': expected 'protocol', a whole number, found none");
  EXPECT_EQ(failure(R"({"id":1,"verb":"measure","mode":"latency","warmup":{},"stop":{}})").message,
            "request 'measure', 'stop': expected 'time_limit_ns', a whole number, found none");
  EXPECT_EQ(
      failure(
          R"({"id":1,"verb":"load","model":{"path":"m"},"device":"cpu","precision":"fp31","mode":"latency",
                        "batch":1,"inputs":[]})")
          .message,
      "request 'load': expected 'precision' to be one of fp64, fp32, tf32, fp16, bf16, int8, fp8-e4m3, "
      "fp8-e5m2, "
      "found 'fp31'");
  EXPECT_EQ(
      failure(
          R"({"id":1,"verb":"load","model":{"path":"m"},"device":"cpu","precision":"fp32","mode":"latency",
                        "batch":0,"inputs":[]})")
          .message,
      "request 'load': expected 'batch' of at least 1, found 0");
  for (const char* text :
       {R"({"verb":"hello"})", R"({"id":0,"verb":"hello"})", R"({"id":"1","verb":"hello"})"})
    EXPECT_FALSE(decode_request({text, {}}).ok()) << text;
}

TEST(Protocol, HelloComesBack) {
  HelloReply sent;
  sent.engine.name = "openvino";
  sent.engine.version = "2026.4.1";
  Device device;
  device.address = "cpu";
  device.name = "Intel(R) Xeon(R) Processor";
  device.facts = {{"cores.physical", "2", ""}};
  device.ceilings = {{"bandwidth.memory", 1.5e10, Unit::kBytesPerSecond, Origin::kMeasured, "note"}};
  sent.engine.devices = {device};
  sent.engine.precisions = {{Precision::kFp32, PrecisionMaker::kEngine},
                            {Precision::kInt8, PrecisionMaker::kGraphPass}};
  sent.engine.model_formats = {"onnx"};
  sent.engine.settings = {"cpu.threads"};
  sent.engine.process_settings = {"cpu.threads"};
  sent.engine.enqueue_timer = true;
  sent.engine.probes = {"bandwidth.memory"};
  sent.verbs = {"hello", "load", "measure", "outputs", "exit"};
  sent.scheduled_start = true;
  const auto back = decode_hello_reply(encode_reply(1, sent));
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(back->engine.version, "2026.4.1");
  EXPECT_EQ(back->engine.devices.at(0).fact("cores.physical"), "2");
  EXPECT_EQ(back->engine.devices.at(0).ceilings.at(0).unit, Unit::kBytesPerSecond);
  EXPECT_EQ(back->maker_of(Precision::kInt8), PrecisionMaker::kGraphPass);
  EXPECT_FALSE(back->maker_of(Precision::kFp16).has_value());
  EXPECT_TRUE(back->engine.enqueue_timer);
  EXPECT_FALSE(back->engine.device_timer);
  EXPECT_TRUE(back->engine.outputs);
  EXPECT_FALSE(back->engine.profile);
  EXPECT_TRUE(back->scheduled_start);
  EXPECT_EQ(back->engine.probes, sent.engine.probes);
}

TEST(Protocol, APrecisionOfANewerVersionIsPassedOver) {
  HelloReply sent;
  json header = json::parse(encode_reply(1, sent).header);
  header["capabilities"]["precisions"] =
      json::parse(R"([{"name":"fp2","by":"engine"},{"name":"fp32","by":"engine"}])");
  header["capabilities"]["later"] = 1;
  const auto back = decode_hello_reply(make_message(header));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->engine.precisions.size(), 1u);
}

TEST(Protocol, LoadComesBack) {
  LoadedReply sent;
  sent.load_time = Nanoseconds(812345678);
  sent.load.slots = 3;
  sent.load.settings = {
      {"cpu.threads", "2", "2"}, {"engine.found", std::nullopt, "x"}, {"asked", "1", std::nullopt}};
  sent.load.outputs = {{"output", "float32", {8, 1000}}};
  const auto back = decode_load_reply(encode_reply(2, sent));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->load_time, sent.load_time);
  EXPECT_EQ(back->load.slots, 3);
  ASSERT_EQ(back->load.settings.size(), 3u);
  EXPECT_FALSE(back->load.settings[1].requested.has_value());
  EXPECT_FALSE(back->load.settings[2].effective.has_value());
  EXPECT_EQ(back->load.outputs.at(0).shape, (std::vector<std::int64_t>{8, 1000}));
  EXPECT_FALSE(
      decode_load_reply({R"({"id":2,"ok":true,"load_ns":1,"slots":0,"settings":[],"outputs":[]})", {}}).ok());
}

MeasureReply example_measure() {
  MeasureReply sent;
  sent.first_call = Nanoseconds(41234567);
  sent.warmup_calls = 21;
  sent.warmup_time = Nanoseconds(212345678);
  sent.warmup_steady = true;
  sent.stop_reason = StopReason::kTimeLimit;
  sent.window = Nanoseconds(100);
  sent.completed = 2;
  sent.started = {Nanoseconds(81234567890), Nanoseconds(1796000000123456789)};
  sent.memory.peak_process = Bytes{412345678};
  sent.samples.start_ns = {10, 20};
  sent.samples.host_ns = {5, 6};
  sent.samples.device_ns = {3, 4};
  return sent;
}

TEST(Protocol, MeasureComesBack) {
  const MeasureReply sent = example_measure();
  const auto back = decode_measure_reply(encode_reply(3, sent));
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_EQ(back->first_call, sent.first_call);
  EXPECT_EQ(back->warmup_calls, 21);
  EXPECT_TRUE(back->warmup_steady);
  EXPECT_EQ(back->stop_reason, StopReason::kTimeLimit);
  EXPECT_EQ(back->window, sent.window);
  EXPECT_EQ(back->completed, 2);
  EXPECT_EQ(back->started.realtime_at, sent.started.realtime_at);
  EXPECT_EQ(back->memory.peak_process, Bytes{412345678});
  EXPECT_FALSE(back->memory.peak_device.has_value());
  EXPECT_EQ(back->samples.start_ns, sent.samples.start_ns);
  EXPECT_EQ(back->samples.host_ns, sent.samples.host_ns);
  EXPECT_TRUE(back->samples.enqueue_ns.empty());
  EXPECT_EQ(back->samples.device_ns, sent.samples.device_ns);
}

TEST(Protocol, ColumnsThatDoNotFitTogetherAreErrors) {
  const auto error = [](MeasureReply reply) {
    const auto back = decode_measure_reply(encode_reply(3, reply));
    return back.ok() ? std::string() : back.error().message();
  };
  MeasureReply reply = example_measure();
  reply.samples.device_ns = {1};
  EXPECT_EQ(error(reply),
            "reply to 'measure': expected the blob 'device_ns' to be as long as 'host_ns' (2), found 1");
  reply = example_measure();
  reply.samples.host_ns[1] = -6;
  EXPECT_EQ(error(reply),
            "reply to 'measure': expected times of 1 to 2^62 ns in the blob 'host_ns', found -6");
  Message message = encode_reply(3, example_measure());
  message.blobs.clear();
  EXPECT_FALSE(decode_measure_reply(message).ok());
}

// Numbers that no clock and no process gives.
TEST(Protocol, ImpossibleNumbersAreErrors) {
  const auto error = [](const auto& change) {
    MeasureReply reply = example_measure();
    change(reply);
    const auto back = decode_measure_reply(encode_reply(3, reply));
    return back.ok() ? std::string() : back.error().message();
  };
  constexpr std::int64_t kTooLong = std::int64_t{1} << 62;
  EXPECT_EQ(error([](MeasureReply&) {}), "");
  EXPECT_EQ(error([](MeasureReply& r) { r.samples.host_ns[0] = 0; }),
            "reply to 'measure': expected times of 1 to 2^62 ns in the blob 'host_ns', found 0");
  EXPECT_NE(error([](MeasureReply& r) { r.samples.host_ns[0] = kTooLong; }), "");
  EXPECT_NE(error([](MeasureReply& r) { r.samples.start_ns[0] = kTooLong; }), "");
  EXPECT_NE(error([](MeasureReply& r) { r.samples.start_ns[0] = -1; }), "");
  EXPECT_EQ(error([](MeasureReply& r) { r.samples.device_ns[0] = 0; }), "");  // a timer is coarse
  EXPECT_NE(error([](MeasureReply& r) { r.samples.device_ns[0] = -1; }), "");
  EXPECT_EQ(error([](MeasureReply& r) { r.first_call = Nanoseconds(-5); }),
            "reply to 'measure': expected 'first_call_ns' of 1 to 2^62 ns, found -5");
  EXPECT_NE(error([](MeasureReply& r) { r.first_call = Nanoseconds(0); }), "");
  EXPECT_EQ(error([](MeasureReply& r) { r.first_call.reset(); }), "");
  EXPECT_EQ(error([](MeasureReply& r) { r.warmup_time = Nanoseconds(-1); }),
            "reply to 'measure': expected 'warmup_ns' of 0 to 2^62 ns, found -1");
  EXPECT_NE(error([](MeasureReply& r) { r.warmup_calls = -1; }), "");
  EXPECT_NE(error([](MeasureReply& r) { r.window = Nanoseconds(-1); }), "");
  EXPECT_EQ(error([](MeasureReply& r) { r.memory.peak_process = Bytes{0}; }),
            "'memory': expected 'peak_process_bytes' above 0, or none, found 0");
  EXPECT_NE(error([](MeasureReply& r) { r.memory.peak_device = Bytes{-4096}; }), "");

  LoadedReply loaded;
  loaded.load_time = Nanoseconds(-10'010'000'000);
  const auto back = decode_load_reply(encode_reply(2, loaded));
  ASSERT_FALSE(back.ok());
  EXPECT_EQ(back.error().message(),
            "reply to 'load': expected 'load_ns' of 0 to 2^62 ns, found -10010000000");
  EXPECT_FALSE(decode_run_reply(encode_reply(4, RunReply{Nanoseconds(0), {}})).ok());
}

TEST(Protocol, AMeasuringIsOfWhatWasAsked) {
  const auto fault = [](Mode mode, int in_flight, const auto& change) {
    MeasureOptions asked;
    asked.mode = mode;
    asked.in_flight = in_flight;
    MeasureReply reply;  // ten calls of 8 ns, one each 10 ns
    for (std::int64_t call = 1; call <= 10; ++call) {
      reply.samples.start_ns.push_back(10 * call);
      reply.samples.host_ns.push_back(8);
    }
    reply.completed = 10;
    reply.window = Nanoseconds(100);
    change(reply);
    const Result<void> checked = check_measuring(asked, reply);
    return checked.ok() ? std::string() : checked.error().message();
  };
  const auto nothing = [](MeasureReply&) {};
  EXPECT_EQ(fault(Mode::kLatency, 1, nothing), "");
  EXPECT_EQ(fault(Mode::kLatency, 1, [](MeasureReply& r) { r.samples.host_ns[3] = 10; }),
            "");  // back to back
  EXPECT_EQ(fault(Mode::kLatency, 1, [](MeasureReply& r) { r.samples.host_ns[3] = 11; }),
            "expected each call to start after the end of the one before, found call 4 inside call 3");
  EXPECT_EQ(fault(Mode::kLatency, 1, [](MeasureReply& r) { r.samples.start_ns.assign(10, 0); }),
            "expected starts on CLOCK_MONOTONIC, above 0, found 0");
  EXPECT_EQ(fault(Mode::kLatency, 1,
                  [](MeasureReply& r) { std::swap(r.samples.start_ns[0], r.samples.start_ns[9]); }),
            "expected samples in the order of their starts, found others");
  const auto empty = [](MeasureReply& r) { r.samples = {}; };
  EXPECT_EQ(fault(Mode::kLatency, 1, empty), "expected samples of timed calls, found none");
  EXPECT_EQ(fault(Mode::kThroughput, 1,
                  [&](MeasureReply& r) {
                    empty(r);
                    r.stop_reason = StopReason::kCancelled;
                  }),
            "");

  EXPECT_EQ(fault(Mode::kThroughput, 1, nothing), "");
  EXPECT_EQ(fault(Mode::kThroughput, 2, [](MeasureReply& r) { r.samples.start_ns[3] = 34; }), "");
  EXPECT_EQ(fault(Mode::kThroughput, 1, [](MeasureReply& r) { r.completed = 10'000; }),
            "expected each completed call to be a sample, found 10 samples of 10000 completed calls");
  EXPECT_EQ(fault(Mode::kThroughput, 1, [](MeasureReply& r) { r.window = Nanoseconds(0); }),
            "expected a window in which calls completed, found none");
  // The ends are at 18, 28, ..., 108: a span of 90.
  EXPECT_EQ(fault(Mode::kThroughput, 1, [](MeasureReply& r) { r.window = Nanoseconds(90); }), "");
  EXPECT_EQ(
      fault(Mode::kThroughput, 1, [](MeasureReply& r) { r.window = Nanoseconds(89); }),
      "expected a window that holds the ends of its calls, found one of 89 ns with 1 of 10 ends before it");
  // With two in flight one may have been told late.
  EXPECT_EQ(fault(Mode::kThroughput, 2, [](MeasureReply& r) { r.window = Nanoseconds(89); }), "");
  EXPECT_NE(fault(Mode::kThroughput, 2, [](MeasureReply& r) { r.window = Nanoseconds(79); }), "");
}

TEST(Protocol, SmallRepliesComeBack) {
  const auto run =
      decode_run_reply(encode_reply(4, RunReply{Nanoseconds(9), {Nanoseconds(2), std::nullopt}}));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->host, Nanoseconds(9));
  EXPECT_EQ(run->times.enqueue, Nanoseconds(2));
  EXPECT_FALSE(run->times.device.has_value());
  const auto poll = decode_poll_reply(encode_reply(5, PollReply{{{1, Nanoseconds(77)}}}));
  ASSERT_TRUE(poll.ok());
  EXPECT_EQ(poll->ended.at(0).slot, 1);
  EXPECT_EQ(poll->ended.at(0).completed_at, Nanoseconds(77));
  const auto profile = decode_profile_reply(
      encode_reply(6, ProfileReply{{{"conv1", "Convolution", "brgconv_f32", Nanoseconds(5)}}, ""}));
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->ops.at(0).exec_type, "brgconv_f32");
  const auto trace = decode_profile_reply(encode_reply(6, ProfileReply{{}, "/t.json"}));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->trace_path, "/t.json");
  const auto memory = decode_memory_reply(encode_reply(7, MemoryReply{{std::nullopt, Bytes{5}}}));
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(memory->memory.peak_device, Bytes{5});
  const auto probe = decode_probe_reply(
      encode_reply(8, ProbeReply{{"bandwidth.memory", 1e10, Unit::kBytesPerSecond, Origin::kMeasured, ""}}));
  ASSERT_TRUE(probe.ok());
  EXPECT_EQ(probe->ceiling.value, 1e10);
}

TEST(Protocol, OutputsMustHaveTheBytesOfTheirShape) {
  OutputsReply sent{{{{"y", "float16", {2, 3}}, std::vector<std::byte>(12)}}};
  const auto back = decode_outputs_reply(encode_reply(9, sent));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->outputs.at(0).bytes.size(), 12u);
  sent.outputs[0].bytes.resize(11);
  const auto broken = decode_outputs_reply(encode_reply(9, sent));
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(
      broken.error().message(),
      "reply to 'outputs': expected the tensor 'y' to have 12 bytes as its shape and type say, found 11");
}

TEST(Protocol, RepliesFailuresAndEventsAreToldApart) {
  const auto reply = classify(encode_reply(3, EmptyReply{}));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->kind, Incoming::Kind::kReply);
  EXPECT_EQ(reply->id, 3);
  const auto failed = classify(encode_failure(4, {"out_of_memory", "no room\x1b[2J", Bytes{12884901888}}));
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->kind, Incoming::Kind::kFailure);
  EXPECT_EQ(failed->failure.kind, "out_of_memory");
  EXPECT_EQ(failed->failure.message, "no room\\x1b[2J");
  EXPECT_EQ(failed->failure.bytes_asked, Bytes{12884901888});
  MeasureProgress progress{MeasurePhase::kMeasure, 120, Nanoseconds(1200000000), Nanoseconds(9800000), 0.013};
  const auto event = classify(encode_progress(5, progress));
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->kind, Incoming::Kind::kEvent);
  EXPECT_EQ(event->event, "progress");
  EXPECT_EQ(event->progress.calls, 120);
  EXPECT_EQ(event->progress.median, Nanoseconds(9800000));
  EXPECT_EQ(event->progress.width, 0.013);
  EXPECT_FALSE(classify({R"({"ok":true})", {}}).ok());
  EXPECT_FALSE(classify({R"({"id":1,"ok":false})", {}}).ok());
  EXPECT_TRUE(classify({R"({"event":"later","id":1})", {}}).ok());
}

TEST(Protocol, OnlyHarmlessFailuresLeaveTheProcessUsable) {
  EXPECT_TRUE(process_stays_usable("bad_request"));
  EXPECT_TRUE(process_stays_usable("unsupported"));
  EXPECT_TRUE(process_stays_usable("bad_model"));
  EXPECT_FALSE(process_stays_usable("out_of_memory"));
  EXPECT_FALSE(process_stays_usable("device_lost"));
  EXPECT_FALSE(process_stays_usable("internal"));
  EXPECT_FALSE(process_stays_usable("something new"));
}

// Any member replaced by any other kind of value is an error or is taken, never a crash or an exception.
TEST(Protocol, SurvivesMembersOfWrongTypes) {
  const std::vector<json> odd{nullptr,
                              true,
                              -1,
                              1.5,
                              "x",
                              json::array({1, "a", nullptr}),
                              json::object({{"k", 1}}),
                              18446744073709551615u};
  const auto try_all = [&](const Message& message, const auto& decode) {
    const json good = json::parse(message.header).flatten();
    for (const auto& [pointer, value] : good.items()) {
      for (const auto& replacement : odd) {
        json header = json::parse(message.header);
        header[json::json_pointer(pointer)] = replacement;
        decode(Message{header.dump(), message.blobs});
        // And its parent replaced.
        json parent = json::parse(message.header);
        parent[json::json_pointer(pointer).parent_pointer()] = replacement;
        decode(Message{parent.dump(), message.blobs});
      }
    }
  };
  HelloReply hello;
  hello.engine.devices = {{"cpu",
                           "CPU",
                           {"alias"},
                           DeviceKind::kCpu,
                           {{"a", "b", ""}},
                           {{"flops", 1, Unit::kHertz, Origin::kProbe, ""}}}};
  hello.engine.precisions = {{Precision::kFp32, PrecisionMaker::kEngine}};
  LoadedReply loaded;
  loaded.load.settings = {{"a", "b", "c"}};
  loaded.load.outputs = {{"o", "float32", {1}}};
  try_all(encode(1, example_load()), [](const Message& m) { (void)decode_request(m); });
  try_all(encode(1, MeasureVerb{}), [](const Message& m) { (void)decode_request(m); });
  try_all(encode_reply(1, hello), [](const Message& m) { (void)decode_hello_reply(m); });
  try_all(encode_reply(1, loaded), [](const Message& m) { (void)decode_load_reply(m); });
  try_all(encode_reply(1, example_measure()), [](const Message& m) { (void)decode_measure_reply(m); });
  try_all(encode_progress(1, {}), [](const Message& m) { (void)classify(m); });
  try_all(encode_failure(1, {"internal", "x", Bytes{1}}), [](const Message& m) { (void)classify(m); });
  try_all(encode_reply(1, PollReply{{{1, Nanoseconds(2)}}}),
          [](const Message& m) { (void)decode_poll_reply(m); });
}

}  // namespace
}  // namespace deepgap::run
