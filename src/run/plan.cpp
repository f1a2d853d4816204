#include "run/plan.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "base/random.h"
#include "base/text.h"

namespace deepgap::run {
namespace {

constexpr std::int64_t kLargestBatch = 1'000'000;
// Forecasts are for warnings and for refusing what cannot work: coarse on purpose.
constexpr double kProcessBytes = 150e6;       // a worker with its engine and no model
constexpr double kWeightCopies = 2;           // the engine's own layout beside the file's
constexpr Nanoseconds kLoadTime = std::chrono::seconds(1);
constexpr double kShareOfMemory = 0.95;       // the rest is for the system
constexpr Nanoseconds kShortestCall = std::chrono::microseconds(50);

template <typename T>
bool holds(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

struct Group {
  std::string engine;
  std::size_t model = 0;
  std::string device;
  Precision precision = Precision::kFp32;

  auto operator<=>(const Group&) const = default;
};

Group group_of(const PlannedCell& cell) {
  return {cell.key.engine, cell.model, cell.key.device, cell.key.workload.precision};
}

Result<void> check_engine(const SweepRequest& request, const EngineDescription& engine) {
  std::vector<std::string> devices;
  for (const Device& device : engine.devices) devices.push_back(device.address);
  for (const std::string& device : request.devices) {
    if (!holds(devices, device)) {
      return missing(fmt::format("engine {}: {}", engine.name, unknown_name("device", device, devices)));
    }
  }
  std::vector<std::string> precisions;
  for (const auto& [precision, maker] : engine.precisions) precisions.emplace_back(name_of(precision));
  for (const Precision precision : request.precisions) {
    if (holds(precisions, std::string(name_of(precision)))) continue;
    return usage_error(fmt::format("engine {} does not run precision {}: expected one of {}", engine.name, name_of(precision),
                                   join(precisions, ", ")));
  }
  for (const auto& [name, value] : request.settings) {
    if (holds(engine.settings, name)) continue;
    std::vector<std::string> known = engine.settings;
    std::sort(known.begin(), known.end());
    return usage_error(fmt::format("engine {}: {}", engine.name, unknown_name("setting", name, known)));
  }
  return {};
}

Result<void> check_request(const SweepRequest& request, const std::map<std::string, EngineDescription>& engines) {
  for (const std::int64_t batch : request.batches) {
    if (batch < 1 || batch > kLargestBatch) {
      return usage_error(fmt::format("batch: expected 1 to {}, found {}", kLargestBatch, batch));
    }
    for (const PlannedModel& model : request.models) {
      if (model.fixed_batch && *model.fixed_batch != batch) {
        return usage_error(fmt::format("model {}: it was exported for batch {} only, found batch {}: export it with a dynamic "
                                       "batch, or measure --batch {}", printable(model.name), *model.fixed_batch, batch,
                                       *model.fixed_batch));
      }
    }
  }
  for (const std::string& engine : request.engines) DEEPGAP_RETURN_IF_ERROR(check_engine(request, engines.at(engine)));
  return {};
}

void forecast_memory(const PlannedModel& model, const MachineLimits& limits, PlannedCell& cell) {
  if (!model.weight_bytes || !model.activation_bytes_per_sample) return;
  const auto batch = static_cast<double>(cell.key.workload.batch);
  const double activations = *model.activation_bytes_per_sample * batch;
  const double likely = kProcessBytes + kWeightCopies * *model.weight_bytes + activations;
  cell.forecast_memory = Bytes{static_cast<std::int64_t>(likely)};
  const double least = *model.weight_bytes + activations;
  if (limits.available_memory && least > kShareOfMemory * static_cast<double>(limits.available_memory->value)) {
    cell.fits = false;
    cell.refusal = fmt::format("batch {} needs at least {} (weights and the largest set of live activations), {} are available: "
                               "not tried; a smaller batch fits", cell.key.workload.batch,
                               format_bytes(Bytes{static_cast<std::int64_t>(least)}), format_bytes(*limits.available_memory));
  }
}

void forecast_time(const PlannedModel& model, const MachineLimits& limits, const MeasureRequest& measure, PlannedCell& cell) {
  if (!model.flops_per_sample || !limits.flops_per_second) return;
  const double call_s = *model.flops_per_sample * static_cast<double>(cell.key.workload.batch) / *limits.flops_per_second;
  const double call_ns = std::max(call_s * 1e9, static_cast<double>(kShortestCall.count()));
  double visit_ns = 0;
  if (measure.fixed_calls) {
    visit_ns = call_ns * static_cast<double>(*measure.fixed_calls + measure.fixed_warmup.value_or(0));
  } else {
    // One call at least, however long; otherwise the limit is what a noisy cell takes.
    visit_ns = std::max(call_ns * 2, static_cast<double>(measure.time_limit.count()) / measure.repeats);
  }
  const double cell_ns = (visit_ns + static_cast<double>(kLoadTime.count())) * measure.repeats;
  constexpr double kLongest = 9e18;
  cell.forecast_time = Nanoseconds{static_cast<std::int64_t>(std::min(cell_ns, kLongest))};
  if (*cell.forecast_time > measure.patience) {
    cell.note = fmt::format("takes some {}: longer than {}", format_duration(*cell.forecast_time), format_duration(measure.patience));
  }
}

std::vector<PlannedCell> make_cells(const SweepRequest& request, const MachineLimits& limits) {
  std::vector<PlannedCell> cells;
  std::set<CellKey> seen;
  for (std::size_t model = 0; model < request.models.size(); ++model) {
    const PlannedModel& planned = request.models[model];
    for (const std::string& engine : request.engines) {
      for (const std::string& device : request.devices) {
        for (const Precision precision : request.precisions) {
          for (const std::int64_t batch : request.batches) {
            for (const Mode mode : request.modes) {
              PlannedCell cell{.key = {.workload = {.model = planned.name,
                                                    .model_hash = planned.hash,
                                                    .dims = planned.dims,
                                                    .batch = batch,
                                                    .precision = precision,
                                                    .mode = mode},
                                       .engine = engine,
                                       .device = device},
                               .model = model,
                               .settings = request.settings};
              if (!seen.insert(cell.key).second) continue;  // a batch that was named twice
              forecast_memory(planned, limits, cell);
              forecast_time(planned, limits, request.measure, cell);
              cells.push_back(std::move(cell));
            }
          }
        }
      }
    }
  }
  return cells;
}

}  // namespace

std::vector<ProcessPlan> plan_round(const std::vector<PlannedCell>& cells, const std::vector<std::size_t>& chosen, int repeat,
                                    std::uint64_t seed, Isolation isolation) {
  Random random = Random(seed).fork(static_cast<std::uint64_t>(repeat));
  std::map<Group, std::vector<std::size_t>> groups;
  for (const std::size_t cell : chosen) groups[group_of(cells[cell])].push_back(cell);
  std::vector<ProcessPlan> processes;
  for (auto& [group, members] : groups) {
    random.shuffle(std::span(members));
    ProcessPlan process{.engine = group.engine};
    for (const std::size_t cell : members) {
      process.visits.push_back({.cell = cell, .repeat = repeat});
      if (isolation == Isolation::kCell) {
        processes.push_back(std::move(process));
        process = {.engine = group.engine};
      }
    }
    if (!process.visits.empty()) processes.push_back(std::move(process));
  }
  random.shuffle(std::span(processes));
  return processes;
}

Result<SweepPlan> plan_sweep(const SweepRequest& request, const std::map<std::string, EngineDescription>& engines,
                             const MachineLimits& limits) {
  DEEPGAP_RETURN_IF_ERROR(check_request(request, engines));
  SweepPlan plan{.models = request.models, .cells = make_cells(request, limits), .measure = request.measure, .seed = request.seed};
  std::vector<std::size_t> fitting;
  for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
    if (plan.cells[cell].fits) fitting.push_back(cell);
  }
  for (int repeat = 0; repeat < plan.measure.repeats; ++repeat) {
    for (ProcessPlan& process : plan_round(plan.cells, fitting, repeat, plan.seed, plan.measure.isolation)) {
      plan.processes.push_back(std::move(process));
    }
  }
  Nanoseconds total{};
  bool known = !fitting.empty();
  for (const std::size_t cell : fitting) {
    known = known && plan.cells[cell].forecast_time.has_value();
    if (known) total += *plan.cells[cell].forecast_time;
  }
  if (known) plan.forecast_time = total;
  return plan;
}

SweepPlan remaining(const SweepPlan& plan, const std::map<CellKey, int>& processes_done) {
  SweepPlan left = plan;
  left.processes.clear();
  for (const ProcessPlan& process : plan.processes) {
    ProcessPlan kept{.engine = process.engine};
    for (const Visit& visit : process.visits) {
      const auto done = processes_done.find(plan.cells[visit.cell].key);
      if (done == processes_done.end() || visit.repeat >= done->second) kept.visits.push_back(visit);
    }
    if (!kept.visits.empty()) left.processes.push_back(std::move(kept));
  }
  return left;
}

}  // namespace deepgap::run
