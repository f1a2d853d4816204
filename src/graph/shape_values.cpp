#include "graph/shape_values.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

namespace deepgap::graph {
namespace {

constexpr std::size_t kMostElements = 1024;

// A scalar or a vector of integers.
struct Ints {
  std::vector<std::int64_t> values;
  bool scalar = false;
};
using Answer = std::optional<Ints>;
using Shapes = std::unordered_map<std::string, std::vector<std::int64_t>>;

Answer as_ints(const onnx::TensorProto& tensor) {
  if (tensor.dims_size() > 1 || tensor.data_location() == onnx::TensorProto::EXTERNAL) return {};
  if (tensor.dims_size() == 1 && (tensor.dims(0) < 0 || tensor.dims(0) > static_cast<int>(kMostElements)))
    return {};
  const std::size_t count = tensor.dims_size() == 0 ? 1 : static_cast<std::size_t>(tensor.dims(0));
  Ints ints{{}, tensor.dims_size() == 0};
  const std::string& raw = tensor.raw_data();
  for (std::size_t i = 0; i < count; ++i) {
    const int place = static_cast<int>(i);
    if (tensor.data_type() == onnx::TensorProto::INT64) {
      std::int64_t value = 0;
      if (raw.size() >= (i + 1) * sizeof value) {
        std::memcpy(&value, raw.data() + i * sizeof value, sizeof value);
      } else if (place < tensor.int64_data_size()) {
        value = tensor.int64_data(place);
      } else {
        return {};
      }
      ints.values.push_back(value);
    } else if (tensor.data_type() == onnx::TensorProto::INT32) {
      std::int32_t value = 0;
      if (raw.size() >= (i + 1) * sizeof value) {
        std::memcpy(&value, raw.data() + i * sizeof value, sizeof value);
      } else if (place < tensor.int32_data_size()) {
        value = tensor.int32_data(place);
      } else {
        return {};
      }
      ints.values.push_back(value);
    } else {
      return {};
    }
  }
  return ints;
}

Shapes known_shapes(const onnx::GraphProto& graph) {
  Shapes shapes;
  for (const auto* list : {&graph.value_info(), &graph.input(), &graph.output()}) {
    for (const auto& value : *list) {
      if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) continue;
      std::vector<std::int64_t> dims;
      bool known = true;
      for (const auto& dim : value.type().tensor_type().shape().dim()) {
        known = known && dim.has_dim_value() && dim.dim_value() >= 0;
        dims.push_back(dim.dim_value());
      }
      if (known) shapes[value.name()] = std::move(dims);
    }
  }
  for (const auto& tensor : graph.initializer())
    shapes[tensor.name()] = {tensor.dims().begin(), tensor.dims().end()};
  return shapes;
}

std::optional<std::int64_t> combine(const std::string& op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (op == "Add") return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Sub") return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Mul") return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
  if (op == "Div") return b == 0 || b == -1 ? std::nullopt : std::optional(a / b);
  if (op == "Mod") return b <= 0 || a < 0 ? std::nullopt : std::optional(a % b);
  if (op == "Max") return std::max(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Equal") return a == b ? 1 : 0;
  return std::nullopt;
}

class Evaluator {
 public:
  explicit Evaluator(onnx::ModelProto& proto)
      : graph_(*proto.mutable_graph()), shapes_(known_shapes(graph_)) {
    for (const auto& tensor : graph_.initializer()) {
      if (Answer ints = as_ints(tensor)) values_[tensor.name()] = std::move(*ints);
    }
  }

  int run() {
    int added = 0;
    for (auto& node : *graph_.mutable_node()) {
      if (node.output_size() != 1 || node.output(0).empty() || node.output(0).ends_with(kEvaluatedSuffix))
        continue;
      if (!node.domain().empty() && node.domain() != "ai.onnx") continue;
      const std::string name = node.output(0);
      Answer answer = evaluate(node);
      if (!answer || answer->values.size() > kMostElements) continue;
      values_[name] = *answer;
      // Truth values are not int64: kept for the nodes behind, not put into the graph.
      if (node.op_type() == "Equal" || node.op_type() == "Constant" || is_other_type(name)) continue;
      onnx::TensorProto& tensor = *graph_.add_initializer();
      tensor.set_name(name);
      tensor.set_data_type(onnx::TensorProto::INT64);
      if (!answer->scalar) tensor.add_dims(static_cast<std::int64_t>(answer->values.size()));
      for (const std::int64_t value : answer->values) tensor.add_int64_data(value);
      node.set_output(0, name + std::string(kEvaluatedSuffix));
      ++added;
    }
    return added;
  }

