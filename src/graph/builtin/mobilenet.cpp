// MobileNet-v2 as torchvision has it (width 1.0). Architecture: Sandler et al. 2018, arXiv 1801.04381,
// table 2. Its depthwise convolutions do little arithmetic for the bytes that they move: the opposite of a
// ResNet.
#include "graph/builtin/layers.h"
#include "graph/builtin/models.h"

namespace deepgap::graph::builtin {
namespace {

struct Stage {
  std::int64_t expansion;
  std::int64_t out;
  int blocks;
  std::int64_t stride;
};

constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
constexpr double kBranchGain = 0.5;

Value relu6(GraphBuilder& graph, const Value& x, const std::string& name) {
  return graph.node("Clip", {x, graph.scalar(0), graph.scalar(6)}, {}, name);
}

Value convolution_relu6(GraphBuilder& graph, Value x, const ConvolutionShape& shape,
                        const std::string& name) {
  x = convolution(graph, x, shape, name + ".0");
  x = batch_normalisation(graph, x, shape.out, name + ".1");
  return relu6(graph, x, name + ".2");
}

Value inverted_residual(GraphBuilder& graph, const Value& x, std::int64_t in, std::int64_t out,
                        std::int64_t expansion, std::int64_t stride, const std::string& name) {
  const std::int64_t hidden = in * expansion;
  Value y = x;
  int part = 0;
  const auto next = [&] { return name + ".conv." + std::to_string(part++); };
  if (expansion != 1) y = convolution_relu6(graph, y, {in, hidden, 1}, next());
  y = convolution_relu6(graph, y, {hidden, hidden, 3, stride, hidden}, next());
  y = convolution(graph, y, {hidden, out, 1}, next());
  const bool adds = stride == 1 && in == out;
  y = batch_normalisation(graph, y, out, next(), adds ? kBranchGain : 1.0);
  return adds ? graph.node("Add", {x, y}, {}, name + ".add") : y;
}

Result<std::string> mobilenet_v2(const Dims&, std::uint64_t seed) {
  GraphBuilder graph("mobilenet-v2", 17, seed);
  Value x =
      graph.input("input", ops::DataType::kFloat32, {symbolic("batch"), fixed(3), fixed(224), fixed(224)});
  x = convolution_relu6(graph, x, {3, 32, 3, 2}, "features.0");
  std::int64_t channels = 32;
  int number = 1;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      x = inverted_residual(graph, x, channels, stage.out, stage.expansion, i == 0 ? stage.stride : 1,
                            "features." + std::to_string(number++));
      channels = stage.out;
    }
  }
  x = convolution_relu6(graph, x, {channels, 1280, 1}, "features." + std::to_string(number));
  classifier(graph, x, 1280, "classifier.1");
  return graph.build_bytes();
}

}  // namespace

const BuiltinModel kMobilenetV2 = {"mobilenet-v2",
                                   "MobileNet-v2 1.0, 224x224, 1000 classes",
                                   "input float32 [batch, 3, 224, 224]",
                                   {},
                                   1,
                                   3'504'872.0,
                                   0.301e9,
                                   "torchvision.models, weights table (multiply-adds at 224x224, parameters)",
                                   mobilenet_v2};

}  // namespace deepgap::graph::builtin
