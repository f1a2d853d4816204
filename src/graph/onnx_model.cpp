#include "graph/onnx_model.h"

#include <algorithm>

#include "base/text.h"
#include "graph/graph_view.h"
#include "graph/shape_values.h"
#include "onnx/shape_inference/implementation.h"

namespace deepgap::graph {
namespace {

using ops::DataType;

struct TypePair {
  int onnx_type;
  DataType type;
};

constexpr TypePair kTypePairs[] = {
    {onnx::TensorProto::FLOAT, DataType::kFloat32},
    {onnx::TensorProto::DOUBLE, DataType::kFloat64},
    {onnx::TensorProto::FLOAT16, DataType::kFloat16},
    {onnx::TensorProto::BFLOAT16, DataType::kBFloat16},
    {onnx::TensorProto::FLOAT8E4M3FN, DataType::kFloat8E4M3},
    {onnx::TensorProto::FLOAT8E4M3FNUZ, DataType::kFloat8E4M3},
    {onnx::TensorProto::FLOAT8E5M2, DataType::kFloat8E5M2},
    {onnx::TensorProto::FLOAT8E5M2FNUZ, DataType::kFloat8E5M2},
    {onnx::TensorProto::FLOAT4E2M1, DataType::kFloat4},
    {onnx::TensorProto::INT64, DataType::kInt64},
    {onnx::TensorProto::INT32, DataType::kInt32},
    {onnx::TensorProto::INT16, DataType::kInt16},
    {onnx::TensorProto::INT8, DataType::kInt8},
    {onnx::TensorProto::INT4, DataType::kInt4},
    {onnx::TensorProto::INT2, DataType::kInt2},
    {onnx::TensorProto::UINT64, DataType::kUInt64},
    {onnx::TensorProto::UINT32, DataType::kUInt32},
    {onnx::TensorProto::UINT16, DataType::kUInt16},
    {onnx::TensorProto::UINT8, DataType::kUInt8},
    {onnx::TensorProto::UINT4, DataType::kUInt4},
    {onnx::TensorProto::UINT2, DataType::kUInt2},
    {onnx::TensorProto::BOOL, DataType::kBool},
    {onnx::TensorProto::COMPLEX64, DataType::kComplex64},
    {onnx::TensorProto::COMPLEX128, DataType::kComplex128},
    {onnx::TensorProto::STRING, DataType::kString},
};

// Weights below this stay in copies: they may be shapes, axes and scales that inference reads.
constexpr std::size_t kSmallTensorBytes = 4096;

std::optional<std::vector<Dim>> dims_of(const onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  std::vector<Dim> dims;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    // A negative size is what some exporters write for "dynamic".
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      dims.push_back(fixed(dim.dim_value()));
    } else {
      dims.push_back(symbolic(dim.has_dim_param() ? dim.dim_param() : ""));
    }
  }
  return dims;
}

TensorInfo info_of(const onnx::ValueInfoProto& value) {
  TensorInfo info;
  info.name = value.name();
  if (value.type().has_tensor_type()) info.dtype = data_type_of(value.type().tensor_type().elem_type());
  info.dims = dims_of(value.type());
  return info;
}

std::vector<Dim> dims_of(const onnx::TensorProto& tensor) {
  std::vector<Dim> dims;
  for (const std::int64_t dim : tensor.dims()) dims.push_back(fixed(dim));
  return dims;
}

void add_attribute(GraphNode& node, const onnx::AttributeProto& attribute) {
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      node.integers[attribute.name()] = {attribute.i()};
      break;
    case onnx::AttributeProto::INTS:
      node.integers[attribute.name()] = {attribute.ints().begin(), attribute.ints().end()};
      break;
    case onnx::AttributeProto::FLOAT:
      node.numbers[attribute.name()] = static_cast<double>(attribute.f());
      break;
    case onnx::AttributeProto::STRING:
      node.texts[attribute.name()] = attribute.s();
      break;
    default:
      break;
  }
}

