#include "graph/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "graph/test_models.h"

namespace deepgap::graph {
namespace {

using ops::DataType;
using testing::HasSubstr;

TEST(Builder, TheSameSeedGivesTheSameBytes) {
  const auto bytes = [](std::uint64_t seed, bool with_more) {
    GraphBuilder graph("g", 17, seed);
    const Value x = graph.input("x", DataType::kFloat32, {symbolic("batch"), fixed(4)});
    if (with_more) graph.random_weight("another", {3}, 1);
    const Value w = graph.random_weight("w", {4, 4}, 1);
    graph.output(graph.node("MatMul", {x, w}), "y", DataType::kFloat32, {symbolic("batch"), fixed(4)});
    return bytes_of(std::move(graph));
  };
  EXPECT_EQ(bytes(1, false), bytes(1, false));
  EXPECT_NE(bytes(1, false), bytes(2, false));
}

// A weight's numbers depend on its name and the seed only: their mean and deviation are those asked for.
TEST(Builder, RandomWeightsHaveTheMomentsAskedFor) {
  GraphBuilder graph("g", 17, 3);
  constexpr std::size_t kCount = 40'000;
  graph.random_weight("w", {kCount}, 0.5, 2.0);
  const Value x = graph.input("x", DataType::kFloat32, {fixed(1)});
  graph.output(graph.node("Relu", {x}), "y", DataType::kFloat32, {fixed(1)});
  const std::string bytes = bytes_of(std::move(graph));
  // The only run of 160,000 bytes in the file; its place is found by the length in front of it.
  const std::size_t at =
      bytes.find(std::string("\x4a\x80\xe2\x09", 4));  // raw_data, length 160000 as a varint
  ASSERT_NE(at, std::string::npos);
  std::vector<float> values(kCount);
  std::memcpy(values.data(), bytes.data() + at + 4, kCount * sizeof(float));
  double sum = 0;
  double squares = 0;
  for (const float value : values) {
    sum += static_cast<double>(value);
    squares += (static_cast<double>(value) - 2) * (static_cast<double>(value) - 2);
    EXPECT_LT(std::abs(value - 2.0F), 0.5F * 3.4642F);
  }
  // Standard errors are 0.5 / 200 and about 0.5 / 283: four of them.
  EXPECT_NEAR(sum / kCount, 2.0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kCount), 0.5, 0.0075);
}

TEST(Builder, MistakesAreErrorsOfOurs) {
  GraphBuilder twice("g", 17, 1);
  twice.input("x", DataType::kFloat32, {fixed(1)});
  twice.input("x", DataType::kFloat32, {fixed(1)});
  EXPECT_THAT(error_of(twice.build()), HasSubstr("used twice"));

  GraphBuilder misfit("g", 17, 1);
  const float values[] = {1, 2, 3};
  misfit.weight("w", {2, 2}, values);
  const Result<Model> model = misfit.build();
  EXPECT_THAT(error_of(model), HasSubstr("do not fit its shape"));
  EXPECT_EQ(model.error().kind(), ErrorKind::kInternal);

  GraphBuilder bytes("g", 17, 1);
  bytes.raw_weight("w", DataType::kInt8, {4}, "abc");
  EXPECT_THAT(error_of(bytes.build()), HasSubstr("do not fit its shape and type"));
}

TEST(Builder, NodesOfSeveralOutputsAndSharedConstants) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", DataType::kFloat32, {symbolic("batch"), fixed(6)});
  EXPECT_EQ(graph.scalar(2).name, graph.scalar(2).name);
  EXPECT_NE(graph.scalar(0.0F).name, graph.scalar(-0.0F).name);
  EXPECT_EQ(graph.list({1, 2}).name, graph.list({1, 2}).name);
  const std::vector<Value> halves =
      graph.nodes("Split", {x, graph.list({3, 3})}, 2, {integer("axis", 1)}, "split");
  graph.output(halves[0], "left", DataType::kFloat32, {symbolic("batch"), fixed(3)});
  graph.output(halves[1], "right", DataType::kFloat32, {symbolic("batch"), fixed(3)});
  const Model model = built(std::move(graph));
  EXPECT_EQ(model.info().outputs[1].describe(), "right float32 [batch, 3]");
}

}  // namespace
}  // namespace deepgap::graph
