// Layers that several convolutional models share, named as torchvision names them.
#pragma once

#include <string>

#include "graph/builder.h"

namespace deepgap::graph::builtin {

struct ConvolutionShape {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
};

// A square convolution without bias that keeps the size at stride 1. He's deviation: the next layer
// rectifies.
inline Value convolution(GraphBuilder& graph, const Value& x, const ConvolutionShape& shape,
                         const std::string& name) {
  const std::int64_t channels = shape.in / shape.groups;
  const std::int64_t pad = shape.kernel / 2;
  const Value weight =
      graph.random_weight(name + ".weight", {shape.out, channels, shape.kernel, shape.kernel},
                          he_deviation(channels * shape.kernel * shape.kernel));
  return graph.node("Conv", {x, weight},
                    {ints("dilations", {1, 1}), integer("group", shape.groups),
                     ints("kernel_shape", {shape.kernel, shape.kernel}), ints("pads", {pad, pad, pad, pad}),
                     ints("strides", {shape.stride, shape.stride})},
                    name);
}

// Statistics that are neither 0 nor 1, so that folding the layer away changes something. He's deviation makes
// the variance of a layer's output twice the mean square of its input, which the mean of the running variance
// takes out; a gain below 1 is for the last layer of a residual branch, which would otherwise make the sum
// grow with each block.
inline Value batch_normalisation(GraphBuilder& graph, const Value& x, std::int64_t channels,
                                 const std::string& name, double gain = 1.0) {
  const Value scale = graph.uniform_weight(name + ".weight", {channels}, 0.8 * gain, 1.2 * gain);
  const Value offset = graph.random_weight(name + ".bias", {channels}, 0.1);
  const Value mean = graph.random_weight(name + ".running_mean", {channels}, 0.1);
  const Value variance = graph.uniform_weight(name + ".running_var", {channels}, 0.75, 1.25);
  return graph.node("BatchNormalization", {x, scale, offset, mean, variance}, {number("epsilon", 1e-5F)},
                    name);
}

// Pooled over the image, flattened, 1000 classes.
inline void classifier(GraphBuilder& graph, const Value& x, std::int64_t channels, const std::string& name) {
  constexpr std::int64_t kClasses = 1000;
  Value pooled = graph.node("GlobalAveragePool", {x}, {}, "avgpool");
  pooled = graph.node("Flatten", {pooled}, {integer("axis", 1)}, "flatten");
  const Value weight =
      graph.random_weight(name + ".weight", {kClasses, channels}, xavier_deviation(channels, channels));
  const Value bias = graph.random_weight(name + ".bias", {kClasses}, 0.05);
  const Value logits = graph.node("Gemm", {pooled, weight, bias},
                                  {number("alpha", 1), number("beta", 1), integer("transB", 1)}, name);
  graph.output(logits, "output", ops::DataType::kFloat32, {symbolic("batch"), fixed(kClasses)});
}

}  // namespace deepgap::graph::builtin