// Names that a subgraph reads and does not make: they come from outside.
void collect_captured(const onnx::GraphProto& graph, std::set<std::string> made,
                      std::set<std::string>& captured) {
  for (const auto& input : graph.input()) made.insert(input.name());
  for (const auto& initializer : graph.initializer()) made.insert(initializer.name());
  for (const auto& node : graph.node()) {
    for (const std::string& input : node.input()) {
      if (!input.empty() && !made.contains(input)) captured.insert(input);
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) collect_captured(attribute.g(), made, captured);
      for (const auto& inner : attribute.graphs()) collect_captured(inner, made, captured);
    }
    for (const std::string& output : node.output()) made.insert(output);
  }
  for (const auto& output : graph.output()) {
    if (!made.contains(output.name())) captured.insert(output.name());
  }
}

void visit_attribute_tensors(onnx::NodeProto& node, const std::function<void(onnx::TensorProto&)>& visit) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_t()) visit(*attribute.mutable_t());
    for (auto& tensor : *attribute.mutable_tensors()) visit(tensor);
    if (attribute.has_g()) for_each_tensor(*attribute.mutable_g(), visit);
    for (auto& inner : *attribute.mutable_graphs()) for_each_tensor(inner, visit);
  }
}

bool makes_weights(const std::string& op_type) {
  return op_type == "Constant" || op_type == "ConstantOfShape";
}

bool is_random(const std::string& op_type) {
  return op_type.starts_with("Random") || op_type == "Bernoulli" || op_type == "Multinomial";
}

GraphView view_of_proto(const onnx::ModelProto& proto) {
  const onnx::GraphProto& graph = proto.graph();
  GraphView view;
  for (const auto* list : {&graph.value_info(), &graph.output(), &graph.input()}) {
    for (const auto& value : *list) {
      TensorInfo info = info_of(value);
      view.tensors[value.name()] = {info.dtype, std::move(info.dims), false, false};
    }
  }
  for (const auto& tensor : graph.initializer()) {
    view.tensors[tensor.name()] = {data_type_of(tensor.data_type()), dims_of(tensor), true, true};
  }
  for (const auto& sparse : graph.sparse_initializer()) {
    std::vector<Dim> dims;
    for (const std::int64_t dim : sparse.dims()) dims.push_back(fixed(dim));
    view.tensors[sparse.values().name()] = {data_type_of(sparse.values().data_type()), std::move(dims), true,
                                            true};
  }
  for (const auto& input : graph.input()) {
    if (!view.tensors[input.name()].constant) view.inputs.push_back(info_of(input));
  }
  for (const auto& output : graph.output()) view.outputs.push_back(info_of(output));

  std::map<std::string, int> names;
  int number = 0;
  for (const auto& node : graph.node()) {
    GraphNode& added = view.nodes.emplace_back();
    ++number;
    added.op_type = node.op_type();
    added.domain = node.domain() == "ai.onnx" ? "" : node.domain();
    added.name = node.name().empty() ? added.op_type + "_" + std::to_string(number) : node.name();
    if (const int times = ++names[added.name]; times > 1) added.name += "#" + std::to_string(times);
    added.inputs = {node.input().begin(), node.input().end()};
    added.outputs = {node.output().begin(), node.output().end()};
    if (node.output_size() == 1 && node.output(0).ends_with(kEvaluatedSuffix)) {
      std::string& output = added.outputs.front();
      output.resize(output.size() - kEvaluatedSuffix.size());
      view.tensors[output].stored = false;
      added.folded = true;
      continue;
    }
    std::set<std::string> captured;
    for (const auto& attribute : node.attribute()) {
      add_attribute(added, attribute);
      if (attribute.has_g()) collect_captured(attribute.g(), {}, captured);
      for (const auto& inner : attribute.graphs()) collect_captured(inner, {}, captured);
    }
    added.captured = {captured.begin(), captured.end()};

    const auto is_constant = [&](const std::string& name) {
      const auto found = view.tensors.find(name);
      return name.empty() || (found != view.tensors.end() && found->second.constant);
    };
    added.folded = !is_random(added.op_type) &&
                   std::all_of(added.inputs.begin(), added.inputs.end(), is_constant) &&
                   std::all_of(captured.begin(), captured.end(), is_constant);
    for (const std::string& output : added.outputs) {
      if (output.empty()) continue;
      GraphTensor& tensor = view.tensors[output];
      tensor.constant = added.folded;
      tensor.stored = added.folded && makes_weights(added.op_type);
    }
  }
  return view;
}

