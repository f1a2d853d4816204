// Every tensor between the nodes of the built-in models, as the engine computes it in FP32 on its random
// inputs: finite, not all zero, of a size that neither vanishes nor saturates. Times of such numbers are
// those of a trained model's; those of denormals, infinities or NaN are not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <set>

#include "base/file_system.h"
#include "graph/builtin.h"
#include "graph/graph_view.h"
#include "graph/inputs.h"
#include "openvino_engine.h"

namespace deepgap::openvino {
namespace {

// The model with each of `names` among its outputs. Parts of a message that follow each other are merged, so
// that a second graph (field 7 of ModelProto) with outputs (field 12 of GraphProto: ValueInfoProto, whose
// field 1 is the name) adds them to the first (protobuf.dev/programming-guides/encoding, "Last One Wins").
std::string with_outputs(std::string bytes, const std::set<std::string>& names) {
  std::string graph;
  protozero::pbf_writer writer(graph);
  for (const std::string& name : names) {
    std::string value;
    protozero::pbf_writer(value).add_string(1, name);
    writer.add_message(12, value);
  }
  protozero::pbf_writer(bytes).add_message(7, graph);
  return bytes;
}

// Ranges as `deepgap run` gives them: uniform with mean 0 and variance 1 where a normal distribution is
// meant.
run::TensorSpec tensor_of(const graph::InputSpec& spec) {
  run::TensorSpec tensor{spec.name, std::string(ops::name_of(spec.dtype)), spec.shape};
  const bool real = spec.kind == graph::InputKind::kNormal;
  tensor.low = real ? -std::sqrt(3.0) : spec.kind == graph::InputKind::kOnes ? 1 : spec.lower;
  tensor.high = real ? std::sqrt(3.0) : spec.kind == graph::InputKind::kOnes ? 2 : spec.upper + 1;
  return tensor;
}

struct Extent {
  bool finite = true;
  double root_mean_square = 0;
};
Extent extent_of(const run::Tensor& tensor) {
  Extent extent;
  double squares = 0;
  const std::size_t count = tensor.bytes.size() / sizeof(float);
  for (std::size_t i = 0; i < count; ++i) {
    float value = 0;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(float), sizeof(float));
    extent.finite = extent.finite && std::isfinite(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  extent.root_mean_square = std::sqrt(squares / static_cast<double>(count));
  return extent;
}

class BuiltinActivations : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "deepgap-activations-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    unlink(path().c_str());
    rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/model.onnx"; }

  std::string folder_;
};

TEST_P(BuiltinActivations, StayFiniteAndNeitherVanishNorSaturate) {
  // 0 where a token is attended, and all are.
  const std::set<std::string> zero = {"mask.invert", "mask"};
  constexpr std::uint64_t kSeed = 1;  // of the weights, as `deepgap run` takes it
  const graph::BuiltinModel* const builtin = graph::find_builtin(GetParam());
  ASSERT_NE(builtin, nullptr);
  std::set<std::string> names;
  run::LoadRequest request;
  {
    const Result<std::string> bytes = builtin->generate({}, kSeed);
    ASSERT_TRUE(bytes.ok());
    const Result<graph::Model> model = graph::parse_model(*bytes, GetParam(), {folder_});
    ASSERT_TRUE(model.ok()) << model.error().message();
    const graph::GraphView view = graph::view_of(*model);
    for (const graph::GraphNode& node : view.nodes)
      for (const std::string& output : node.outputs)
        if (const auto* tensor = view.find(output);
            tensor != nullptr && !tensor->constant && tensor->dtype == ops::DataType::kFloat32)
          names.insert(output);
    graph::Dims dims;
    for (const auto& parameter : builtin->parameters) dims[std::string(parameter.name)] = parameter.standard;
    const auto specs = graph::input_specs(*model, dims, 1);
    ASSERT_TRUE(specs.ok()) << specs.error().message();
    for (const auto& spec : *specs) request.inputs.push_back(tensor_of(spec));
    std::set<std::string> between = names;
    for (const auto& output : view.outputs) between.erase(output.name);
    ASSERT_TRUE(write_file_atomically(path(), with_outputs(*bytes, between)).ok());
  }
  request.model_path = path();
  OpenvinoEngine engine;
  run::LoadReply loaded;
  const auto load = engine.load(request, loaded);
  ASSERT_TRUE(load.ok()) << load.failure().message;
  std::vector<run::Tensor> tensors;
  const auto outcome = engine.outputs({}, tensors);
  ASSERT_TRUE(outcome.ok()) << outcome.failure().message;
  // At least what carries weights, each of which is a node.
  EXPECT_GE(names.size(), 40U);
  EXPECT_EQ(tensors.size(), names.size());
  for (const run::Tensor& tensor : tensors) {
    ASSERT_EQ(tensor.spec.dtype, "float32") << tensor.spec.name;
    ASSERT_FALSE(tensor.bytes.empty()) << tensor.spec.name;
    const Extent extent = extent_of(tensor);
    EXPECT_TRUE(extent.finite) << tensor.spec.name;
    if (zero.contains(tensor.spec.name)) {
      EXPECT_EQ(extent.root_mean_square, 0) << tensor.spec.name;
      continue;
    }
    // A softmax over 128 tokens has 1/128 at least, by its sum of 1; the largest found are 9.
    EXPECT_GT(extent.root_mean_square, 1.0 / 1000) << tensor.spec.name;
    EXPECT_LT(extent.root_mean_square, 100) << tensor.spec.name;
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const graph::BuiltinModel* model : graph::builtin_models()) names.emplace_back(model->name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, BuiltinActivations, testing::ValuesIn(all_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace deepgap::openvino
