// Models whose local functions stand for more than the file holds.
#include "graph/expansion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/model.h"
#include "graph/summary.h"
#include "graph/test_models.h"

namespace deepgap::graph {
namespace {

using testing::HasSubstr;

void add_value(onnx::ValueInfoProto& value, const std::string& name) {
  value.set_name(name);
  auto* tensor = value.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  tensor->mutable_shape()->add_dim()->set_dim_value(4);
}

onnx::NodeProto& add_node(onnx::FunctionProto& to, const std::string& op, const std::string& input,
                          const std::string& output, const std::string& domain = "f") {
  onnx::NodeProto& node = *to.add_node();
  node.set_op_type(op);
  node.set_domain(domain);
  node.add_input(input);
  node.add_output(output);
  return node;
}

onnx::FunctionProto& add_function(onnx::ModelProto& model, const std::string& name) {
  onnx::FunctionProto& function = *model.add_functions();
  function.set_name(name);
  function.set_domain("f");
  function.add_input("a");
  function.add_output("b");
  for (const auto& import : model.opset_import()) *function.add_opset_import() = import;
  return function;
}

// y = F0(x), with no functions yet.
onnx::ModelProto calling_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::OperatorSetIdProto& functions = *model.add_opset_import();
  functions.set_domain("f");
  functions.set_version(1);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("g");
  add_value(*graph.add_input(), "x");
  add_value(*graph.add_output(), "y");
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("F0");
  node.set_domain("f");
  node.add_input("x");
  node.add_output("y");
  return model;
}

// F0 calls F1 `calls` times in a row, F1 calls F2 so, and F<levels> is one Relu.
onnx::ModelProto tower(int levels, int calls) {
  onnx::ModelProto model = calling_model();
  for (int level = 0; level < levels; ++level) {
    onnx::FunctionProto& function = add_function(model, "F" + std::to_string(level));
    for (int call = 0; call < calls; ++call) {
      add_node(function, "F" + std::to_string(level + 1), call == 0 ? "a" : "t" + std::to_string(call),
               call + 1 == calls ? "b" : "t" + std::to_string(call + 1));
    }
  }
  add_node(add_function(model, "F" + std::to_string(levels)), "Relu", "a", "b", "");
  return model;
}

std::string refusal(const onnx::ModelProto& model) {
  const Result<Model> read = parse_model(model.SerializeAsString(), "m.onnx");
  EXPECT_TRUE(read.ok() || read.error().kind() == ErrorKind::kBadInput);
  return error_of(read);
}

TEST(Expansion, FunctionsAreInlined) {
  // F0 twice F1, F1 twice F2, F2 a Relu: four nodes.
  const Result<Model> model = parse_model(tower(2, 2).SerializeAsString(), "m.onnx");
  ASSERT_TRUE(model.ok()) << model.error().message();
  EXPECT_EQ(model->info().nodes, 4);
}

// 30 levels of two calls: 2^30 nodes, and 2^31 - 1 calls.
TEST(Expansion, DoublingIsCountedNotDone) {
  EXPECT_THAT(refusal(tower(30, 2)), HasSubstr("at most 200000 nodes once its local functions are inlined, "
                                               "found 3221225471"));
  EXPECT_THAT(refusal(tower(150, 9)), HasSubstr("found more than 10^15"));
}

// 16 levels: 65536 Relus and 131071 calls, below the limit by 3393; a level more is above it.
TEST(Expansion, TheLimitIsBetweenSixteenAndSeventeenDoublings) {
  EXPECT_TRUE(check_expansion(tower(16, 2)).ok());
  EXPECT_THAT(error_of(check_expansion(tower(17, 2))), HasSubstr("found 393215"));
}

TEST(Expansion, CallsAreCountedWhereNothingIsInTheFunctions) {
  onnx::ModelProto model = tower(30, 2);
  model.mutable_functions()->rbegin()->clear_node();
  EXPECT_THAT(refusal(model), HasSubstr("found 2147483647"));
}

TEST(Expansion, ALongChainOfCallsIsRefused) {
  EXPECT_TRUE(parse_model(tower(100, 1).SerializeAsString(), "m.onnx").ok());
  EXPECT_THAT(refusal(tower(50'000, 1)), HasSubstr("call each other at most 200 deep"));
}

// A chain that is met first at its shallow end, then deep inside another.
TEST(Expansion, DepthAddsUpOverFunctionsThatWereSeenBefore) {
  onnx::ModelProto model = tower(150, 1);
  onnx::NodeProto& second = *model.mutable_graph()->add_node();
  second = model.graph().node(0);
  second.set_op_type("G0");
  second.set_output(0, "z");
  for (int level = 0; level < 100; ++level)
    add_node(add_function(model, "G" + std::to_string(level)),
             level == 99 ? "F0" : "G" + std::to_string(level + 1), "a", "b");
  EXPECT_THAT(refusal(model), HasSubstr("at most 200 deep"));
}

// Calls in the branches of an If, in functions and in the graph itself.
TEST(Expansion, CallsInSubgraphsCount) {
  onnx::ModelProto model = tower(30, 2);
  for (onnx::FunctionProto& function : *model.mutable_functions()) {
    if (function.name() == "F30") continue;
    onnx::NodeProto inner = function.node(0);
    function.clear_node();
    onnx::NodeProto& choice = add_node(function, "If", "a", "b", "");
    for (const char* name : {"then_branch", "else_branch"}) {
      onnx::AttributeProto& branch = *choice.add_attribute();
      branch.set_name(name);
      branch.set_type(onnx::AttributeProto::GRAPH);
      *branch.mutable_g()->add_node() = inner;
    }
  }
  EXPECT_THAT(refusal(model), HasSubstr("found 42949672"));  // 2^30 * 4 - 2 = 4294967294, in 10 digits
}

// No function is called twice, but each uses the subgraph that it is given in both branches, and hands it on.
TEST(Expansion, SubgraphsGivenToFunctionsCount) {
  onnx::ModelProto model = calling_model();
  const auto refer = [](onnx::NodeProto& node, const char* name) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::GRAPH);
    attribute.set_ref_attr_name("body");
  };
  const auto relu_graph = [](onnx::AttributeProto& attribute) {
    attribute.set_name("body");
    attribute.set_type(onnx::AttributeProto::GRAPH);
    attribute.mutable_g()->add_node()->set_op_type("Relu");
  };
  relu_graph(*model.mutable_graph()->mutable_node(0)->add_attribute());
  for (int level = 0; level < 40; ++level) {
    onnx::FunctionProto& function = add_function(model, "F" + std::to_string(level));
    function.add_attribute("body");
    onnx::NodeProto& call = add_node(function, "F" + std::to_string(level + 1), "a", "b");
    onnx::AttributeProto& given = *call.add_attribute();
    given.set_name("body");
    given.set_type(onnx::AttributeProto::GRAPH);
    onnx::NodeProto& choice = *given.mutable_g()->add_node();
    choice.set_op_type("If");
    refer(choice, "then_branch");
    refer(choice, "else_branch");
  }
  onnx::FunctionProto& last = add_function(model, "F40");
  last.add_attribute("body");
  refer(add_node(last, "If", "a", "b", ""), "then_branch");
  // 40 calls, the last call, its If, 2^40 Relus and the 2^40 - 1 Ifs above them.
  EXPECT_THAT(error_of(check_expansion(model)), HasSubstr("found 2199023255593"));
}

// 1024 copies of a constant of 4 MiB.
TEST(Expansion, WeightsInFunctionsCount) {
  onnx::ModelProto model = tower(10, 2);
  onnx::NodeProto& constant = add_node(*model.mutable_functions()->rbegin(), "Constant", "", "c", "");
  constant.clear_input();
  onnx::AttributeProto& value = *constant.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::INT8);
  value.mutable_t()->add_dims(4 << 20);
  value.mutable_t()->set_raw_data(std::string(4 << 20, '\0'));
  EXPECT_THAT(refusal(model), HasSubstr("(below 2 GiB) once its local functions are inlined"));
}

TEST(Expansion, RecursionIsLeftToTheChecker) {
  onnx::ModelProto model = calling_model();
  add_node(add_function(model, "F0"), "F0", "a", "b");
  EXPECT_THAT(refusal(model), HasSubstr("must not be recursive"));
}

// Functions of an opset that the model does not have are not inlined: shape inference goes through each call.
TEST(Expansion, FunctionsThatStayCountToo) {
  onnx::ModelProto model = tower(30, 2);
  for (onnx::FunctionProto& function : *model.mutable_functions())
    function.mutable_opset_import(0)->set_version(16);
  EXPECT_THAT(refusal(model), HasSubstr("found 3221225471"));
}

// A shape of 2^51 numbers: nothing of the kind is made while shapes are inferred.
TEST(Expansion, AShapeThatDoublesIsNotWrittenOut) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {symbolic("batch"), fixed(4)});
  Value shape = graph.node("Shape", {x});
  for (int i = 0; i < 50; ++i) shape = graph.node("Concat", {shape, shape}, {integer("axis", 0)});
  graph.output(graph.node("Add", {x, graph.node("Cast", {graph.node("Size", {shape})}, {integer("to", 1)})}),
               "y", ops::DataType::kFloat32, {symbolic("batch"), fixed(4)});
  const Model model = built(std::move(graph));
  const Result<ModelSummary> summary = analyse(model, 1);
  ASSERT_TRUE(summary.ok()) << summary.error().message();
}

