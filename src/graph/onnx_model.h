// For the .cpp files of this module that touch protobuf, and only for them: what a Model holds, and the walk
// over all that a model may hide in subgraphs.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "graph/model.h"
#include "onnx/onnx_pb.h"

namespace deepgap::graph {

struct Model::Representation {
  onnx::ModelProto proto;
  std::string folder;                       // of external weights
  std::vector<std::string> external_files;  // relative to it, sorted
  std::vector<std::string> remarks;
};

ops::DataType data_type_of(int onnx_type);
// 0 (UNDEFINED) for types that ONNX does not have.
int onnx_type_of(ops::DataType type);

// ONNX's shape inference in place, without propagation of values. Strict: the first node whose shapes
// contradict is an error.
Result<void> infer_shapes(onnx::ModelProto& proto, bool strict);

// Calls `visit` for every tensor that holds data: initialisers and attributes, subgraphs included.
void for_each_tensor(onnx::GraphProto& graph, const std::function<void(onnx::TensorProto&)>& visit);
void for_each_tensor(onnx::ModelProto& model, const std::function<void(onnx::TensorProto&)>& visit);
// Calls `visit` for every node, subgraphs included, outer ones first.
void for_each_node(const onnx::GraphProto& graph, const std::function<void(const onnx::NodeProto&)>& visit);

// The value of an entry of external_data, or "".
std::string external_entry(const onnx::TensorProto& tensor, const std::string& key);

// A copy whose large initialisers have shapes and no data: for questions about shapes, without copying
// weights.
onnx::ModelProto copy_without_weights(const onnx::ModelProto& proto);

}  // namespace deepgap::graph
