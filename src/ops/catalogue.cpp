// Finds operators by name. The names are rows in names_*.cpp; a new formula is a CostRule in cost.cpp.
#include <algorithm>
#include <string>

#include "ops/names.h"
#include "ops/op_class.h"

namespace deepgap::ops {
namespace {

std::span<const OpName> names_of(FrontEnd front_end) {
  switch (front_end) {
    case FrontEnd::kOnnx:
      return onnx_names();
    case FrontEnd::kAten:
      return aten_names();
    case FrontEnd::kOpenVino:
      return openvino_names();
  }
  return {};
}

const OpName* find(FrontEnd front_end, std::string_view name) {
  const std::span<const OpName> names = names_of(front_end);
  const auto row = std::lower_bound(names.begin(), names.end(), name,
                                    [](const OpName& a, std::string_view key) { return a.name < key; });
  return row != names.end() && row->name == name ? &*row : nullptr;
}

const OpName* find_aten(std::string_view name) {
  // Operators and overloads are ASCII identifiers; longer names are nobody's and need no copy.
  if (name.size() > 200) return nullptr;
  std::string key(name);
  if (!key.starts_with("aten::")) key = "aten::" + key;
  key = key.substr(0, key.find('.'));
  if (const OpName* row = find(FrontEnd::kAten, key)) return row;
  if (key.ends_with('_')) return find(FrontEnd::kAten, std::string_view(key).substr(0, key.size() - 1));
  return nullptr;
}

}  // namespace

std::span<const OpName> op_names(FrontEnd front_end) {
  return names_of(front_end);
}

std::string_view aten_base_name(std::string_view name) {
  if (name.starts_with("aten::")) name.remove_prefix(6);
  name = name.substr(0, name.find('.'));
  if (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

const OpName* classify(FrontEnd front_end, std::string_view name) {
  return front_end == FrontEnd::kAten ? find_aten(name) : find(front_end, name);
}

}  // namespace deepgap::ops