 private:
  bool is_other_type(const std::string& name) {
    if (types_.empty()) {
      for (const auto& value : graph_.value_info())
        types_[value.name()] = value.type().tensor_type().elem_type();
      for (const auto& value : graph_.output())
        types_[value.name()] = onnx::TensorProto::UNDEFINED;  // stays a node's
    }
    const auto found = types_.find(name);
    return found == types_.end() || found->second != onnx::TensorProto::INT64;
  }

  const Ints* operand(const onnx::NodeProto& node, int place) const {
    if (place >= node.input_size()) return nullptr;
    const auto found = values_.find(node.input(place));
    return found != values_.end() ? &found->second : nullptr;
  }

  static std::int64_t attribute(const onnx::NodeProto& node, const char* name, std::int64_t otherwise) {
    for (const auto& candidate : node.attribute()) {
      if (candidate.name() == name && candidate.type() == onnx::AttributeProto::INT) return candidate.i();
    }
    return otherwise;
  }

  Answer evaluate(const onnx::NodeProto& node) const {
    const std::string& op = node.op_type();
    if (op == "Constant") return constant(node);
    if (op == "Shape" || op == "Size") return shape(node);
    if (op == "Concat") return concatenated(node);
    const Ints* first = operand(node, 0);
    if (first == nullptr) return {};
    if (op == "Identity") return *first;
    if (op == "Cast") {
      const std::int64_t to = attribute(node, "to", 0);
      return to == onnx::TensorProto::INT64 || to == onnx::TensorProto::INT32 ? Answer(*first) : std::nullopt;
    }
    if (op == "Unsqueeze") return first->scalar ? Answer(Ints{first->values, false}) : std::nullopt;
    if (op == "Squeeze") return first->values.size() == 1 ? Answer(Ints{first->values, true}) : std::nullopt;
    if (op == "Reshape") {
      const Ints* to = operand(node, 1);
      return to != nullptr && to->values.size() == 1 ? Answer(Ints{first->values, false}) : std::nullopt;
    }
    if (op == "Gather") return gathered(node, *first);
    if (op == "Slice") return sliced(node, *first);
    if (op == "Range") return range(node, *first);
    if (op == "ConstantOfShape") return filled(node, *first);
    if (op == "Where") return chosen(node, *first);
    return arithmetic(node, *first);
  }

