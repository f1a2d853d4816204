// How the sizes that a user gave meet the inputs of a model: inside this module.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/dims.h"
#include "graph/graph_view.h"

namespace deepgap::graph {

struct DimsPlan {
  std::vector<std::vector<Dim>> inputs;         // one entry an input
  std::map<std::string, std::int64_t> symbols;  // sizes for the rest of the graph
};

// Errors as bind_dimensions.
Result<DimsPlan> plan_dims(const std::vector<TensorInfo>& inputs, const Dims& dims,
                           std::optional<std::int64_t> batch);
// Whether every open dimension besides the batch has a size, and no other has one.
Result<void> check_dims(const Model& model, const Dims& dims);
// The model's graph with all dimensions bound, without weights.
Result<GraphView> bound_view(const Model& model, const Dims& dims, std::int64_t batch);

}  // namespace deepgap::graph
