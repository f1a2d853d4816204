#include "graph/node_order.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "base/text.h"

namespace deepgap::graph {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using Names = std::set<std::string>;

constexpr std::size_t kNameLength = 60;

std::string describe(const Nodes& nodes, int place) {
  const onnx::NodeProto& node = nodes.Get(place);
  const std::string op_type = printable(node.op_type(), kNameLength);
  return node.name().empty() ? fmt::format("number {} ({})", place + 1, op_type)
                             : fmt::format("'{}' ({})", printable(node.name(), kNameLength), op_type);
}

std::string describe_reader(const Nodes& nodes, int place, const std::string& value) {
  std::string text =
      fmt::format("node {} reads '{}', which ", describe(nodes, place), printable(value, kNameLength));
  for (int maker = place; maker < nodes.size(); ++maker) {
    for (const std::string& output : nodes.Get(maker).output()) {
      if (output != value) continue;
      return text +
             (maker == place ? "it makes itself" : "only a later node makes, " + describe(nodes, maker));
    }
  }
  return text + "nothing makes";
}

// Names of a scope, which are forgotten at its end unless an outer one has them: copies of all names for each
// subgraph would take time that grows with their square.
class Scope {
 public:
  explicit Scope(Names& made) : made_(made) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    for (const std::string& name : added_) made_.erase(name);
  }
  void add(const std::string& name) {
    if (made_.insert(name).second) added_.push_back(name);
  }

 private:
  Names& made_;
  std::vector<std::string> added_;
};

std::optional<std::string> disorder_in(const onnx::GraphProto& graph, Names& made);

// `made`: what is there before the first node, and again after the call.
std::optional<std::string> disorder_in(const Nodes& nodes, Names& made) {
  Scope scope(made);
  for (int place = 0; place < nodes.size(); ++place) {
    const onnx::NodeProto& node = nodes.Get(place);
    for (const std::string& input : node.input()) {
      if (!input.empty() && !made.contains(input)) return describe_reader(nodes, place, input);
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) {
        if (auto found = disorder_in(attribute.g(), made)) return found;
      }
      for (const auto& graph : attribute.graphs()) {
        if (auto found = disorder_in(graph, made)) return found;
      }
    }
    for (const std::string& output : node.output()) scope.add(output);
  }
  return std::nullopt;
}

std::optional<std::string> disorder_in(const onnx::GraphProto& graph, Names& made) {
  Scope scope(made);
  for (const auto& input : graph.input()) scope.add(input.name());
  for (const auto& tensor : graph.initializer()) scope.add(tensor.name());
  for (const auto& sparse : graph.sparse_initializer()) scope.add(sparse.values().name());
  return disorder_in(graph.node(), made);
}

}  // namespace

std::optional<std::string> disorder_in(const onnx::ModelProto& proto) {
  Names made;
  if (auto found = disorder_in(proto.graph(), made)) return found;
  for (const auto& function : proto.functions()) {
    made = {function.input().begin(), function.input().end()};
    if (auto found = disorder_in(function.node(), made)) return found;
  }
  return std::nullopt;
}

}  // namespace deepgap::graph
