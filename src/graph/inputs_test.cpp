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

// y = Identity(x): the error of asking for its inputs, which must be the file's fault.
std::string fault_of(DataType dtype, const std::vector<Dim>& dims, const Dims& sizes = {},
                     ErrorKind kind = ErrorKind::kBadInput) {
  GraphBuilder graph("g", 21, 1);
  graph.output(graph.node("Identity", {graph.input("x", dtype, dims)}), "y", dtype, dims);
  const Result<std::vector<InputSpec>> specs = input_specs(built(std::move(graph)), sizes, 1);
  EXPECT_TRUE(specs.ok() || specs.error().kind() == kind) << specs.error().message();
  return error_of(specs);
}

TEST(Inputs, WhatCannotBeMadeIsTheFilesFault) {
  for (const DataType dtype : {DataType::kString, DataType::kComplex64, DataType::kUnknown})
    EXPECT_THAT(fault_of(dtype, {symbolic("batch"), fixed(8)}), HasSubstr("which deepgap cannot make"));
}

TEST(Inputs, AnInputWithoutElementsIsRefused) {
  const std::vector<Dim> later = {symbolic("batch"), fixed(0)};
  EXPECT_THAT(fault_of(DataType::kFloat32, later),
              HasSubstr("found 'x float32 [batch, 0]', one of whose dimensions is 0"));
  EXPECT_THAT(fault_of(DataType::kFloat32, {fixed(0), fixed(8)}), HasSubstr("one of whose dimensions is 0"));
}

TEST(Inputs, AModelWithoutOutputsIsRefused) {
  GraphBuilder graph("g", 17, 1);
  graph.node("Relu", {graph.input("x", DataType::kFloat32, {symbolic("batch")})});
  const Result<std::vector<InputSpec>> specs = input_specs(built(std::move(graph)), {}, 1);
  EXPECT_THAT(error_of(specs), HasSubstr("expected a model with an output"));
  EXPECT_EQ(specs.error().kind(), ErrorKind::kBadInput);
}

// 2^62 float32 numbers by the file alone: its fault. By a size that was given: the user's.
TEST(Inputs, WhoseFaultATooLargeInputIs) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_THAT(fault_of(DataType::kFloat32, {symbolic("batch"), fixed(kHuge)}),
              HasSubstr("no machine can address"));
  EXPECT_THAT(
      fault_of(DataType::kFloat32, {symbolic("batch"), fixed(1 << 20), fixed(1 << 20), fixed(1 << 21)}),
      HasSubstr("no machine can address"));
  EXPECT_THAT(
      fault_of(DataType::kFloat32, {symbolic("batch"), symbolic("seq")}, {{"seq", kHuge}}, ErrorKind::kUsage),
      HasSubstr("smaller --dim sizes"));
  EXPECT_THAT(fault_of(DataType::kFloat32, {symbolic("batch"), symbolic("seq"), fixed(kHuge)}, {{"seq", 1}}),
              HasSubstr("export the model with smaller ones"));
}

// Concatenations of a vector of 8 with itself: 2^(3 + n) elements, of which bytes_of() takes less than 2^56.
TEST(Inputs, ATensorBeyondTheAddressSpaceOnTheWayIsRefused) {
  const auto fault = [](int doublings) {
    GraphBuilder graph("g", 17, 1);
    Value x = graph.input("x", DataType::kFloat32, {symbolic("batch"), fixed(8)});
    for (int i = 0; i < doublings; ++i) x = graph.node("Concat", {x, x}, {integer("axis", 1)});
    graph.output(graph.node("Identity", {x}), "y", DataType::kFloat32, {symbolic("batch"), symbolic("wide")});
    return input_specs(built(std::move(graph)), {}, 1);
  };
  EXPECT_TRUE(fault(52).ok()) << error_of(fault(52));
  EXPECT_THAT(error_of(fault(53)), HasSubstr("whose size no machine can address"));
  EXPECT_EQ(fault(53).error().kind(), ErrorKind::kBadInput);
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
