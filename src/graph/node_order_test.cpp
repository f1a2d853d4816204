#include "graph/node_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/test_models.h"

namespace deepgap::graph {
namespace {

using testing::HasSubstr;

void add_node(onnx::GraphProto& graph, const std::string& op_type, const std::vector<std::string>& inputs,
              const std::string& output, const std::string& name = "") {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op_type);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
}

// x float32 [4] to y, without nodes.
onnx::ModelProto empty_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  model.mutable_graph()->set_name("g");
  for (const bool is_input : {true, false}) {
    onnx::ValueInfoProto& value =
        is_input ? *model.mutable_graph()->add_input() : *model.mutable_graph()->add_output();
    value.set_name(is_input ? "x" : "y");
    value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(4);
  }
  return model;
}

std::string refusal(const onnx::ModelProto& model) {
  return error_of(parse_model(model.SerializeAsString(), "m.onnx"));
}

TEST(NodeOrder, ALaterNodeIsNamed) {
  onnx::ModelProto model = empty_model();
  add_node(*model.mutable_graph(), "Relu", {"b"}, "y", "last");
  add_node(*model.mutable_graph(), "Relu", {"x"}, "b");
  EXPECT_EQ(
      refusal(model),
      "'m.onnx': expected an ONNX model whose nodes stand behind those whose values they read, found that "
      "node 'last' (Relu) reads 'b', which only a later node makes, number 2 (Relu): export it again");
}

TEST(NodeOrder, ACycleIsOneOfThese) {
  onnx::ModelProto model = empty_model();
  add_node(*model.mutable_graph(), "Add", {"x", "b"}, "a");
  add_node(*model.mutable_graph(), "Relu", {"a"}, "b", "back");
  add_node(*model.mutable_graph(), "Relu", {"b"}, "y");
  EXPECT_THAT(refusal(model),
              HasSubstr("node number 1 (Add) reads 'b', which only a later node makes, 'back' (Relu)"));
}

TEST(NodeOrder, ANodeThatReadsItself) {
  onnx::ModelProto model = empty_model();
  add_node(*model.mutable_graph(), "Add", {"x", "y"}, "y", "loop");
  EXPECT_THAT(refusal(model), HasSubstr("node 'loop' (Add) reads 'y', which it makes itself"));
}

TEST(NodeOrder, AValueThatNothingMakes) {
  onnx::ModelProto model = empty_model();
  add_node(*model.mutable_graph(), "Add", {"x", "no\x1bwhere"}, "y", "sum\n");
  EXPECT_THAT(refusal(model), HasSubstr("node 'sum\\x0a' (Add) reads 'no\\x1bwhere', which nothing makes"));
}

TEST(NodeOrder, InABranch) {
  onnx::ModelProto model = empty_model();
  onnx::NodeProto& choice = *model.mutable_graph()->add_node();
  choice.set_op_type("If");
  choice.add_input("x");
  choice.add_output("y");
  onnx::AttributeProto& branch = *choice.add_attribute();
  branch.set_name("then_branch");
  branch.set_type(onnx::AttributeProto::GRAPH);
  add_node(*branch.mutable_g(), "Relu", {"x"}, "outer_value_is_known");
  EXPECT_EQ(disorder_in(model), std::nullopt);
  add_node(*branch.mutable_g(), "Relu", {"inner"}, "z", "deep");
  EXPECT_EQ(disorder_in(model), "node 'deep' (Relu) reads 'inner', which nothing makes");
}

TEST(NodeOrder, InAFunction) {
  onnx::ModelProto model = empty_model();
  add_node(*model.mutable_graph(), "Relu", {"x"}, "y");
  onnx::FunctionProto& function = *model.add_functions();
  function.add_input("a");
  onnx::NodeProto& node = *function.add_node();
  node.set_op_type("Add");
  node.add_input("a");
  EXPECT_EQ(disorder_in(model), std::nullopt);
  node.add_input("x");  // the graph's values are not the function's
  EXPECT_EQ(disorder_in(model), "node number 1 (Add) reads 'x', which nothing makes");
}

TEST(NodeOrder, TheCheckersFullStopIsNotInOurSentence) {
  onnx::ModelProto model = empty_model();
  add_node(*model.mutable_graph(), "Relu", {"x"}, "y");
  add_node(*model.mutable_graph(), "Tanh", {"x"}, "y");
  EXPECT_THAT(refusal(model), HasSubstr("'y' has been used as output names multiple times; export it again"));
}

// What the checker says of a node's inside comes without the node: it is added.
TEST(NodeOrder, TheNodeOfOtherFaultsIsNamed) {
  onnx::ModelProto model = empty_model();
  add_node(*model.mutable_graph(), "Relu", {"x"}, "y", "act");
  onnx::AttributeProto& attribute = *model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("slope");
  attribute.set_type(onnx::AttributeProto::FLOAT);
  attribute.set_f(1);
  EXPECT_THAT(refusal(model), HasSubstr("slope"));
  EXPECT_THAT(refusal(model), HasSubstr("(node 'act'); export it again"));
}

}  // namespace
}  // namespace deepgap::graph
