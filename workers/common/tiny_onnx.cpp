#include "tiny_onnx.h"

#include <protozero/pbf_writer.hpp>

#include "base/random.h"

namespace deepgap::workers {
namespace {

// Field numbers of onnx.proto (github.com/onnx/onnx), by message.
namespace model_field {
constexpr protozero::pbf_tag_type kIrVersion = 1, kProducerName = 2, kGraph = 7, kOpsetImport = 8;
}
namespace opset_field {
constexpr protozero::pbf_tag_type kVersion = 2;
}
namespace graph_field {
constexpr protozero::pbf_tag_type kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}
namespace node_field {
constexpr protozero::pbf_tag_type kInput = 1, kOutput = 2, kName = 3, kOpType = 4;
}
namespace tensor_field {
constexpr protozero::pbf_tag_type kDims = 1, kDataType = 2, kFloatData = 4, kName = 8;
}
namespace value_field {
constexpr protozero::pbf_tag_type kName = 1, kType = 2;
}
namespace type_field {
constexpr protozero::pbf_tag_type kTensorType = 1, kElemType = 1, kShape = 2, kDim = 1, kDimValue = 1,
                                  kDimParam = 2;
}
constexpr std::int32_t kFloat = 1;  // TensorProto.DataType

std::string value_info(const std::string& name, std::int64_t width) {
  std::string batch_dim, width_dim, shape, tensor, type, value;
  protozero::pbf_writer(batch_dim).add_string(type_field::kDimParam, "N");
  protozero::pbf_writer(width_dim).add_int64(type_field::kDimValue, width);
  protozero::pbf_writer shape_writer(shape);
  shape_writer.add_message(type_field::kDim, batch_dim);
  shape_writer.add_message(type_field::kDim, width_dim);
  protozero::pbf_writer tensor_writer(tensor);
  tensor_writer.add_int32(type_field::kElemType, kFloat);
  tensor_writer.add_message(type_field::kShape, shape);
  protozero::pbf_writer(type).add_message(type_field::kTensorType, tensor);
  protozero::pbf_writer value_writer(value);
  value_writer.add_string(value_field::kName, name);
  value_writer.add_message(value_field::kType, type);
  return value;
}

std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const auto& input : inputs) writer.add_string(node_field::kInput, input);
  writer.add_string(node_field::kOutput, output);
  writer.add_string(node_field::kName, output + "/" + op);
  writer.add_string(node_field::kOpType, op);
  return bytes;
}

}  // namespace

std::vector<float> tiny_weight() {
  Random random(1);
  std::vector<float> weight(static_cast<std::size_t>(kTinyInputs * kTinyOutputs));
  for (float& value : weight) value = static_cast<float>(random.normal());
  return weight;
}

run::TensorSpec tiny_input(std::int64_t batch) {
  return {"input", "float32", {batch, kTinyInputs}, -1, 1};
}

std::string tiny_onnx() {
  std::string weight, graph, opset, model;
  protozero::pbf_writer weight_writer(weight);
  weight_writer.add_int64(tensor_field::kDims, kTinyInputs);
  weight_writer.add_int64(tensor_field::kDims, kTinyOutputs);
  weight_writer.add_int32(tensor_field::kDataType, kFloat);
  const auto values = tiny_weight();
  weight_writer.add_packed_float(tensor_field::kFloatData, values.begin(), values.end());
  weight_writer.add_string(tensor_field::kName, "weight");

  protozero::pbf_writer graph_writer(graph);
  graph_writer.add_message(graph_field::kNode, node("MatMul", {"input", "weight"}, "product"));
  graph_writer.add_message(graph_field::kNode, node("Relu", {"product"}, "output"));
  graph_writer.add_string(graph_field::kName, "tiny");
  graph_writer.add_message(graph_field::kInitializer, weight);
  graph_writer.add_message(graph_field::kInput, value_info("input", kTinyInputs));
  graph_writer.add_message(graph_field::kOutput, value_info("output", kTinyOutputs));

  protozero::pbf_writer(opset).add_int64(opset_field::kVersion, 13);
  protozero::pbf_writer model_writer(model);
  model_writer.add_int64(model_field::kIrVersion, 8);
  model_writer.add_string(model_field::kProducerName, "deepgap");
  model_writer.add_message(model_field::kGraph, graph);
  model_writer.add_message(model_field::kOpsetImport, opset);
  return model;
}

}  // namespace deepgap::workers
