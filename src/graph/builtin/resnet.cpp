// ResNet-18, 50 and 101 as torchvision has them (variant "v1.5": the stride of a bottleneck stands in its 3x3
// convolution). Architecture: He et al. 2015, arXiv 1512.03385. Convolution, batch normalisation and ReLU are
// separate nodes: what eager PyTorch runs, and what engines show that they fuse.
#include <array>

#include "graph/builtin/layers.h"
#include "graph/builtin/models.h"

namespace deepgap::graph::builtin {
namespace {

constexpr std::string_view kSource =
    "torchvision.models, weights table (multiply-adds at 224x224, parameters)";
// The residual branch adds a few hundredths of the variance, so that 33 blocks stay within one order of
// magnitude.
constexpr double kBranchGain = 0.2;

struct Layout {
  std::array<int, 4> blocks;
  bool bottleneck;
};

struct Block {
  std::string name;
  std::int64_t in;
  std::int64_t width;
  std::int64_t out;
  std::int64_t stride;
};

Value rectified(GraphBuilder& graph, const Value& x, std::int64_t channels, const Block& block, int index) {
  const std::string number = std::to_string(index);
  const Value normalised = batch_normalisation(graph, x, channels, block.name + ".bn" + number);
  return graph.node("Relu", {normalised}, {}, block.name + ".relu" + number);
}

Value basic_branch(GraphBuilder& graph, const Value& x, const Block& block) {
  Value y = convolution(graph, x, {block.in, block.width, 3, block.stride}, block.name + ".conv1");
  y = rectified(graph, y, block.width, block, 1);
  y = convolution(graph, y, {block.width, block.out, 3}, block.name + ".conv2");
  return batch_normalisation(graph, y, block.out, block.name + ".bn2", kBranchGain);
}

Value bottleneck_branch(GraphBuilder& graph, const Value& x, const Block& block) {
  Value y = convolution(graph, x, {block.in, block.width, 1}, block.name + ".conv1");
  y = rectified(graph, y, block.width, block, 1);
  y = convolution(graph, y, {block.width, block.width, 3, block.stride}, block.name + ".conv2");
  y = rectified(graph, y, block.width, block, 2);
  y = convolution(graph, y, {block.width, block.out, 1}, block.name + ".conv3");
  return batch_normalisation(graph, y, block.out, block.name + ".bn3", kBranchGain);
}

Value residual_block(GraphBuilder& graph, const Value& x, const Block& block, bool bottleneck) {
  const Value branch = bottleneck ? bottleneck_branch(graph, x, block) : basic_branch(graph, x, block);
  Value shortcut = x;
  if (block.stride != 1 || block.in != block.out) {
    shortcut = convolution(graph, x, {block.in, block.out, 1, block.stride}, block.name + ".downsample.0");
    shortcut = batch_normalisation(graph, shortcut, block.out, block.name + ".downsample.1");
  }
  const Value sum = graph.node("Add", {branch, shortcut}, {}, block.name + ".add");
  return graph.node("Relu", {sum}, {}, block.name + ".relu");
}

Result<std::string> generate(const std::string& name, const Layout& layout, std::uint64_t seed) {
  GraphBuilder graph(name, 17, seed);
  Value x =
      graph.input("input", ops::DataType::kFloat32, {symbolic("batch"), fixed(3), fixed(224), fixed(224)});
  x = convolution(graph, x, {3, 64, 7, 2}, "conv1");
  x = batch_normalisation(graph, x, 64, "bn1");
  x = graph.node("Relu", {x}, {}, "relu");
  x = graph.node("MaxPool", {x},
                 {ints("kernel_shape", {3, 3}), ints("pads", {1, 1, 1, 1}), ints("strides", {2, 2})},
                 "maxpool");
  const std::int64_t expansion = layout.bottleneck ? 4 : 1;
  std::int64_t channels = 64;
  for (std::size_t stage = 0; stage < layout.blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (int i = 0; i < layout.blocks[stage]; ++i) {
      const Block block{"layer" + std::to_string(stage + 1) + "." + std::to_string(i), channels, width,
                        width * expansion, stage > 0 && i == 0 ? 2 : 1};
      x = residual_block(graph, x, block, layout.bottleneck);
      channels = block.out;
    }
  }
  classifier(graph, x, channels, "fc");
  return graph.build_bytes();
}

Result<std::string> resnet18(const Dims&, std::uint64_t seed) {
  return generate("resnet18", {{2, 2, 2, 2}, false}, seed);
}
Result<std::string> resnet50(const Dims&, std::uint64_t seed) {
  return generate("resnet50", {{3, 4, 6, 3}, true}, seed);
}
Result<std::string> resnet101(const Dims&, std::uint64_t seed) {
  return generate("resnet101", {{3, 4, 23, 3}, true}, seed);
}

}  // namespace

const BuiltinModel kResnet18 = {"resnet18",
                                "ResNet-18, 224x224, 1000 classes",
                                "input float32 [batch, 3, 224, 224]",
                                {},
                                1,
                                11'689'512.0,
                                1.814e9,
                                kSource,
                                resnet18};
const BuiltinModel kResnet50 = {"resnet50",
                                "ResNet-50 v1.5, 224x224, 1000 classes",
                                "input float32 [batch, 3, 224, 224]",
                                {},
                                1,
                                25'557'032.0,
                                4.089e9,
                                kSource,
                                resnet50};
const BuiltinModel kResnet101 = {"resnet101",
                                 "ResNet-101 v1.5, 224x224, 1000 classes",
                                 "input float32 [batch, 3, 224, 224]",
                                 {},
                                 1,
                                 44'549'160.0,
                                 7.801e9,
                                 kSource,
                                 resnet101};

}  // namespace deepgap::graph::builtin