// Sizes for symbols in a type's dimensions; symbols that are on no input any more are dropped, since
// inference would keep them in place of the sizes that it now knows.
void set_symbols(onnx::TypeProto* type, const std::map<std::string, std::int64_t>& symbols,
                 const std::set<std::string>& kept) {
  if (!type->has_tensor_type() || !type->tensor_type().has_shape()) return;
  for (auto& dim : *type->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (!dim.has_dim_param() || kept.contains(dim.dim_param())) continue;
    const auto found = symbols.find(dim.dim_param());
    if (found != symbols.end()) {
      dim.set_dim_value(found->second);
    } else {
      dim.clear_dim_param();
    }
  }
}

// Inference keeps symbols that it made up before in place of sizes: they go. Of a model with every input
// bound all symbols are such.
void forget_open_shapes(onnx::ModelProto& proto) {
  for (auto& value : *proto.mutable_graph()->mutable_value_info()) set_symbols(value.mutable_type(), {}, {});
  for (auto& output : *proto.mutable_graph()->mutable_output()) set_symbols(output.mutable_type(), {}, {});
}

Result<void> bind(onnx::ModelProto& proto, const std::vector<std::vector<Dim>>& dims,
                  const std::map<std::string, std::int64_t>& symbols, bool strict) {
  onnx::GraphProto& graph = *proto.mutable_graph();
  std::set<std::string> initialised;
  for (const auto& tensor : graph.initializer()) initialised.insert(tensor.name());
  std::set<std::string> kept;
  std::size_t next = 0;
  for (auto& input : *graph.mutable_input()) {
    if (initialised.contains(input.name())) continue;
    if (next >= dims.size()) return internal_error("binding dimensions: fewer shapes than inputs");
    const std::vector<Dim>& wanted = dims[next++];
    if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) continue;
    auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->clear_dim();
    for (const Dim& dim : wanted) {
      auto* added = shape->add_dim();
      if (!dim.size) kept.insert(dim.symbol);
      if (dim.size) {
        added->set_dim_value(*dim.size);
      } else if (!dim.symbol.empty()) {
        added->set_dim_param(dim.symbol);
      }
    }
  }
  for (auto& value : *graph.mutable_value_info()) set_symbols(value.mutable_type(), symbols, kept);
  for (auto& output : *graph.mutable_output()) set_symbols(output.mutable_type(), symbols, kept);
  return infer_shapes(proto, strict);
}

std::string sizes_in_words(const std::map<std::string, std::int64_t>& symbols) {
  std::vector<std::string> parts;
  for (const auto& [name, size] : symbols) parts.push_back(printable(name, 60) + "=" + std::to_string(size));
  return join(parts, ", ");
}

Result<void> bind_or_explain(const Model& model, onnx::ModelProto& proto,
                             const std::vector<std::vector<Dim>>& dims,
                             const std::map<std::string, std::int64_t>& symbols) {
  // A model that contradicts itself as it stands is not to be blamed on the sizes.
  const bool strict = model.representation().remarks.empty();
  if (const Result<void> bound = bind(proto, dims, symbols, strict); !bound) {
    return usage_error("the model does not take the sizes " + sizes_in_words(symbols) + ": " +
                       bound.error().message() + "; give sizes that it was exported for");
  }
  return {};
}

}  // namespace

DataType data_type_of(int onnx_type) {
  for (const TypePair& pair : kTypePairs) {
    if (pair.onnx_type == onnx_type) return pair.type;
  }
  return DataType::kUnknown;
}

int onnx_type_of(DataType type) {
  for (const TypePair& pair : kTypePairs) {
    if (pair.type == type) return pair.onnx_type;
  }
  return onnx::TensorProto::UNDEFINED;
}

