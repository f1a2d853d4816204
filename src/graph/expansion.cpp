#include "graph/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "graph/file_kind.h"

namespace deepgap::graph {
namespace {

// A node or an attribute in memory, names included, is no smaller.
constexpr double kLeastBytes = 100;

// As floating-point numbers, which saturate at infinity; no term is 0, so that none becomes a NaN.
struct Size {
  double nodes = 0;
  double bytes = 0;

  void add(const Size& more, double times = 1) {
    nodes += more.nodes * times;
    bytes += more.bytes * times;
  }
};

// What a piece of a function's body becomes: a size of its own, and each attribute parameter of the function
// so many times, as subgraphs may be given to a function and used in it more than once.
struct Form {
  Size own;
  std::map<std::string, double> parameters;

  void add(const Form& more, double times = 1) {
    own.add(more.own, times);
    for (const auto& [name, count] : more.parameters) parameters[name] += count * times;
  }
};

class Expansion {
 public:
  explicit Expansion(const onnx::ModelProto& proto) : proto_(proto) {
    for (const auto& function : proto.functions())
      functions_[id_of(function.domain(), function.name(), function.overload())].bodies.push_back(&function);
  }

  // The whole graph.
  Size size() { return of_graph(proto_.graph(), 0).own; }
  bool too_deep() const { return too_deep_; }

 private:
  struct Function {
    std::vector<const onnx::FunctionProto*> bodies;  // more than one of a name in a broken file: all count
    Form form;
    int levels = 0;  // of calls below it
    enum class State { kNew, kRunning, kDone } state = State::kNew;
  };

  static std::string id_of(const std::string& domain, const std::string& name, const std::string& overload) {
    // The parts may hold any text: their lengths keep them apart.
    return fmt::format("{} {} {}{}{}", domain == "ai.onnx" ? 0 : domain.size(), name.size(),
                       domain == "ai.onnx" ? "" : domain, name, overload);
  }

  template <typename Nodes>
  Form of_nodes(const Nodes& nodes, int level) {
    Form form;
    for (const onnx::NodeProto& node : nodes) form.add(of_node(node, level));
    return form;
  }

  Form of_graph(const onnx::GraphProto& graph, int level) {
    Form form = of_nodes(graph.node(), level);
    for (const auto& tensor : graph.initializer())
      form.own.bytes += static_cast<double>(tensor.ByteSizeLong());
    return form;
  }

  Form of_attribute(const onnx::AttributeProto& attribute, int level) {
    Form form;
    form.own.bytes = kLeastBytes;
    if (!attribute.ref_attr_name().empty()) form.parameters[attribute.ref_attr_name()] = 1;
    if (attribute.has_g()) form.add(of_graph(attribute.g(), level));
    for (const auto& graph : attribute.graphs()) form.add(of_graph(graph, level));
    if (!attribute.has_g() && attribute.graphs_size() == 0)
      form.own.bytes += static_cast<double>(attribute.ByteSizeLong());
    return form;
  }

  Form of_node(const onnx::NodeProto& node, int level) {
    Form form;
    form.own = {1, kLeastBytes};
    const auto found = functions_.find(id_of(node.domain(), node.op_type(), node.overload()));
    if (found == functions_.end()) {
      for (const auto& attribute : node.attribute()) form.add(of_attribute(attribute, level));
      return form;
    }
    const Function& callee = expand(found->second, level + 1);
    form.own.add(callee.form.own);
    for (const auto& [name, times] : callee.form.parameters) {
      for (const auto& attribute : node.attribute()) {
        if (attribute.name() == name) form.add(of_attribute(attribute, level), times);
      }
    }
    return form;
  }

  const Function& expand(Function& function, int level) {
    deepest_ = std::max(deepest_, level + function.levels);
    if (deepest_ > kDeepestCalls) too_deep_ = true;
    if (too_deep_ || function.state != Function::State::kNew) return function;
    function.state = Function::State::kRunning;
    const int outer = std::exchange(deepest_, level);
    Form form;
    for (const onnx::FunctionProto* body : function.bodies) {
      form.add(of_nodes(body->node(), level));
      for (const auto& value : body->value_info())
        form.own.bytes += static_cast<double>(value.ByteSizeLong());
    }
    function.form = std::move(form);
    function.levels = deepest_ - level;
    function.state = Function::State::kDone;
    deepest_ = std::max(outer, deepest_);
    return function;
  }

  const onnx::ModelProto& proto_;
  std::map<std::string, Function> functions_;
  int deepest_ = 0;  // level of calls within the function at hand
  bool too_deep_ = false;
};

// At most so many dimensions has each value, where the sizes of vectors do not matter: no vector of sizes is
// longer than a tensor in the file.
class Ranks {
 public:
  explicit Ranks(const onnx::GraphProto& graph) { visit(graph, 0); }
  double beyond_ordinary() const { return beyond_; }
  // Names that subgraphs see from outside, of all subgraphs together.
  double names_seen() const { return names_seen_; }

 private:
  static constexpr double kOrdinary = 8;

  void note(const std::string& name, double rank) {
    double& noted = ranks_.try_emplace(name, 0).first->second;  // a name may come again in another subgraph
    noted = std::max(noted, rank);
    beyond_ += std::max(0.0, rank - kOrdinary);
  }

