#include "trace/range_names.h"

#include <algorithm>

namespace deepgap::trace {
namespace {

constexpr std::string_view kProgram[] = {"ProfilerStep#", "enumerate(DataLoader)", "Optimizer.", "## ",
                                         "nn.Module: "};
// Nodes of autograd and TorchScript are named like ops.
constexpr std::string_view kWrappers[] = {"autograd::",       "torch::autograd::",     "torch::jit::",
                                          "CompiledFunction", "Torch-Compiled Region", "TorchDynamo "};

bool is_identifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

// "aten::add_", "torchvision::nms", "vllm::moe::gate.default"
bool has_namespace(std::string_view name) {
  std::size_t parts = 0;
  for (;;) {
    const std::size_t colons = name.find("::");
    if (!is_identifier(name.substr(0, colons))) return false;
    ++parts;
    if (colons == std::string_view::npos) return parts > 1;
    name.remove_prefix(colons + 2);
  }
}

// "AddmmBackward0", "NllLossBackward"
bool is_autograd_node(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return name.ends_with("Backward");
}

bool begins_with_one(std::string_view name, const auto& prefixes) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

RangeKind range_kind(std::string_view name) {
  if (begins_with_one(name, kProgram)) return RangeKind::kProgram;
  if (begins_with_one(name, kWrappers)) return RangeKind::kWrapper;
  if (has_namespace(name)) return RangeKind::kNone;
  return is_autograd_node(name) ? RangeKind::kNode : RangeKind::kPlain;
}

bool looks_like_module(std::string_view name) {
  if (!is_identifier(name) || name.find('.') == std::string_view::npos) return false;
  if (name.front() == '.' || name.back() == '.' || name.find("..") != std::string_view::npos) return false;
  for (const std::string_view end : {".forward", ".backward", ".step"}) {
    if (name.ends_with(end)) return false;
  }
  return true;
}

}  // namespace deepgap::trace