// 2^40 elements in one dimension, in an operator of shapes' arithmetic.
TEST(Expansion, AnInputOfManyNumbersIsNotWrittenOut) {
  GraphBuilder graph("g", 17, 1);
  const std::vector<Dim> dims = {fixed(std::int64_t{1} << 40)};
  const Value x = graph.input("x", ops::DataType::kInt64, dims);
  graph.output(graph.node("Add", {x, x}), "y", ops::DataType::kInt64, dims);
  const Model model = built(std::move(graph));
  EXPECT_EQ(model.info().outputs[0].describe(), "y int64 [1099511627776]");
}

// Each Gather has itself as its indices: 2^n + 1 dimensions after n of them.
TEST(Expansion, DimensionsThatDoubleAreCountedNotMade) {
  const auto gathers = [](int count) {
    GraphBuilder graph("g", 17, 1);
    Value x = graph.input("x", ops::DataType::kInt64, {fixed(2), fixed(2)});
    for (int i = 0; i < count; ++i) x = graph.node("Gather", {x, x});
    graph.output(graph.node("Shape", {x}), "y", ops::DataType::kInt64, {symbolic("rank")});
    return graph.build();
  };
  EXPECT_TRUE(gathers(10).ok());
  EXPECT_THAT(error_of(gathers(30)), HasSubstr("expected tensors of few dimensions"));
}

