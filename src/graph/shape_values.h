// Small integer values that a graph computes from its shapes (Shape, Gather, Concat, ... into a Reshape or
// Slice), worked out once sizes are known: ONNX's own data propagation stops at several operators, Slice
// among them.
#pragma once

#include <string_view>

#include "graph/onnx_model.h"

namespace deepgap::graph {

// Follows the name of a node's output whose value became an initialiser of the old name.
inline constexpr std::string_view kEvaluatedSuffix = "\x01=evaluated";

// Puts every value that the known shapes determine into the graph as an initialiser; says how many were new.
int evaluate_shape_values(onnx::ModelProto& proto);

}  // namespace deepgap::graph
