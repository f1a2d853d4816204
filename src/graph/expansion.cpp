#include "graph/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
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
    return bad_input(
        fmt::format("expected a model of at most 2 GiB once its local functions are inlined, found {} bytes: "
                    "export it without functions",
                    count_in_words(size.bytes)));
  }
  return {};
}

}  // namespace deepgap::graph
