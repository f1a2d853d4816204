#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "graph/builtin/models.h"

namespace deepgap::graph {

std::span<const BuiltinModel* const> builtin_models() {
  static const std::array kModels = {
      &builtin::kResnet18,    &builtin::kResnet50, &builtin::kResnet101,
      &builtin::kMobilenetV2, &builtin::kBertBase,
  };
  return kModels;
}

const BuiltinModel* find_builtin(std::string_view name) {
  for (const BuiltinModel* model : builtin_models()) {
    if (model->name == name) return model;
  }
  return nullptr;
}

Result<Dims> complete_dims(const BuiltinModel& model, const Dims& dims) {
  Dims complete;
  std::vector<std::string> names;
  for (const BuiltinParameter& parameter : model.parameters) {
    complete[std::string(parameter.name)] = parameter.standard;
    names.emplace_back(parameter.name);
  }
  for (const auto& [name, size] : dims) {
    const auto parameter = std::find_if(model.parameters.begin(), model.parameters.end(),
                                        [&name = name](const auto& known) { return known.name == name; });
    if (parameter == model.parameters.end()) {
      if (names.empty()) {
        return usage_error(fmt::format("the model '{}' has no dimension '{}': it takes no --dim", model.name,
                                       printable(name, 60)));
      }
      return usage_error(unknown_name(fmt::format("dimension of the model '{}'", model.name), name, names));
    }
    if (size < parameter->least || size > parameter->most) {
      return usage_error(
          fmt::format("the dimension '{}' of the model '{}' was expected between {} and {}, found {}",
                      printable(name, 60), model.name, parameter->least, parameter->most, size));
    }
    complete[name] = size;
  }
  return complete;
}

}  // namespace deepgap::graph
