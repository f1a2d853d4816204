#include "graph/dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "graph/dims_plan.h"

namespace deepgap::graph {
namespace {

bool is_batch_name(const std::string& symbol) {
  constexpr std::array<std::string_view, 10> kNames = {
      "n", "b", "bs", "batch", "batchsize", "batch_size", "batch-size", "batch_dim", "batch size", "nbatch"};
  return std::find(kNames.begin(), kNames.end(), lower(symbol)) != kNames.end();
}

bool is_open(const Dim& dim) {
  return !dim.size;
}

std::string place_name(const std::string& input, std::size_t axis) {
  return input + "." + std::to_string(axis);
}

// The symbol that rule 2 takes for the batch: "" where the first open first dimension is unnamed.
std::optional<std::string> symbol_of_first(const std::vector<TensorInfo>& inputs, const Dims& dims) {
  for (const TensorInfo& input : inputs) {
    if (!input.dims || input.dims->empty() || !is_open(input.dims->front())) continue;
    const std::string& symbol = input.dims->front().symbol;
    if (!dims.contains(symbol.empty() ? place_name(input.name, 0) : symbol)) return symbol;
  }
  return std::nullopt;
}

// Which symbols and whether unnamed first dimensions are the batch.
struct BatchRule {
  std::set<std::string> symbols;

