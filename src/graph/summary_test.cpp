// Sizes here are counted by hand in the comments.
#include "graph/summary.h"

#include <gtest/gtest.h>

#include <array>

#include "graph/test_models.h"

namespace deepgap::graph {
namespace {

using ops::DataType;

TEST(Summary, CountsANetworkByHand) {
  const Result<ModelSummary> summary = analyse(built(tiny_convolution()), 2);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  ASSERT_EQ(summary->nodes.size(), 2U);
  const std::int64_t outputs = 2 * 16 * 64;
  EXPECT_EQ(summary->nodes[0].name, "conv");
  EXPECT_EQ(summary->nodes[0].op_class, ops::OpClass::kConvolution);
  EXPECT_EQ(summary->nodes[0].cost.flops, Flops{outputs * 2 * 27});
  EXPECT_EQ(summary->nodes[1].cost.flops, Flops{outputs});
  EXPECT_EQ(summary->flops, Flops{outputs * 55});
  EXPECT_EQ(summary->contraction_flops, Flops{outputs * 54});
  EXPECT_EQ(summary->parameters, 432);
  EXPECT_EQ(summary->activation_bytes, Bytes{2 * outputs * 4});
  // While the ReLU runs: the input (the caller's), its operand and its result.
  EXPECT_EQ(summary->peak_activation_bytes, Bytes{2 * 3 * 64 * 4 + 2 * outputs * 4});
  EXPECT_EQ(summary->least_memory(), Bytes{432 * 4} + *summary->peak_activation_bytes);
  // read: input, weights, the convolution's output; written: both outputs.
  EXPECT_EQ(summary->bytes, Bytes{(384 + 432 + outputs + 2 * outputs) * 4});
  EXPECT_EQ(summary->flops_by_class().at(ops::OpClass::kActivation), Flops{outputs});
}

TEST(Summary, ViewsShareTheirBufferAndKeepItAlive) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", DataType::kFloat32, {symbolic("batch"), fixed(100)});
  const Value a = graph.node("Relu", {x}, {}, "a");                                 // 400 B
  const Value view = graph.node("Reshape", {a, graph.list({0, 10, 10})}, {}, "v");  // none of its own
  const Value b = graph.node("Relu", {x}, {}, "b");                                 // 400 B, while `a` waits
  const Value c = graph.node("ReduceMean", {b}, {ints("axes", {1})}, "c");          // 4 B
  const Value d =
      graph.node("ReduceMean", {view}, {ints("axes", {1, 2}), integer("keepdims", 0)}, "d");  // 4 B
  graph.output(c, "c_out", DataType::kFloat32, {symbolic("batch"), fixed(1)});
  graph.output(d, "d_out", DataType::kFloat32, {symbolic("batch")});
  const Result<ModelSummary> summary = analyse(built(std::move(graph)), 1);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ(summary->activation_bytes, Bytes{808});
  EXPECT_EQ(summary->peak_activation_bytes, Bytes{400 + 400 + 400 + 4});  // x, a, b and c
}

TEST(Summary, ConstantsAreFoldedAndWeightsCountOnce) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", DataType::kFloat32, {symbolic("batch"), fixed(8)});
  const Value w = graph.random_weight("w", {8, 8}, 1);
  const Value turned = graph.node("Transpose", {w}, {ints("perm", {1, 0})}, "turned");
  Value y = graph.node("MatMul", {x, turned});
  y = graph.node("MatMul", {y, w});
  y = graph.node("Mul", {y, graph.scalar(0.5F)});
  graph.output(y, "y", DataType::kFloat32, {symbolic("batch"), fixed(8)});
  const Result<ModelSummary> summary = analyse(built(std::move(graph)), 1);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_TRUE(summary->nodes[0].folded);
  EXPECT_EQ(summary->nodes[0].cost.read, Bytes{0});
  EXPECT_EQ(summary->parameters, 64);
  EXPECT_EQ(summary->parameter_bytes, Bytes{64 * 4 + 4});
  EXPECT_EQ(summary->flops, Flops{2 * 128 + 8});
}

// Sizes that come from Shape through integer arithmetic into Slice, Expand and Reshape, as exporters write
// them.
TEST(Summary, ShapeArithmeticIsEvaluated) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", DataType::kFloat32, {symbolic("batch"), symbolic("seq"), fixed(6)});
  const Value table = graph.random_weight("table", {512, 6}, 1);
  const Value shape = graph.node("Shape", {x});
  const Value batch = graph.node("Gather", {shape, graph.list({0})}, {integer("axis", 0)});
  const Value seq = graph.node("Gather", {shape, graph.list({1})}, {integer("axis", 0)});
  const Value rows = graph.node("Slice", {table, graph.list({0}), seq, graph.list({0})}, {}, "rows");
  const Value sum = graph.node("Add", {x, rows}, {}, "sum");
  const Value twice = graph.node("Mul", {seq, graph.list({2})});
  const Value target = graph.node("Concat", {batch, twice, graph.list({3})}, {integer("axis", 0)});
  const Value shaped = graph.node("Reshape", {sum, target}, {}, "shaped");
  graph.output(graph.node("Relu", {shaped}, {}, "relu"), "y", DataType::kFloat32,
               {symbolic("batch"), symbolic("double"), fixed(3)});
  const Result<ModelSummary> summary = analyse(built(std::move(graph)), 2, {{"seq", 5}});
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_TRUE(summary->unknown.empty());
  EXPECT_EQ(summary->nodes.back().outputs[0].dims, (ops::Shape{2, 10, 3}));
  EXPECT_EQ(summary->outputs[0].describe(), "y float32 [2, 10, 3]");
  EXPECT_EQ(summary->flops, Flops{60 + 60});
  ASSERT_TRUE(summary->bytes);
}

TEST(Summary, OperatorsOfUnknownDomainsAreUnknown) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", DataType::kFloat32, {symbolic("batch"), fixed(4)});
  graph.output(graph.node("Relu", {x}, {}, "same"), "y", DataType::kFloat32, {symbolic("batch"), fixed(4)});
  const Value z = graph.node("NonZero", {x}, {}, "found");
  graph.output(z, "z", DataType::kInt64, {fixed(2), symbolic("count")});
  const Result<ModelSummary> summary = analyse(built(std::move(graph)), 1);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
  EXPECT_EQ(summary->flops, std::nullopt);
  EXPECT_EQ(summary->known_flops, Flops{4});
  EXPECT_EQ(summary->unknown, std::vector<std::string>{"found (NonZero)"});
  EXPECT_EQ(summary->activation_bytes, std::nullopt);
  EXPECT_EQ(summary->least_memory(), std::nullopt);
}

TEST(Summary, TheBatchMustBeOneThatTheModelTakes) {
  EXPECT_FALSE(analyse(built(tiny_convolution()), 0).ok());
  EXPECT_FALSE(analyse(built(tiny_convolution()), 1, {{"seq", 3}}).ok());
}

}  // namespace
}  // namespace deepgap::graph