  static Answer constant(const onnx::NodeProto& node) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() == "value" && attribute.has_t()) return as_ints(attribute.t());
      if (attribute.name() == "value_int") return Ints{{attribute.i()}, true};
      if (attribute.name() == "value_ints")
        return Ints{{attribute.ints().begin(), attribute.ints().end()}, false};
    }
    return {};
  }

  Answer shape(const onnx::NodeProto& node) const {
    const auto found = node.input_size() > 0 ? shapes_.find(node.input(0)) : shapes_.end();
    if (found == shapes_.end()) return {};
    const std::vector<std::int64_t>& dims = found->second;
    if (node.op_type() == "Size") {
      std::int64_t product = 1;
      for (const std::int64_t dim : dims) {
        if (__builtin_mul_overflow(product, dim, &product)) return {};
      }
      return Ints{{product}, true};
    }
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto bounded = [rank](std::int64_t place) {
      return std::clamp(place < 0 ? place + rank : place, std::int64_t{0}, rank);
    };
    const std::int64_t start = bounded(attribute(node, "start", 0));
    const std::int64_t end = std::max(start, bounded(attribute(node, "end", rank)));
    return Ints{{dims.begin() + start, dims.begin() + end}, false};
  }

  Answer concatenated(const onnx::NodeProto& node) const {
    Ints all;
    for (int i = 0; i < node.input_size(); ++i) {
      const Ints* part = operand(node, i);
      if (part == nullptr || part->scalar || all.values.size() > kMostElements) return {};
      all.values.insert(all.values.end(), part->values.begin(), part->values.end());
    }
    return all;
  }

  Answer gathered(const onnx::NodeProto& node, const Ints& data) const {
    const Ints* places = operand(node, 1);
    if (places == nullptr || data.scalar || attribute(node, "axis", 0) != 0) return {};
    Ints result{{}, places->scalar};
    const auto size = static_cast<std::int64_t>(data.values.size());
    for (std::int64_t place : places->values) {
      if (place < 0) place += size;
      if (place < 0 || place >= size) return {};
      result.values.push_back(data.values[static_cast<std::size_t>(place)]);
    }
    return result;
  }

  Answer sliced(const onnx::NodeProto& node, const Ints& data) const {
    const Ints* starts = operand(node, 1);
    const Ints* ends = operand(node, 2);
    const Ints* steps = operand(node, 4);
    const bool has_steps = node.input_size() > 4 && !node.input(4).empty();
    if (starts == nullptr || ends == nullptr || starts->values.size() != 1 || ends->values.size() != 1)
      return {};
    if (data.scalar || (has_steps && (steps == nullptr || steps->values != std::vector<std::int64_t>{1})))
      return {};
    const auto size = static_cast<std::int64_t>(data.values.size());
    const auto bounded = [size](std::int64_t place) {
      return std::clamp(place < 0 ? place + size : place, std::int64_t{0}, size);
    };
    const std::int64_t start = bounded(starts->values[0]);
    const std::int64_t end = std::max(start, bounded(ends->values[0]));
    return Ints{{data.values.begin() + start, data.values.begin() + end}, false};
  }

  Answer range(const onnx::NodeProto& node, const Ints& start) const {
    const Ints* limit = operand(node, 1);
    const Ints* step = operand(node, 2);
    if (limit == nullptr || step == nullptr || start.values.size() != 1 || limit->values.size() != 1)
      return {};
    if (step->values != std::vector<std::int64_t>{1}) return {};
    Ints result;
    for (std::int64_t value = start.values[0]; value < limit->values[0]; ++value) {
      if (result.values.size() == kMostElements) return {};
      result.values.push_back(value);
    }
    return result;
  }

  static Answer filled(const onnx::NodeProto& node, const Ints& shape) {
    if (shape.values.size() != 1 || shape.values[0] < 0 ||
        shape.values[0] > static_cast<std::int64_t>(kMostElements))
      return {};
    for (const auto& attribute : node.attribute()) {
      const Answer value =
          attribute.name() == "value" && attribute.has_t() ? as_ints(attribute.t()) : std::nullopt;
      if (value && value->values.size() == 1) {
        return Ints{std::vector<std::int64_t>(static_cast<std::size_t>(shape.values[0]), value->values[0]),
                    false};
      }
    }
    return {};
  }

  Answer chosen(const onnx::NodeProto& node, const Ints& condition) const {
    const Ints* yes = operand(node, 1);
    const Ints* no = operand(node, 2);
    if (yes == nullptr || no == nullptr) return {};
    const std::size_t size = condition.values.size();
    if (yes->values.size() != size || no->values.size() != size) return {};
    Ints result{{}, condition.scalar && yes->scalar && no->scalar};
    for (std::size_t i = 0; i < size; ++i)
      result.values.push_back(condition.values[i] != 0 ? yes->values[i] : no->values[i]);
    return result;
  }

  Answer arithmetic(const onnx::NodeProto& node, const Ints& a) const {
    const Ints* b = operand(node, 1);
    if (b == nullptr || node.input_size() != 2) return {};
    const std::size_t size = std::max(a.values.size(), b->values.size());
    if ((a.values.size() != size && a.values.size() != 1) ||
        (b->values.size() != size && b->values.size() != 1))
      return {};
    Ints result{{}, a.scalar && b->scalar};
    for (std::size_t i = 0; i < size; ++i) {
      const auto value = combine(node.op_type(), a.values[a.values.size() == 1 ? 0 : i],
                                 b->values[b->values.size() == 1 ? 0 : i]);
      if (!value) return {};
      result.values.push_back(*value);
    }
    return result;
  }

  onnx::GraphProto& graph_;
  Shapes shapes_;
  std::unordered_map<std::string, Ints> values_;
  std::unordered_map<std::string, int> types_;
};

}  // namespace

int evaluate_shape_values(onnx::ModelProto& proto) {
  return Evaluator(proto).run();
}

}  // namespace deepgap::graph
