#include "graph/summary.h"

#include <algorithm>
#include <unordered_map>

#include "graph/dims_plan.h"
#include "ops/count.h"

namespace deepgap::graph {
namespace {

ops::OpSignature signature_of(const GraphNode& node, const GraphView& view) {
  ops::OpSignature op;
  op.front_end = ops::FrontEnd::kOnnx;
  op.name = node.op_type;
  op.integers = node.integers;
  op.numbers = node.numbers;
  op.texts = node.texts;
  const auto describe = [&](const std::string& name) {
    ops::TensorShape absent;
    absent.present = false;
    if (name.empty()) return absent;
    const GraphTensor* tensor = view.find(name);
    return tensor != nullptr ? tensor->described() : ops::TensorShape{};
  };
  for (const std::string& input : node.inputs) op.inputs.push_back(describe(input));
  for (const std::string& output : node.outputs) op.outputs.push_back(describe(output));
  return op;
}

bool is_view(const GraphNode& node) {
  const ops::OpName* row = ops::classify(ops::FrontEnd::kOnnx, node.op_type);
  return row != nullptr && row->rule == ops::CostRule::kFree;
}

NodeSummary summarise(const GraphNode& node, const GraphView& view) {
  const ops::OpSignature op = signature_of(node, view);
  NodeSummary summary;
  summary.name = node.name;
  summary.op_type = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  summary.op_class = ops::class_of(op);
  summary.inputs = op.inputs;
  summary.outputs = op.outputs;
  summary.folded = node.folded;
  summary.cost = node.folded ? ops::Cost{Flops{0}, Bytes{0}, Bytes{0}, Bytes{0}} : ops::cost_of(op);
  return summary;
}

// Memory over the run of the nodes in order. A view shares the buffer of its first operand.
class Liveness {
 public:
  explicit Liveness(const GraphView& view) : view_(view) {
    for (std::size_t i = 0; i < view.nodes.size(); ++i) {
      const GraphNode& node = view.nodes[i];
      if (node.folded) continue;
      for (const auto* names : {&node.inputs, &node.captured}) {
        for (const std::string& name : *names) last_use_[buffer_of(name)] = i;
      }
      if (is_view(node) && !node.inputs.empty()) {
        for (const std::string& output : node.outputs) shares_[output] = buffer_of(node.inputs[0]);
      }
    }
    for (const TensorInfo& output : view.outputs) last_use_[buffer_of(output.name)] = view.nodes.size();
    // The caller keeps the inputs.
    for (const TensorInfo& input : view.inputs) last_use_[input.name] = view.nodes.size();
  }

  struct Totals {
    std::optional<Bytes> all, peak;
  };

  Totals run() const {
    ops::Count all = 0;
    ops::Count alive = 0;
    std::unordered_map<std::size_t, std::vector<std::string>> dying;
    for (const TensorInfo& input : view_.inputs) alive = ops::sum({alive, bytes_of(input.name)});
    ops::Count peak = alive;
    for (std::size_t i = 0; i < view_.nodes.size(); ++i) {
      const GraphNode& node = view_.nodes[i];
      if (!node.folded && !is_view(node)) {
        for (const std::string& output : node.outputs) {
          if (output.empty()) continue;
          all = ops::sum({all, bytes_of(output)});
          alive = ops::sum({alive, bytes_of(output)});
          const auto last = last_use_.find(output);
          dying[last != last_use_.end() ? std::max(last->second, i) : i].push_back(output);
        }
      }
      if (!alive || !peak) return {};
      peak = std::max(*peak, *alive);
      for (const std::string& name : dying[i]) alive = *alive - *bytes_of(name);
      dying.erase(i);
    }
    const auto as_bytes = [](const ops::Count& count) {
      return count ? std::optional(Bytes{*count}) : std::nullopt;
    };
    return {as_bytes(all), as_bytes(peak)};
  }

 private:
  std::string buffer_of(const std::string& name) const {
    const auto shared = shares_.find(name);
    return shared != shares_.end() ? shared->second : name;
  }
  ops::Count bytes_of(const std::string& name) const {
    const GraphTensor* tensor = view_.find(name);
    const auto bytes = tensor != nullptr ? tensor->described().bytes() : std::nullopt;
    return bytes ? ops::Count{bytes->value} : std::nullopt;
  }

  const GraphView& view_;
  std::unordered_map<std::string, std::size_t> last_use_;
  std::unordered_map<std::string, std::string> shares_;
};

void add_up(ModelSummary& summary) {
  ops::Count known = 0;
  ops::Count contraction = 0;
  ops::Count bytes = 0;
  for (const NodeSummary& node : summary.nodes) {
    if (node.cost.flops) {
      known = ops::sum({known, ops::Count{node.cost.flops->value}});
      if (node.op_class && ops::is_contraction(*node.op_class)) {
        contraction = ops::sum({contraction, ops::Count{node.cost.flops->value}});
      }
    } else {
      summary.unknown.push_back(node.name + " (" + node.op_type + ")");
    }
    const bool moves = node.cost.read && node.cost.written;
    bytes = moves ? ops::sum({bytes, ops::Count{node.cost.read->value}, ops::Count{node.cost.written->value}})
                  : std::nullopt;
  }
  // Only sums beyond 63 bits are absent here.
  summary.known_flops = Flops{known.value_or(0)};
  summary.contraction_flops = Flops{contraction.value_or(0)};
  if (known && summary.unknown.empty()) summary.flops = Flops{*known};
  if (bytes) summary.bytes = Bytes{*bytes};
}

}  // namespace

std::optional<Bytes> ModelSummary::least_memory() const {
  if (!peak_activation_bytes) return std::nullopt;
  return parameter_bytes + *peak_activation_bytes;
}

std::map<ops::OpClass, Flops> ModelSummary::flops_by_class() const {
  std::map<ops::OpClass, Flops> totals;
  for (const NodeSummary& node : nodes) {
    if (node.op_class && node.cost.flops) totals[*node.op_class] += *node.cost.flops;
  }
  return totals;
}

Result<ModelSummary> analyse(const Model& model, std::int64_t batch, const Dims& dims) {
  DEEPGAP_ASSIGN(const GraphView view, bound_view(model, dims, batch));
  ModelSummary summary;
  summary.batch = batch;
  summary.inputs = view.inputs;
  summary.outputs = view.outputs;
  for (const GraphNode& node : view.nodes) summary.nodes.push_back(summarise(node, view));
  const Weights weights = count_weights(view);
  summary.parameters = weights.parameters;
  summary.parameter_bytes = weights.bytes;
  add_up(summary);
  const Liveness::Totals memory = Liveness(view).run();
  summary.activation_bytes = memory.all;
  summary.peak_activation_bytes = memory.peak;
  return summary;
}

}  // namespace deepgap::graph