  void note(const onnx::ValueInfoProto& value) {
    const auto& type = value.type();
    const bool known = type.has_tensor_type() && type.tensor_type().has_shape();
    note(value.name(), known ? type.tensor_type().shape().dim_size() : kOrdinary);
  }

  double of(const std::string& name) const {
    const auto found = ranks_.find(name);
    return found != ranks_.end() ? found->second : kOrdinary;
  }

  void note(const onnx::TensorProto& tensor) {
    note(tensor.name(), tensor.dims_size());
    if (tensor.dims_size() == 1) lengths_[tensor.name()] = static_cast<double>(tensor.dims(0));
  }

  // Elements of a vector that the file holds, as shapes and axes are.
  double length_of(const onnx::NodeProto& node, int input, double otherwise) const {
    if (input >= node.input_size()) return otherwise;
    const auto found = lengths_.find(node.input(input));
    return found != lengths_.end() ? found->second : otherwise;
  }

  // Squeeze's and Unsqueeze's, an attribute in older opsets.
  double axes_of(const onnx::NodeProto& node) const {
    for (const auto& attribute : node.attribute())
      if (attribute.name() == "axes") return static_cast<double>(attribute.ints_size());
    return length_of(node, 1, 0);
  }

  double of_outputs(const onnx::NodeProto& node) const {
    const std::string& op = node.op_type();
    double most = 0;
    for (const std::string& input : node.input()) most = std::max(most, of(input));
    const double first = node.input_size() > 0 ? of(node.input(0)) : 0;
    if (op == "Shape" || op == "Size") return 1;
    if ((op == "Gather" || op == "GatherND") && node.input_size() > 1)
      return std::max(0.0, first + of(node.input(1)) - 1);
    if (op == "Unsqueeze") return first + axes_of(node);
    if (op == "Squeeze") return std::max(0.0, first - axes_of(node));
    if (op == "Reshape") return length_of(node, 1, kOrdinary);
    if (op == "Expand") return std::max(first, length_of(node, 1, 0));
    if (op == "ConstantOfShape") return length_of(node, 0, kOrdinary);
    if (op == "OneHot" || op == "Loop" || op == "Scan" || op == "ConcatFromSequence") return most + 1;
    return most;
  }

  void visit(const onnx::GraphProto& graph, double names) {
    names += graph.input_size() + graph.initializer_size();
    for (const auto& input : graph.input()) note(input);
    for (const auto& tensor : graph.initializer()) note(tensor);
    for (const auto& node : graph.node()) {
      double most = 0;
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_t() && node.op_type() == "Constant" && node.output_size() == 1) {
          most = attribute.t().dims_size();
          if (attribute.t().dims_size() == 1)
            lengths_[node.output(0)] = static_cast<double>(attribute.t().dims(0));
        }
        if (attribute.name() == "shape") most = attribute.ints_size();  // of RandomNormal and the like
        if (attribute.has_g()) {
          names_seen_ += names;
          visit(attribute.g(), names);
          for (const auto& output : attribute.g().output()) most = std::max(most, of(output.name()));
        }
      }
      const double rank = std::max(most, of_outputs(node));
      for (const std::string& output : node.output()) note(output, rank);
      names += node.output_size();
    }
  }

  std::unordered_map<std::string, double> ranks_;
  std::unordered_map<std::string, double> lengths_;
  double beyond_ = 0;
  double names_seen_ = 0;
};

std::string count_in_words(double count) {
  return count < 1e15 ? fmt::format("{:.0f}", count) : std::string("more than 10^15");
}

}  // namespace

Result<void> check_expansion(const onnx::ModelProto& proto) {
  if (proto.functions_size() == 0) return {};
  Expansion expansion(proto);
  const Size size = expansion.size();
  if (expansion.too_deep()) {
    return bad_input(
        fmt::format("expected local functions that call each other at most {} deep, found deeper ones: "
                    "export the model without functions",
                    kDeepestCalls));
  }
  if (size.nodes > static_cast<double>(kMostExpandedNodes)) {
    return bad_input(
        fmt::format("expected a model of at most {} nodes once its local functions are inlined, found {}: "
                    "export it without functions, or as several models",
                    kMostExpandedNodes, count_in_words(size.nodes)));
  }
  if (size.bytes > static_cast<double>(kMostModelBytes)) {
    return bad_input(fmt::format(
        "expected a model of at most {} bytes (below 2 GiB) once its local functions are inlined, "
        "found {}: export it without functions",
        kMostModelBytes, count_in_words(size.bytes)));
  }
  return {};
}

Result<void> check_inference(const onnx::ModelProto& proto) {
  const Ranks ranks(proto.graph());
  if (ranks.names_seen() > static_cast<double>(kMostNamesSeen)) {
    return bad_input(
        fmt::format("expected branches and loops that see at most {} values of the graph around them, all "
                    "together, found {}: export the model with fewer of them",
                    kMostNamesSeen, count_in_words(ranks.names_seen())));
  }
  const double found = ranks.beyond_ordinary();
  if (found <= static_cast<double>(kMostDimensions)) return {};
  return bad_input(fmt::format(
      "expected tensors of few dimensions, found nodes that may give them {} dimensions beyond the "
      "eighth, of which {} are taken: check the model",
      count_in_words(found), kMostDimensions));
}

}  // namespace deepgap::graph
