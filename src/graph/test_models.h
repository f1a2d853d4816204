// Small models for the tests of this module.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "graph/builder.h"
#include "graph/model.h"

namespace deepgap::graph {

inline GraphBuilder tiny_convolution(std::int64_t opset = 17) {
  GraphBuilder graph("tiny", opset, 1);
  const Value x =
      graph.input("input", ops::DataType::kFloat32, {symbolic("batch"), fixed(3), fixed(8), fixed(8)});
  const Value weight = graph.random_weight("conv.weight", {16, 3, 3, 3}, he_deviation(27));
  const Value y =
      graph.node("Conv", {x, weight}, {ints("kernel_shape", {3, 3}), ints("pads", {1, 1, 1, 1})}, "conv");
  graph.output(graph.node("Relu", {y}, {}, "relu"), "output", ops::DataType::kFloat32,
               {symbolic("batch"), fixed(16), fixed(8), fixed(8)});
  return graph;
}

inline Model built(GraphBuilder graph) {
  Result<Model> model = graph.build();
  EXPECT_TRUE(model.ok()) << model.error().message();
  return std::move(*model);
}

inline std::string bytes_of(GraphBuilder graph) {
  Result<std::string> bytes = graph.build_bytes();
  EXPECT_TRUE(bytes.ok()) << bytes.error().message();
  return std::move(*bytes);
}

// The message of a result that must have failed.
template <typename T>
std::string error_of(const Result<T>& result) {
  EXPECT_FALSE(result.ok());
  return result.ok() ? "" : result.error().message();
}

}  // namespace deepgap::graph
