#include "graph/graph_view.h"

#include <set>

namespace deepgap::graph {
namespace {

// Weights that are numbers of the model, not indices: floating ones, and the narrow integers of quantised
// models.
bool is_weight_type(ops::DataType type) {
  const std::optional<int> bits = ops::bits_of(type);
  return ops::is_floating(type) || (ops::is_integer(type) && bits && *bits <= 8);
}

void add(std::int64_t& total, std::int64_t more) {
  std::int64_t result = 0;
  if (!__builtin_add_overflow(total, more, &result)) total = result;
}

std::set<std::string> running_statistics(const GraphView& view) {
  constexpr std::size_t kMeanPlace = 3;
  std::set<std::string> names;
  for (const GraphNode& node : view.nodes) {
    if (node.op_type != "BatchNormalization") continue;
    for (std::size_t i = kMeanPlace; i < node.inputs.size(); ++i) names.insert(node.inputs[i]);
  }
  return names;
}

}  // namespace

std::optional<ops::Shape> GraphTensor::shape() const {
  if (!dims) return std::nullopt;
  ops::Shape sizes;
  for (const Dim& dim : *dims) {
    if (!dim.size) return std::nullopt;
    sizes.push_back(*dim.size);
  }
  return sizes;
}

ops::TensorShape GraphTensor::described() const {
  return {dtype, shape(), constant, true};
}

const GraphTensor* GraphView::find(const std::string& name) const {
  const auto found = tensors.find(name);
  return found != tensors.end() ? &found->second : nullptr;
}

Weights count_weights(const GraphView& view) {
  const std::set<std::string> statistics = running_statistics(view);
  Weights weights;
  for (const auto& [name, tensor] : view.tensors) {
    if (!tensor.stored) continue;
    const ops::TensorShape described = tensor.described();
    // Shapes of a hostile file may not add up in 63 bits: what does not is left out.
    if (const auto bytes = described.bytes()) add(weights.bytes.value, bytes->value);
    const std::optional<std::int64_t> elements = described.elements();
    if (!elements || *elements <= 1 || !is_weight_type(tensor.dtype) || statistics.contains(name)) continue;
    add(weights.parameters, *elements);
  }
  return weights;
}

}  // namespace deepgap::graph
