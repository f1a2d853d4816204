#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <new>

#include "base/text.h"
#include "graph/expansion.h"
#include "graph/external_data.h"
#include "graph/file_kind.h"
#include "graph/node_order.h"
#include "graph/onnx_model.h"
#include "onnx/checker.h"
#include "onnx/inliner/inliner.h"

namespace deepgap::graph {
namespace {

constexpr std::int64_t kOldestOpset = 9;
constexpr std::size_t kMostShown = 300;

std::string standard_name(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

Result<void> check_form(std::string_view bytes) {
  if (bytes.empty())
    return bad_input("expected an ONNX model, found an empty file: export or download it again");
  if (bytes.size() > kMostModelBytes) return too_large(bytes.size());
  if (const std::optional<std::string> kind = foreign_kind(bytes)) {
    return bad_input(fmt::format("expected an ONNX model, found {}", *kind));
  }
  if (const std::optional<std::string> damage = outer_damage(bytes)) {
    return bad_input(*damage + ", export or download it again");
  }
  return {};
}

Result<void> check_versions(const onnx::ModelProto& proto) {
  if (!proto.has_graph() ||
      proto.graph().node_size() + proto.graph().input_size() + proto.graph().output_size() == 0) {
    return bad_input("expected an ONNX model, found a protobuf message without a graph: export it again");
  }
  constexpr auto kNewestIr = static_cast<std::int64_t>(onnx::Version::IR_VERSION);
  if (proto.ir_version() > kNewestIr) {
    return bad_input(
        fmt::format("expected ONNX IR version {} or older, found {}: export for an older version, or use a "
                    "newer deepgap",
                    kNewestIr, proto.ir_version()));
  }
  std::optional<std::int64_t> opset;
  for (const auto& import : proto.opset_import()) {
    if (standard_name(import.domain()).empty()) opset = import.version();
  }
  if (!opset) {
    return bad_input(
        "expected an ONNX model with operators of the standard set (ai.onnx), found none declared: export it "
        "with an opset of " +
        fmt::format("{} to {}", oldest_opset(), newest_opset()));
  }
  if (*opset > newest_opset()) {
    return bad_input(fmt::format(
        "expected opset {} to {}, found opset {}: export with opset_version={} or older, or use a "
        "newer deepgap",
        oldest_opset(), newest_opset(), *opset, newest_opset()));
  }
  if (*opset < oldest_opset()) {
    return bad_input(
        fmt::format("expected opset {} to {}, found opset {}: convert the model "
                    "(onnx.version_converter.convert_version) or export it again",
                    oldest_opset(), newest_opset(), *opset));
  }
  return {};
}

// Operators of domains that this build has schemas for and that the imported version lacks. ONNX's checker
// would find the first; this names them all, with their nodes.
Result<void> check_operators(const onnx::ModelProto& proto) {
  std::map<std::string, std::int64_t> versions;
  for (const auto& import : proto.opset_import()) versions[standard_name(import.domain())] = import.version();
  std::set<std::string> functions;
  for (const auto& function : proto.functions())
    functions.insert(standard_name(function.domain()) + "." + function.name());
  const auto& known_domains = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();

  std::map<std::string, std::string> unknown;  // operator -> first node
  std::optional<std::string> undeclared;
  for_each_node(proto.graph(), [&](const onnx::NodeProto& node) {
    const std::string domain = standard_name(node.domain());
    const std::string full = (domain.empty() ? "" : domain + ".") + node.op_type();
    const auto version = versions.find(domain);
    if (version == versions.end()) {
      if (!undeclared) undeclared = printable(domain, 60) + "' (operator '" + printable(node.op_type(), 60);
      return;
    }
    if (!known_domains.contains(domain) || functions.contains(domain + "." + node.op_type())) return;
    const auto limited = static_cast<int>(std::clamp<std::int64_t>(version->second, 0, 1 << 20));
    if (onnx::OpSchemaRegistry::Schema(node.op_type(), limited, domain) == nullptr) {
      unknown.emplace(printable(full, 60), printable(node.name(), 60));
    }
  });
  if (undeclared) {
    return bad_input(
        fmt::format("the model uses operators of the domain '{}') and does not say which version of it: "
                    "export it again",
                    *undeclared));
  }
  if (unknown.empty()) return {};
  std::vector<std::string> shown;
  for (const auto& [name, node] : unknown) {
    if (shown.size() == 8) break;
    shown.push_back(node.empty() ? fmt::format("'{}'", name) : fmt::format("'{}' (node '{}')", name, node));
  }
  return bad_input(
      fmt::format("expected operators of ONNX opset {}, found {} that it does not have: {}{}; export with "
                  "another opset, or leave the operator out",
                  versions[""], unknown.size(), join(shown, ", "), unknown.size() > 8 ? ", ..." : ""));
}

// What ONNX's checker refuses and engines take is hidden from it while it runs: external weights (checked
// here; it knows no folder and refuses links, as model hubs' caches use them), and inputs and outputs without
// a shape.
class Hidden {
 public:
  explicit Hidden(onnx::ModelProto& proto) {
    for_each_tensor(proto, [this](onnx::TensorProto& tensor) {
      if (!tensor.has_data_location() || tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
      externals_.emplace_back(&tensor, tensor);
      tensor.clear_data_location();
      tensor.clear_external_data();
      tensor.clear_dims();
      tensor.add_dims(0);
    });
    for (auto* values : {proto.mutable_graph()->mutable_input(), proto.mutable_graph()->mutable_output()}) {
      for (auto& value : *values) {
        if (!value.type().has_tensor_type() || value.type().tensor_type().has_shape()) continue;
        shapeless_.push_back(value.mutable_type()->mutable_tensor_type());
        shapeless_.back()->mutable_shape();
      }
    }
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;
  ~Hidden() {
    for (auto& [place, saved] : externals_) *place = std::move(saved);
    for (onnx::TypeProto_Tensor* type : shapeless_) type->clear_shape();
  }

 private:
  std::vector<std::pair<onnx::TensorProto*, onnx::TensorProto>> externals_;
  std::vector<onnx::TypeProto_Tensor*> shapeless_;
};

// The checker's messages end with a context over several lines; the first says what is wrong.
std::string first_line(std::string_view message) {
  std::string line = printable(trim(message.substr(0, message.find('\n'))), kMostShown);
  if (line.ends_with('.') && !line.ends_with("..")) line.pop_back();  // our sentence goes on
  return line.empty() ? "no reason given" : line;
}

// " (node 'conv1')" from that context, "" where it names no node.
std::string node_of_context(std::string_view message) {
  constexpr std::string_view kBefore = "==> Context: Bad node spec for node. Name: ";
  const std::size_t context = message.rfind(kBefore);
  if (context == std::string_view::npos) return "";
  const std::string_view name = message.substr(context + kBefore.size());
  const std::string_view found = name.substr(0, name.rfind(" OpType: "));
  return found.empty() ? "" : fmt::format(" (node '{}')", printable(found, 60));
}

Result<void> run_checker(onnx::ModelProto& proto) {
  const Hidden hidden(proto);
  try {
    onnx::checker::check_model(proto, /*full_check=*/false, /*skip_opset_compatibility_check=*/true);
    return {};
  } catch (const std::exception& error) {
    const std::string_view message = error.what();
    // Said over several lines, with the names behind the first.
    const bool unordered = message.find("topologically sorted") != std::string_view::npos;
    if (const std::optional<std::string> found = unordered ? disorder_in(proto) : std::nullopt) {
      return bad_input(fmt::format(
          "expected an ONNX model whose nodes stand behind those whose values they read, found that "
          "{}: export it again",
          *found));
    }
    return bad_input(
        fmt::format("expected a valid ONNX model, but ONNX's checker says: {}{}; export it again",
                    first_line(message), node_of_context(message)));
  }
}

void remark_on_names(Model::Representation& model) {
  std::map<std::string, int> uses;
  for (const auto& node : model.proto.graph().node()) {
    if (!node.name().empty()) ++uses[node.name()];
  }
  std::vector<std::string> repeated;
  for (const auto& [name, count] : uses) {
    if (count > 1) repeated.push_back("'" + printable(name, 60) + "'");
  }
  if (repeated.empty()) return;
  const std::size_t count = repeated.size();
  if (count > 3) repeated.resize(3);
  model.remarks.push_back(
      fmt::format("{} node name{} used more than once ({}{}): some engines refuse that, and per-node "
                  "tables number them",
                  count, count == 1 ? " is" : "s are", join(repeated, ", "), count > 3 ? ", ..." : ""));
}

Result<void> complete(Model::Representation& model) {
  remark_on_names(model);
  if (model.proto.functions_size() > 0) onnx::inliner::InlineLocalFunctions(model.proto);
  DEEPGAP_RETURN_IF_ERROR(check_inference(model.proto));
  // Strict inference may leave the model half done, so it works on a copy.
  onnx::ModelProto trial = copy_without_weights(model.proto);
  const Result<void> strict = infer_shapes(trial, /*strict=*/true);
  if (strict) {
    *model.proto.mutable_graph()->mutable_value_info() = trial.graph().value_info();
    *model.proto.mutable_graph()->mutable_output() = trial.graph().output();
    return {};
  }
  model.remarks.push_back("shapes contradict each other: " + first_line(strict.error().message()));
  onnx::ModelProto lenient = copy_without_weights(model.proto);
  if (infer_shapes(lenient, /*strict=*/false)) {
    *model.proto.mutable_graph()->mutable_value_info() = lenient.graph().value_info();
  }
  return {};
}

Result<Model> parse_checked(std::string_view bytes, const ReadOptions& options) {
  DEEPGAP_RETURN_IF_ERROR(check_form(bytes));
  auto representation = std::make_unique<Model::Representation>();
  representation->folder = options.folder;
  if (!representation->proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return bad_input(
        fmt::format("expected an ONNX model, found {} bytes that are damaged inside: export or download it "
                    "again",
                    bytes.size()));
  }
  onnx::ModelProto& proto = representation->proto;
  DEEPGAP_RETURN_IF_ERROR(check_versions(proto));
  DEEPGAP_ASSIGN(const std::set<std::string> files, check_external_data(proto, options.folder));
  representation->external_files = {files.begin(), files.end()};
  DEEPGAP_RETURN_IF_ERROR(check_operators(proto));
  DEEPGAP_RETURN_IF_ERROR(check_expansion(proto));
  DEEPGAP_RETURN_IF_ERROR(run_checker(proto));
  DEEPGAP_RETURN_IF_ERROR(complete(*representation));
  return Model(std::move(representation));
}

}  // namespace

std::int64_t oldest_opset() {
  return kOldestOpset;
}

std::int64_t newest_opset() {
  return onnx::OpSchemaRegistry::DomainToVersionRange::Instance().LastReleaseVersionMap().at("");
}

Result<Model> parse_model(std::string_view bytes, const std::string& where, const ReadOptions& options) {
  const std::string context = "'" + printable(where, kMostShown) + "'";
  try {
    return parse_checked(bytes, options).in(context);
  } catch (const std::bad_alloc&) {
    return bad_input("reading the model needs more memory than there is: close other programs").in(context);
  } catch (const std::exception& error) {
    return bad_input("expected a valid ONNX model, but reading it failed: " + first_line(error.what()))
        .in(context);
  }
}

Result<Model> read_model(const std::string& path) {
  DEEPGAP_ASSIGN(const std::string bytes, read_model_bytes(path));
  return parse_model(bytes, path, {folder_of(path)});
}

}  // namespace deepgap::graph
