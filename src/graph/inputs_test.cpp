#include "graph/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/test_models.h"

namespace deepgap::graph {
namespace {

using ops::DataType;
using testing::HasSubstr;

TEST(Inputs, AnImageIsNormal) {
  const Result<std::vector<InputSpec>> specs = input_specs(built(tiny_convolution()), {}, 8);
  ASSERT_TRUE(specs.ok()) << specs.error().message();
  ASSERT_EQ(specs->size(), 1U);
  EXPECT_EQ(specs->front().shape, (std::vector<std::int64_t>{8, 3, 8, 8}));
  EXPECT_EQ(specs->front().kind, InputKind::kNormal);
  EXPECT_EQ(specs->front().bytes(), Bytes{8 * 3 * 64 * 4});
}

TEST(Inputs, IndicesStayInTheSmallestTableThatTheyIndex) {
  GraphBuilder graph("g", 17, 1);
  const Value ids = graph.input("ids", DataType::kInt64, {symbolic("batch"), fixed(6)});
  const Value large = graph.random_weight("large", {100, 4}, 1);
  const Value small = graph.random_weight("small", {4, 30}, 1);
  const Value flat = graph.node("Reshape", {ids, graph.list({-1})});
  const Value narrow = graph.node("Cast", {flat}, {integer("to", 6)});  // int32
  const Value a = graph.node("Gather", {large, ids}, {integer("axis", 0)});
  const Value b = graph.node("Gather", {small, narrow}, {integer("axis", -1)});
  graph.output(a, "a", DataType::kFloat32, {symbolic("batch"), fixed(6), fixed(4)});
  graph.output(b, "b", DataType::kFloat32, {fixed(4), symbolic("")});
  const Result<std::vector<InputSpec>> specs = input_specs(built(std::move(graph)), {}, 2);
  ASSERT_TRUE(specs.ok()) << specs.error().message();
  EXPECT_EQ(specs->front().kind, InputKind::kIntegers);
  EXPECT_EQ(specs->front().lower, 0);
  EXPECT_EQ(specs->front().upper, 29);
}

TEST(Inputs, MasksFlagsPixelsAndGrids) {
  GraphBuilder graph("g", 17, 1);
  const std::vector<Dim> dims = {symbolic("batch"), fixed(2)};
  const auto pass = [&](const char* name, DataType dtype) {
    const Value x = graph.input(name, dtype, dims);
    graph.output(graph.node("Identity", {x}), std::string(name) + "_out", dtype, dims);
  };
  pass("attention_mask", DataType::kInt64);
  pass("flags", DataType::kInt64);
  pass("pixels", DataType::kUInt8);
  pass("choice", DataType::kBool);
  const Value image =
      graph.input("image", DataType::kFloat32, {symbolic("batch"), fixed(1), fixed(4), fixed(4)});
  const Value grid =
      graph.input("grid", DataType::kFloat32, {symbolic("batch"), fixed(3), fixed(3), fixed(2)});
  graph.output(graph.node("GridSample", {image, grid}), "sampled", DataType::kFloat32,
               {symbolic("batch"), fixed(1), fixed(3), fixed(3)});
  const Result<std::vector<InputSpec>> specs = input_specs(built(std::move(graph)), {}, 1);
  ASSERT_TRUE(specs.ok()) << specs.error().message();
  const auto spec = [&](std::size_t i) {
    const InputSpec& s = (*specs)[i];
    return std::string(name_of(s.kind)) + " " + std::to_string(static_cast<int>(s.lower)) + " " +
           std::to_string(static_cast<int>(s.upper));
  };
  EXPECT_EQ(spec(0), "ones 0 1");
  EXPECT_EQ(spec(1), "integers 0 1");
  EXPECT_EQ(spec(2), "integers 0 255");
  EXPECT_EQ(spec(3), "bits 0 1");
  EXPECT_EQ(spec(4), "normal 0 1");
  EXPECT_EQ(spec(5), "uniform -1 1");
}

TEST(Inputs, TextCannotBeMade) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("words", DataType::kString, {symbolic("batch")});
  graph.output(graph.node("Identity", {x}), "y", DataType::kString, {symbolic("batch")});
  EXPECT_THAT(error_of(input_specs(built(std::move(graph)), {}, 1)), HasSubstr("'words'"));
}

TEST(Inputs, ABatchBeyondTheAddressSpaceIsRefused) {
  const Model model = built(tiny_convolution());
  EXPECT_FALSE(input_specs(model, {}, std::int64_t{1} << 60).ok());
}

TEST(Inputs, KindNamesComeBack) {
  for (const char* name : {"normal", "uniform", "integers", "bits", "ones"}) {
    ASSERT_TRUE(parse_input_kind(name));
    EXPECT_EQ(name_of(*parse_input_kind(name)), name);
  }
  EXPECT_EQ(parse_input_kind("zeros"), std::nullopt);
}

}  // namespace
}  // namespace deepgap::graph
