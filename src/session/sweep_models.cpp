#include "session/sweep_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>

#include "base/text.h"
#include "graph/builtin.h"
#include "graph/dims.h"
#include "graph/inputs.h"
#include "graph/model_file.h"
#include "graph/summary.h"

namespace deepgap::session {

Result<void> go_on(const Environment& environment) {
  if (environment.stop == nullptr || environment.stop->level() == StopLevel::kNone) return {};
  return Error(ErrorKind::kCancelled, "stopped by the user before anything was measured");
}

namespace {

// Seed of built-in weights: one for everybody, so that a model's hash is the same everywhere.
constexpr std::uint64_t kWeightSeed = 1;

// The range that a worker draws an input's values from, uniformly, in [low, high) (docs/worker-protocol.md).
std::pair<double, double> value_range(const graph::InputSpec& spec) {
  switch (spec.kind) {
    case graph::InputKind::kNormal:
      return {-std::sqrt(3.0), std::sqrt(3.0)};  // uniform with mean 0 and variance 1
    case graph::InputKind::kUniform:
      return {spec.lower, spec.upper};
    case graph::InputKind::kIntegers:
      return {spec.lower, spec.upper + 1};
    case graph::InputKind::kBits:
      return {0, 2};
    case graph::InputKind::kOnes:
      return {1, 2};
  }
  return {0, 1};
}

// The inputs with PlannedModel::kBatch where the batch stands: where two batches give different sizes.
Result<std::vector<run::TensorSpec>> planned_inputs(const graph::Model& model, const graph::Dims& dims,
                                                    bool open_batch, std::int64_t batch) {
  DEEPGAP_ASSIGN(const std::vector<graph::InputSpec> specs, graph::input_specs(model, dims, batch));
  std::vector<graph::InputSpec> other = specs;
  if (open_batch) {
    DEEPGAP_ASSIGN(other, graph::input_specs(model, dims, batch + 1));
  }
  std::vector<run::TensorSpec> inputs;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto [low, high] = value_range(specs[i]);
    run::TensorSpec input{
        .name = specs[i].name, .dtype = std::string(ops::name_of(specs[i].dtype)), .low = low, .high = high};
    for (std::size_t axis = 0; axis < specs[i].shape.size(); ++axis) {
      const bool is_batch = specs[i].shape[axis] != other[i].shape[axis];
      input.shape.push_back(is_batch ? run::PlannedModel::kBatch : specs[i].shape[axis]);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

// What a user should know of a model of their own before believing its numbers.
std::vector<std::string> remarks_on(const graph::Model& model) {
  const graph::ModelInfo info = model.info();
  std::vector<std::string> remarks;
  for (const std::string& remark : info.remarks) remarks.push_back(printable(remark));
  if (!info.custom_operators.empty()) {
    remarks.push_back("operators that only some engines know, and whose cost is not known: " +
                      printable(join(info.custom_operators, ", ")));
  }
  return remarks;
}

// The document must not take the place of the model or of what belongs to it: neither is named on a command
// line that resumes, and weights beside a model never are.
Result<void> check_output(const graph::ModelFile& file, const Environment& environment) {
  if (!environment.is_output) return {};
  std::vector<std::string> taken{file.path};
  const std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
  for (const std::string& weights : file.model.info().external_files)
    taken.push_back((folder / weights).string());
  for (const std::string& path : taken) {
    if (!environment.is_output(path)) continue;
    return usage_error(fmt::format(
        "-o: expected a file of its own for the document, found {}, which belongs to the model {} and "
        "would be lost; name another file",
        printable(path), printable(file.name)));
  }
  return {};
}

Result<run::PlannedModel> planned_model(const std::string& name, const graph::Dims& dims,
                                        const Environment& environment) {
  DEEPGAP_ASSIGN(graph::ModelFile file,
                 graph::materialise(name, dims, kWeightSeed, environment.cache_folder));
  DEEPGAP_RETURN_IF_ERROR(check_output(file, environment));
  const UninterruptibleStage stage;
  std::vector<std::string> remarks = remarks_on(file.model);
  if (environment.say) {
    for (const std::string& remark : remarks) environment.say(fmt::format("model {}: {}", file.name, remark));
  }
  run::PlannedModel planned{.name = file.name,
                            .path = file.path,
                            .hash = file.hash,
                            .dims = file.dims,
                            .remarks = std::move(remarks),
                            .fixed_batch = graph::fixed_batch(file.model, file.open_dims)};
  const std::int64_t smallest = planned.fixed_batch.value_or(1);
  DEEPGAP_ASSIGN(planned.inputs, planned_inputs(file.model, file.open_dims, !planned.fixed_batch, smallest));
  DEEPGAP_ASSIGN(const graph::ModelSummary summary, graph::analyse(file.model, smallest, file.open_dims));
  const auto samples = static_cast<double>(smallest);
  planned.flops_per_sample = static_cast<double>(summary.known_flops.value) / samples;
  planned.weight_bytes = static_cast<double>(summary.parameter_bytes.value);
  if (summary.peak_activation_bytes) {
    planned.activation_bytes_per_sample = static_cast<double>(summary.peak_activation_bytes->value) / samples;
  }
  return planned;
}

// The error with the model's name, which most errors of the graph hold already.
template <typename T>
Result<T> in_model(const std::string& name, Result<T> result) {
  const std::string quoted = "'" + printable(name) + "'";
  if (result.ok() || result.error().message().find(quoted) != std::string::npos) return result;
  return std::move(result).in("model " + quoted);
}

// A file that is called like a built-in model goes before it: said, as it may lie there by chance.
void tell_of_shadow(const std::string& name, const Environment& environment) {
  const std::string file = std::filesystem::path(name).filename().string();
  if (!environment.say || file == name || graph::find_builtin(file) == nullptr) return;
  environment.say(fmt::format("model {}: the file '{}' is meant, not the built-in model of that name", file,
                              printable(name)));
}

// Of the dimensions that a user gave, those that this model has; the others may be another model's.
Result<graph::Dims> dims_of(const std::string& name, const graph::Dims& given) {
  std::error_code error;
  if (graph::find_builtin(name) == nullptr && !std::filesystem::exists(name, error))
    return given;  // said later
  std::set<std::string, std::less<>> has;
  if (const graph::BuiltinModel* const builtin = graph::find_builtin(name)) {
    for (const graph::BuiltinParameter& parameter : builtin->parameters) has.emplace(parameter.name);
  } else {
    DEEPGAP_ASSIGN(const graph::Model model, uninterruptible([&] { return graph::read_model(name); }));
    for (const graph::FreeDimension& dimension : graph::free_dimensions(model)) has.insert(dimension.name);
  }
  graph::Dims dims;
  for (const auto& [dimension, size] : given) {
    if (has.contains(dimension)) dims.emplace(dimension, size);
  }
  return dims;
}

}  // namespace

Result<std::vector<run::PlannedModel>> sweep_models(const std::vector<std::string>& names,
                                                    const std::map<std::string, std::int64_t>& dims,
                                                    const Environment& environment) {
  std::vector<run::PlannedModel> models;
  std::set<std::string> seen;
  std::set<std::string, std::less<>> used;  // dimensions that some model has
  for (const std::string& name : names) {
    DEEPGAP_RETURN_IF_ERROR(go_on(environment));
    if (!seen.insert(name).second)
      return usage_error(fmt::format("model '{}' is given twice", printable(name)));
    if (environment.say && graph::find_builtin(name) != nullptr)
      environment.say(fmt::format("model {}", name));
    tell_of_shadow(name, environment);
    graph::Dims own = dims;
    if (names.size() > 1 && !dims.empty()) {
      DEEPGAP_ASSIGN(own, in_model(name, dims_of(name, dims)));
    }
    for (const auto& [dimension, size] : own) used.insert(dimension);
    DEEPGAP_ASSIGN(run::PlannedModel model, in_model(name, planned_model(name, own, environment)));
    const auto same_name = [&model](const run::PlannedModel& other) { return other.name == model.name; };
    if (std::any_of(models.begin(), models.end(), same_name)) {
      return usage_error(fmt::format(
          "two models are called '{}': rename one of the files, their cells could not be told apart",
          printable(model.name)));
    }
    models.push_back(std::move(model));
  }
  for (const auto& [dimension, size] : dims) {
    if (!used.contains(dimension)) {
      return usage_error(fmt::format("--dim {}={}: none of the models has a dimension of this name",
                                     printable(dimension), size));
    }
  }
  return models;
}

}  // namespace deepgap::session