// The n-th of a chain of branches sees the input and n - 1 outputs: n (n + 1) / 2 names in n of them.
TEST(Expansion, NamesSeenByBranchesAreCounted) {
  const auto chain = [](int count) {
    onnx::ModelProto model;
    onnx::GraphProto& graph = *model.mutable_graph();
    add_value(*graph.add_input(), "x");
    for (int i = 0; i < count; ++i) {
      onnx::NodeProto& node = *graph.add_node();
      node.set_op_type("If");
      node.add_output("y" + std::to_string(i));
      node.add_attribute()->mutable_g();
    }
    return model;
  };
  EXPECT_TRUE(check_inference(chain(9'999)).ok());  // 49,995,000
  EXPECT_THAT(
      error_of(check_inference(chain(10'000))),
      HasSubstr("see at most 50000000 values of the graph around them, all together, found 50005000"));
}

// As exports of transformers do it, a thousand times over: each shape is cut out of the one before.
TEST(Expansion, DimensionsOfOrdinaryShapeArithmeticDoNotAddUp) {
  GraphBuilder graph("g", 17, 1);
  Value x = graph.input("x", ops::DataType::kFloat32, {symbolic("batch"), fixed(4), fixed(8)});
  for (int i = 0; i < 1000; ++i) {
    const Value first = graph.node("Gather", {graph.node("Shape", {x}), graph.list({0})});
    const Value shape = graph.node("Concat", {first, graph.list({4}), graph.list({8})}, {integer("axis", 0)});
    x = graph.node("Reshape", {x, shape});
    x = graph.node("Squeeze", {graph.node("Unsqueeze", {x, graph.list({1})}), graph.list({1})});
  }
  graph.output(x, "y", ops::DataType::kFloat32, {symbolic("batch"), fixed(4), fixed(8)});
  const Result<Model> model = graph.build();
  EXPECT_TRUE(model.ok()) << error_of(model);
}

// 100,000 times a vector of 1024: the evaluation of shapes stops at its limit.
TEST(Expansion, AConcatenationOfManyVectorsIsNotWrittenOut) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {symbolic("batch"), fixed(4)});
  const std::vector<std::int64_t> numbers(1024, 1);
  const Value part = graph.integers("part", {1024}, numbers);
  const Value all = graph.node("Concat", std::vector<Value>(100'000, part), {integer("axis", 0)});
  graph.output(graph.node("Add", {x, graph.node("Cast", {graph.node("Size", {all})}, {integer("to", 1)})}),
               "y", ops::DataType::kFloat32, {symbolic("batch"), fixed(4)});
  const Model model = built(std::move(graph));
  EXPECT_TRUE(analyse(model, 1).ok());
}

}  // namespace
}  // namespace deepgap::graph
