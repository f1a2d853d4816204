#include "graph/model.h"

#include <fmt/format.h>

#include <set>

#include "base/file_system.h"
#include "base/text.h"
#include "graph/external_data.h"
#include "graph/file_kind.h"
#include "graph/graph_view.h"
#include "graph/onnx_model.h"
#include "onnx/defs/schema.h"

namespace deepgap::graph {

std::string TensorInfo::describe() const {
  std::string text = printable(name, 100) + " " + std::string(ops::name_of(dtype));
  if (!dims) return text + " of unknown shape";
  std::vector<std::string> parts;
  for (const Dim& dim : *dims) {
    parts.push_back(dim.size             ? std::to_string(*dim.size)
                    : dim.symbol.empty() ? "?"
                                         : printable(dim.symbol, 60));
  }
  return text + " [" + join(parts, ", ") + "]";
}

Model::Model(std::unique_ptr<Representation> representation) : representation_(std::move(representation)) {}
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;
Model::~Model() = default;

Model Model::clone() const {
  return Model(std::make_unique<Representation>(*representation_));
}

ModelInfo Model::info() const {
  const onnx::ModelProto& proto = representation_->proto;
  const GraphView view = view_of(*this);
  ModelInfo info;
  info.name = proto.graph().name();
  info.producer = proto.producer_name();
  if (!proto.producer_version().empty()) info.producer += " " + proto.producer_version();
  info.ir_version = proto.ir_version();
  for (const auto& import : proto.opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") {
      info.opset = import.version();
    } else {
      info.domains[import.domain()] = import.version();
    }
  }
  info.inputs = view.inputs;
  info.outputs = view.outputs;
  info.nodes = proto.graph().node_size();
  const Weights weights = count_weights(view);
  info.parameters = weights.parameters;
  info.parameter_bytes = weights.bytes;
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  std::set<std::string> custom;
  for_each_node(proto.graph(), [&](const onnx::NodeProto& node) {
    const bool standard = node.domain() == "ai.onnx" || known.contains(node.domain());
    if (!standard) custom.insert(node.domain() + "." + node.op_type());
  });
  info.custom_operators = {custom.begin(), custom.end()};
  info.external_files = representation_->external_files;
  info.remarks = representation_->remarks;
  return info;
}

Result<std::string> Model::serialise() const {
  try {
    const onnx::ModelProto* proto = &representation_->proto;
    onnx::ModelProto whole;
    if (!representation_->external_files.empty()) {
      whole = *proto;
      DEEPGAP_RETURN_IF_ERROR(load_external_data(whole, representation_->folder));
      proto = &whole;
    }
    if (const std::size_t size = proto->ByteSizeLong(); size > kMostModelBytes) {
      return bad_input(
          fmt::format("an ONNX file holds at most {} bytes (below 2 GiB) and this model takes {}: it cannot "
                      "be written as one file",
                      kMostModelBytes, size));
    }
    return proto->SerializeAsString();
  } catch (const std::exception& error) {
    return bad_input(fmt::format("cannot write the model: {}", printable(error.what())));
  }
}

Result<void> Model::save(const std::string& path) const {
  DEEPGAP_ASSIGN(const std::string bytes, serialise());
  return write_file_atomically(path, bytes);
}

}  // namespace deepgap::graph
