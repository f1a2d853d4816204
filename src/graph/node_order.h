// Which node of a model reads a value that is not there yet: what ONNX's checker says of it in several lines,
// as one sentence.
//
//   "node 'add' (Add) reads 'b', which only a later node makes, 'relu' (Relu)"
//   "node number 1 (Add) reads 'nowhere', which nothing makes"
#pragma once

#include <optional>
#include <string>

#include "onnx/onnx_pb.h"

namespace deepgap::graph {

// The first such node, subgraphs and local functions included; nothing where every value is made before it is
// read.
std::optional<std::string> disorder_in(const onnx::ModelProto& proto);

}  // namespace deepgap::graph