  bool takes(const std::string& input, const Dim& dim, std::size_t axis, const Dims& dims) const {
    if (!is_open(dim)) return false;
    if (!dim.symbol.empty()) return symbols.contains(dim.symbol);
    return axis == 0 && !dims.contains(place_name(input, 0));
  }
};

BatchRule batch_rule(const std::vector<TensorInfo>& inputs, const Dims& dims) {
  BatchRule rule;
  for (const TensorInfo& input : inputs) {
    if (!input.dims) continue;
    for (const Dim& dim : *input.dims) {
      if (is_open(dim) && is_batch_name(dim.symbol)) rule.symbols.insert(dim.symbol);
    }
  }
  if (!rule.symbols.empty()) return rule;
  if (const std::optional<std::string> symbol = symbol_of_first(inputs, dims); symbol && !symbol->empty()) {
    rule.symbols.insert(*symbol);
  }
  return rule;
}

std::vector<FreeDimension> find_free(const std::vector<TensorInfo>& inputs, const Dims& dims) {
  const BatchRule rule = batch_rule(inputs, dims);
  FreeDimension batch{"", {}, true};
  std::vector<FreeDimension> others;
  for (const TensorInfo& input : inputs) {
    if (!input.dims) continue;
    for (std::size_t axis = 0; axis < input.dims->size(); ++axis) {
      const Dim& dim = (*input.dims)[axis];
      if (!is_open(dim)) continue;
      const FreeDimension::Place place{input.name, static_cast<int>(axis)};
      if (rule.takes(input.name, dim, axis, dims)) {
        if (batch.name.empty()) batch.name = dim.symbol;
        batch.places.push_back(place);
        continue;
      }
      const std::string name = dim.symbol.empty() ? place_name(input.name, axis) : dim.symbol;
      const auto same =
          std::find_if(others.begin(), others.end(), [&](const auto& other) { return other.name == name; });
      if (same == others.end()) {
        others.push_back({name, {place}, false});
      } else {
        same->places.push_back(place);
      }
    }
  }
  if (batch.places.empty()) return others;
  if (batch.name.empty()) batch.name = "batch";
  others.insert(others.begin(), std::move(batch));
  return others;
}

std::string list_of(const std::vector<FreeDimension>& free) {
  std::vector<std::string> parts;
  for (const FreeDimension& dimension : free) parts.push_back(dimension.describe());
  return parts.empty() ? "none" : join(parts, ", ");
}

// Every name in `dims` must be an open dimension besides the batch, with a size of at least 1.
Result<void> check_names(const std::vector<FreeDimension>& free, const Dims& dims) {
  for (const auto& [name, size] : dims) {
    const auto found = std::find_if(free.begin(), free.end(),
                                    [&name = name](const auto& dimension) { return dimension.name == name; });
    const std::string shown = printable(name, 60);
    if (found != free.end() && found->is_batch) {
      return usage_error(fmt::format("the dimension '{}' is the model's batch: give it with --batch", shown));
    }
    if (found == free.end()) {
      std::vector<FreeDimension> others;
      std::copy_if(free.begin(), free.end(), std::back_inserter(others),
                   [](const auto& d) { return !d.is_batch; });
      return usage_error(fmt::format("the model has no open dimension '{}': open besides the batch are {}",
                                     shown, list_of(others)));
    }
    if (size < 1) {
      return usage_error(
          fmt::format("the size of dimension '{}' was expected to be 1 or more, found {}", shown, size));
    }
  }
  return {};
}

Result<void> check_complete(const std::vector<FreeDimension>& free, const Dims& dims) {
  std::vector<FreeDimension> lacking;
  for (const FreeDimension& dimension : free) {
    if (!dimension.is_batch && !dims.contains(dimension.name)) lacking.push_back(dimension);
  }
  if (lacking.empty()) return {};
  return usage_error(fmt::format("the model has {} without a size: {}; give {}, as in --dim {}=128",
                                 lacking.size() == 1 ? "an open dimension" : "open dimensions",
                                 list_of(lacking), lacking.size() == 1 ? "it one" : "each one",
                                 printable(lacking.front().name, 60)));
}

std::optional<std::int64_t> fixed_batch_of(const std::vector<TensorInfo>& inputs,
                                           const std::vector<FreeDimension>& free) {
  if (std::any_of(free.begin(), free.end(), [](const auto& dimension) { return dimension.is_batch; }))
    return std::nullopt;
  for (const TensorInfo& input : inputs) {
    if (input.dims && !input.dims->empty() && input.dims->front().size) return input.dims->front().size;
  }
  return 1;
}

Result<void> check_batch(const std::vector<TensorInfo>& inputs, const std::vector<FreeDimension>& free,
                         std::optional<std::int64_t> batch) {
  if (!batch) return {};
  if (*batch < 1) return usage_error(fmt::format("the batch was expected to be 1 or more, found {}", *batch));
  const std::optional<std::int64_t> only = fixed_batch_of(inputs, free);
  if (!only || *only == *batch) return {};
  return usage_error(
      fmt::format("the model takes batch {} only, as its first dimension is fixed, and was asked for batch "
                  "{}: use --batch {}, or export it with a dynamic batch",
                  *only, *batch, *only));
}

}  // namespace

std::string FreeDimension::describe() const {
  std::vector<std::string> parts;
  for (const Place& place : places) {
    if (parts.size() == 4) {
      parts.push_back("...");
      break;
    }
    parts.push_back(printable(place.input, 60) + " axis " + std::to_string(place.axis));
  }
  return printable(name, 60) + " (" + join(parts, ", ") + ")";
}

std::vector<FreeDimension> free_dimensions(const Model& model, const Dims& dims) {
  return find_free(view_of(model).inputs, dims);
}

std::optional<std::int64_t> fixed_batch(const Model& model, const Dims& dims) {
  const std::vector<TensorInfo> inputs = view_of(model).inputs;
  return fixed_batch_of(inputs, find_free(inputs, dims));
}

Result<void> check_dims(const Model& model, const Dims& dims) {
  const std::vector<FreeDimension> free = free_dimensions(model, dims);
  DEEPGAP_RETURN_IF_ERROR(check_names(free, dims));
  return check_complete(free, dims);
}

Result<DimsPlan> plan_dims(const std::vector<TensorInfo>& inputs, const Dims& dims,
                           std::optional<std::int64_t> batch) {
  const std::vector<FreeDimension> free = find_free(inputs, dims);
  DEEPGAP_RETURN_IF_ERROR(check_names(free, dims));
  DEEPGAP_RETURN_IF_ERROR(check_complete(free, dims));
  DEEPGAP_RETURN_IF_ERROR(check_batch(inputs, free, batch));
  const BatchRule rule = batch_rule(inputs, dims);

  DimsPlan plan;
  for (const auto& [name, size] : dims) plan.symbols[name] = size;
  for (const TensorInfo& input : inputs) {
    if (!input.dims) {
      const bool tensor = input.dtype != ops::DataType::kUnknown;
      return bad_input(
          fmt::format("input '{}' was expected to be a tensor with a known number of dimensions, found {}",
                      printable(input.name, 60),
                      tensor ? "no shape: export it with input shapes"
                             : "another type (a sequence or an optional), which deepgap cannot make: export "
                               "it with tensors as "
                               "its inputs"));
    }
    std::vector<Dim>& bound = plan.inputs.emplace_back(*input.dims);
    for (std::size_t axis = 0; axis < bound.size(); ++axis) {
      Dim& dim = bound[axis];
      if (!is_open(dim)) continue;
      if (rule.takes(input.name, dim, axis, dims)) {
        if (batch && !dim.symbol.empty()) plan.symbols[dim.symbol] = *batch;
        dim = batch ? fixed(*batch) : symbolic(dim.symbol.empty() ? "batch" : dim.symbol);
      } else {
        dim = fixed(dims.at(dim.symbol.empty() ? place_name(input.name, axis) : dim.symbol));
      }
    }
  }
  return plan;
}

Result<Model> bind_dimensions(const Model& model, const Dims& dims, std::optional<std::int64_t> batch) {
  DEEPGAP_ASSIGN(const DimsPlan plan, plan_dims(view_of(model).inputs, dims, batch));
  return model_with_dims(model, plan.inputs, plan.symbols);
}

Result<GraphView> bound_view(const Model& model, const Dims& dims, std::int64_t batch) {
  DEEPGAP_ASSIGN(const DimsPlan plan, plan_dims(view_of(model).inputs, dims, batch));
  return view_with_dims(model, plan.inputs, plan.symbols);
}

}  // namespace deepgap::graph
