#include "trace/dispatch_ops.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/text.h"
#include "ops/op_class.h"
#include "trace/range_names.h"

namespace deepgap::trace {
namespace {

enum class NameKind : std::uint8_t {
  kNotSeen,
  kRange,      // never an op
  kPlain,      // a range, or a kernel that a compiler made: which of them is told by what is in it
  kProduct,    // convolution, matmul, attention, with a formula
  kFormula,    // any other with a formula
  kFree,       // views
  kNoFormula,  // and what the table of ops does not know
  kOnePiece,   // without a formula, and yet never taken apart
};

enum class ModuleKind : std::uint8_t { kNotSeen, kModule, kNoModule };

NameKind kind_of(std::string_view name, bool plain_names_are_ops) {
  const RangeKind range = range_kind(name);
  if (range == RangeKind::kPlain || range == RangeKind::kNode)
    return plain_names_are_ops ? NameKind::kOnePiece : NameKind::kPlain;
  if (range != RangeKind::kNone) return NameKind::kRange;
  const ops::OpName* known = name.starts_with("aten::") ? ops::classify(ops::FrontEnd::kAten, name) : nullptr;
  if (known == nullptr) return NameKind::kNoFormula;
  switch (known->rule) {
    case ops::CostRule::kFree:
      return NameKind::kFree;
    case ops::CostRule::kUnknown:
      return known->op_class == ops::OpClass::kRecurrent ? NameKind::kOnePiece : NameKind::kNoFormula;
    default:
      return ops::is_contraction(known->op_class) ? NameKind::kProduct : NameKind::kFormula;
  }
}

constexpr std::string_view kModulePrefix = "nn.Module: ";

class Finder {
 public:
  explicit Finder(const Timeline& timeline)
      : timeline_(timeline),
        plain_names_are_ops_(!timeline.format.empty() && timeline.format != "kineto"),
        kinds_(timeline.texts.size(), NameKind::kNotSeen),
        called_(timeline.texts.size(), ModuleKind::kNotSeen),
        ranges_(timeline.texts.size(), ModuleKind::kNotSeen) {}

  DispatchOps find() {
    found_.modules.emplace_back();
    nest();
    decide();
    return std::move(found_);
  }

 private:
  struct Open {
    std::int64_t end_ns = 0;
    std::uint32_t node = kNoNode;  // the innermost op, which may be further out
    std::uint32_t module = 0;
  };

  NameKind kind(std::uint32_t name) {
    NameKind& kind = kinds_[name];
    if (kind == NameKind::kNotSeen) kind = kind_of(timeline_.texts[name], plain_names_are_ops_);
    return kind;
  }

  void nest() {
    const std::vector<Event>& events = timeline_.events;
    found_.enclosing.assign(events.size(), kNoNode);
    std::vector<bool> launches(events.size(), false);
    for (const std::uint32_t call : timeline_.calls) {
      if (call != kNoEvent) launches[call] = true;
    }
    std::vector<std::vector<Open>> lanes(timeline_.lanes.size());
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const bool call = event.role == Role::kRuntimeCall && launches[i];
      const bool range = event.role == Role::kPythonCall || event.role == Role::kAnnotation;
      if (!call && !range && event.role != Role::kOp) continue;
      std::vector<Open>& open = lanes[event.lane];
      while (!open.empty() && open.back().end_ns <= event.start_ns) open.pop_back();
      const Open around = open.empty() ? Open{std::numeric_limits<std::int64_t>::max()} : open.back();
      if (call) {
        found_.enclosing[i] = around.node;
        continue;
      }
      // What reaches beyond what holds it ends with it: stamps are rounded.
      Open inner{std::min(event.end_ns(), around.end_ns), around.node, around.module};
      if (range) {
        const std::optional<std::uint32_t> module = module_of(event, around.module);
        if (!module) continue;
        inner.module = *module;
      } else {
        inner.node = static_cast<std::uint32_t>(found_.nodes.size());
        found_.nodes.push_back({.event = i, .parent = around.node, .module = around.module});
      }
      open.push_back(inner);
    }
  }

  std::optional<std::uint32_t> module_of(const Event& event, std::uint32_t around) {
    const bool called = event.role == Role::kPythonCall;
    const std::string_view name = timeline_.texts[event.name];
    ModuleKind& kind = (called ? called_ : ranges_)[event.name];
    if (kind == ModuleKind::kNotSeen) {
      const bool module = called ? name.starts_with(kModulePrefix) : looks_like_module(name);
      kind = module ? ModuleKind::kModule : ModuleKind::kNoModule;
    }
    if (kind != ModuleKind::kModule) return std::nullopt;
    // A range has the whole path, a call one step of it.
    const std::uint64_t key = (std::uint64_t{called ? around + 1 : 0} << 32) | event.name;
    const auto [found, fresh] = modules_.try_emplace(key, static_cast<std::uint32_t>(found_.modules.size()));
    if (!fresh) return found->second;
    constexpr std::size_t kLongestPath = 1000;  // calls that call themselves have no end
    std::string path = called ? found_.modules[around] : std::string();
    const std::string step = printable(called ? name.substr(kModulePrefix.size()) : name, 200);
    if (path.size() + step.size() > kLongestPath) return found->second = around;
    found_.modules.push_back(path.empty() ? step : path + "." + step);
    return found->second;
  }

  // From the inside out: what stands in each. From the outside in: whose it is.
  void decide() {
    struct Holds {
      bool any = false;
      bool formula = false;
      bool product = false;
    };
    std::vector<OpNode>& nodes = found_.nodes;
    std::vector<Holds> holds(nodes.size());
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (nodes[i].parent == kNoNode) continue;
      Holds& around = holds[nodes[i].parent];
      const NameKind kind = this->kind(timeline_.events[nodes[i].event].name);
      const bool product = kind == NameKind::kProduct;
      around.any = true;
      around.product = around.product || product || holds[i].product;
      around.formula = around.formula || product || kind == NameKind::kFormula || holds[i].formula;
    }
    std::vector<bool> apart(nodes.size(), false);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      OpNode& node = nodes[i];
      if (node.parent != kNoNode && !apart[node.parent]) {
        node.owner = nodes[node.parent].owner;
        continue;
      }
      node.owner = i;
      switch (this->kind(timeline_.events[node.event].name)) {
        case NameKind::kRange:
          node.owner = kNoNode;
          apart[i] = true;
          break;
        case NameKind::kPlain:
          // A kernel that a compiler made is recorded by its name; nothing is in it.
          if (holds[i].any) node.owner = kNoNode;
          apart[i] = holds[i].any;
          node.only_if_it_works = true;
          break;
        case NameKind::kFree:
          apart[i] = holds[i].formula;
          node.only_if_it_works = apart[i];
          break;
        case NameKind::kNoFormula:
          apart[i] = holds[i].product;
          node.only_if_it_works = apart[i];
          break;
        default:
          break;
      }
    }
  }

  const Timeline& timeline_;
  const bool plain_names_are_ops_;
  // By name.
  std::vector<NameKind> kinds_;
  std::vector<ModuleKind> called_;
  std::vector<ModuleKind> ranges_;
  std::unordered_map<std::uint64_t, std::uint32_t> modules_;  // by the one around and the name
  DispatchOps found_;
};

}  // namespace

DispatchOps find_dispatch_ops(const Timeline& timeline) {
  return Finder(timeline).find();
}

}  // namespace deepgap::trace