Result<void> infer_shapes(onnx::ModelProto& proto, bool strict) {
  try {
    // Propagation of values keeps an entry for each element of every vector, known or not: of one that
    // doubles in each node, or of an input of 2^40 numbers, too. evaluate_shape_values() does that part
    // within limits.
    const onnx::ShapeInferenceOptions options(/*check_type=*/strict, strict ? 1 : 0, /*data_prop=*/false);
    onnx::shape_inference::InferShapes(proto, onnx::OpSchemaRegistry::Instance(), options);
    return {};
  } catch (const std::bad_alloc&) {
    return bad_input("shape inference ran out of memory");
  } catch (const std::exception& error) {
    return bad_input(printable(trim(error.what())));
  }
}

void for_each_tensor(onnx::GraphProto& graph, const std::function<void(onnx::TensorProto&)>& visit) {
  for (auto& tensor : *graph.mutable_initializer()) visit(tensor);
  for (auto& sparse : *graph.mutable_sparse_initializer()) {
    visit(*sparse.mutable_values());
    visit(*sparse.mutable_indices());
  }
  for (auto& node : *graph.mutable_node()) visit_attribute_tensors(node, visit);
}

void for_each_tensor(onnx::ModelProto& model, const std::function<void(onnx::TensorProto&)>& visit) {
  for_each_tensor(*model.mutable_graph(), visit);
  for (auto& function : *model.mutable_functions()) {
    for (auto& node : *function.mutable_node()) visit_attribute_tensors(node, visit);
  }
}

void for_each_node(const onnx::GraphProto& graph, const std::function<void(const onnx::NodeProto&)>& visit) {
  for (const auto& node : graph.node()) {
    visit(node);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) for_each_node(attribute.g(), visit);
      for (const auto& inner : attribute.graphs()) for_each_node(inner, visit);
    }
  }
}

std::string external_entry(const onnx::TensorProto& tensor, const std::string& key) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return "";
}

onnx::ModelProto copy_without_weights(const onnx::ModelProto& proto) {
  onnx::ModelProto copy;
  copy.set_ir_version(proto.ir_version());
  *copy.mutable_opset_import() = proto.opset_import();
  *copy.mutable_functions() = proto.functions();
  const onnx::GraphProto& from = proto.graph();
  onnx::GraphProto& to = *copy.mutable_graph();
  to.set_name(from.name());
  *to.mutable_node() = from.node();
  *to.mutable_input() = from.input();
  *to.mutable_output() = from.output();
  *to.mutable_value_info() = from.value_info();
  *to.mutable_sparse_initializer() = from.sparse_initializer();
  for (const auto& tensor : from.initializer()) {
    onnx::TensorProto& added = *to.add_initializer();
    if (tensor.ByteSizeLong() <= kSmallTensorBytes) {
      added = tensor;
      continue;
    }
    added.set_name(tensor.name());
    added.set_data_type(tensor.data_type());
    *added.mutable_dims() = tensor.dims();
  }
  return copy;
}

GraphView view_of(const Model& model) {
  return view_of_proto(model.representation().proto);
}

Result<GraphView> view_with_dims(const Model& model, const std::vector<std::vector<Dim>>& dims,
                                 const std::map<std::string, std::int64_t>& symbols) {
  onnx::ModelProto copy = copy_without_weights(model.representation().proto);
  DEEPGAP_RETURN_IF_ERROR(bind_or_explain(model, copy, dims, symbols));
  // Each round lets inference get further, which may settle more values.
  constexpr int kMostRounds = 16;
  for (int round = 0; round < kMostRounds && evaluate_shape_values(copy) > 0; ++round) {
    forget_open_shapes(copy);
    if (!infer_shapes(copy, /*strict=*/false)) break;
  }
  return view_of_proto(copy);
}

Result<Model> model_with_dims(const Model& model, const std::vector<std::vector<Dim>>& dims,
                              const std::map<std::string, std::int64_t>& symbols) {
  Model copy = model.clone();
  DEEPGAP_RETURN_IF_ERROR(bind_or_explain(model, copy.representation().proto, dims, symbols));
  return copy;
}

}  // namespace deepgap::graph
