#include "run/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "run/forecast.h"
#include "run/setting_values.h"

namespace deepgap::run {
namespace {

constexpr int kLargestCount = 1'000'000;  // of repeats, buffers, calls
constexpr int kMostInFlight = 4096;

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

// "" where the engine runs it.
std::string precision_fault(const EngineDescription& engine, Precision precision) {
  std::vector<std::string> known;
  for (const auto& [each, maker] : engine.precisions) {
    if (each == precision) return "";
    known.emplace_back(name_of(each));
  }
  return fmt::format("engine {} does not run {} here: expected one of {}", engine.name, name_of(precision),
                     join(known, ", "));
}

Result<void> check_engine(const SweepRequest& request, const EngineDescription& engine,
                          const MachineLimits& limits) {
  std::vector<std::string> devices;
  for (const Device& device : engine.devices) devices.push_back(device.address);
  for (const std::string& device : request.devices) {
    if (!holds(devices, device)) {
      return missing(fmt::format("engine {}: {}", engine.name, unknown_name("device", device, devices)));
    }
  }
  for (const Precision precision : request.precisions) {
    if (request.refuse_precisions) break;
    const std::string fault = precision_fault(engine, precision);
    if (!fault.empty()) return usage_error(fault);
  }
  for (const PlannedModel& model : request.models) {
    if (holds(engine.model_formats, model.format)) continue;
    return usage_error(fmt::format(
        "engine {} does not read model {}, which is of format {}: expected one of {}", engine.name,
        printable(model.name), printable(model.format), join(engine.model_formats, ", ")));
  }
  for (const auto& [name, value] : request.settings) {
    if (!holds(engine.settings, name)) {
      std::vector<std::string> known = engine.settings;
      std::sort(known.begin(), known.end());
      return usage_error(fmt::format("engine {}: {}", engine.name, unknown_name("setting", name, known)));
    }
    DEEPGAP_RETURN_IF_ERROR(check_setting(name, value, limits.cpus));
  }
  return {};
}

Result<void> check_measure(const MeasureRequest& measure) {
  const auto check = [](std::string_view name, std::int64_t value,
                        std::int64_t most = kLargestCount) -> Result<void> {
    if (value >= 1 && value <= most) return {};
    return usage_error(fmt::format("{}: expected 1 to {}, found {}", name, most, value));
  };
  DEEPGAP_RETURN_IF_ERROR(check("repeats", measure.repeats));
  DEEPGAP_RETURN_IF_ERROR(check("input buffers", measure.input_buffers));
  DEEPGAP_RETURN_IF_ERROR(check("calls in flight", measure.in_flight.value_or(1), kMostInFlight));
  DEEPGAP_RETURN_IF_ERROR(check("timed calls", measure.fixed_calls.value_or(1)));
  if (measure.fixed_warmup.value_or(0) < 0) {
    return usage_error(fmt::format("warm-up calls: expected 0 or more, found {}", *measure.fixed_warmup));
  }
  if (!(measure.target > 0)) {
    return usage_error(fmt::format("target: expected a share above 0, such as 0.01, found {}",
                                   format_number(measure.target)));
  }
  for (const auto& [name, time] :
       {std::pair("time limit", measure.time_limit), std::pair("hang limit", measure.hang_limit)}) {
    if (time <= Nanoseconds{})
      return usage_error(fmt::format("{}: expected a time above 0, found {}", name, format_duration(time)));
  }
  return {};
}

Result<void> check_request(const SweepRequest& request,
                           const std::map<std::string, EngineDescription>& engines,
                           const MachineLimits& limits) {
  DEEPGAP_RETURN_IF_ERROR(check_measure(request.measure));
  for (const PlannedModel& model : request.models) {
    if (!model.fixed_batch || (*model.fixed_batch >= 1 && *model.fixed_batch <= kLargestBatch)) continue;
    return bad_input(fmt::format(
        "model {}: it was exported for batch {} only, and batches of 1 to {} can be measured: export it "
        "with a dynamic batch",
        printable(model.name), *model.fixed_batch, kLargestBatch));
  }
  for (const std::int64_t batch : request.batches) {
    if (batch < 1 || batch > kLargestBatch) {
      return usage_error(fmt::format("batch: expected 1 to {}, found {}", kLargestBatch, batch));
    }
    for (const PlannedModel& model : request.models) {
      if (model.fixed_batch && *model.fixed_batch != batch) {
        return usage_error(fmt::format(
            "model {}: it was exported for batch {} only, found batch {}: export it with a dynamic "
            "batch, or measure --batch {}",
            printable(model.name), *model.fixed_batch, batch, *model.fixed_batch));
      }
    }
  }
  for (const std::string& engine : request.engines) {
    const auto description = engines.find(engine);
    if (description == engines.end()) {
      return internal_error(fmt::format("expected a description of engine '{}' with the request, found none",
                                        printable(engine)));
    }
    DEEPGAP_RETURN_IF_ERROR(check_engine(request, description->second, limits));
  }
  return {};
}

std::vector<PlannedCell> make_cells(const SweepRequest& request,
                                    const std::map<std::string, EngineDescription>& engines,
                                    const MachineLimits& limits) {
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
              if (std::string fault = precision_fault(engines.at(engine), precision); !fault.empty()) {
                cell.refusal = Refusal{.kind = std::string(failures::kUnsupported),
                                       .doubt = &diagnostics::kUnsupportedPrecision,
                                       .text = std::move(fault)};
                cells.push_back(std::move(cell));
                continue;
              }
              forecast_memory(planned, limits, request.measure, cell);
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

// Of the plan's visits, each its part of the cell's forecast; nothing where one has none.
std::optional<Nanoseconds> forecast_of(const SweepPlan& plan,
                                       std::optional<Nanoseconds> PlannedCell::*forecast) {
  Nanoseconds sum{};
  for (const ProcessPlan& process : plan.processes) {
    for (const Visit& visit : process.visits) {
      const std::optional<Nanoseconds>& cell = plan.cells[visit.cell].*forecast;
      if (!cell) return std::nullopt;
      const Nanoseconds part = *cell / plan.measure.repeats;
      sum = part > Nanoseconds::max() - sum ? Nanoseconds::max() : sum + part;
    }
  }
  return sum;
}

void forecast(SweepPlan& plan) {
  plan.forecast_time = forecast_of(plan, &PlannedCell::forecast_time);
  plan.forecast_most = forecast_of(plan, &PlannedCell::forecast_most);
}

}  // namespace

std::vector<ProcessPlan> plan_round(const std::vector<PlannedCell>& cells,
                                    const std::vector<std::size_t>& chosen, int repeat, std::uint64_t seed,
                                    Isolation isolation) {
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

Result<SweepPlan> plan_sweep(const SweepRequest& request,
                             const std::map<std::string, EngineDescription>& engines,
                             const MachineLimits& limits) {
  DEEPGAP_RETURN_IF_ERROR(check_request(request, engines, limits));
  SweepPlan plan{.models = request.models,
                 .cells = make_cells(request, engines, limits),
                 .measure = request.measure,
                 .seed = request.seed};
  std::vector<std::size_t> fitting;
  for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
    if (!plan.cells[cell].refusal) fitting.push_back(cell);
  }
  for (int repeat = 0; repeat < plan.measure.repeats; ++repeat) {
    for (ProcessPlan& process : plan_round(plan.cells, fitting, repeat, plan.seed, plan.measure.isolation)) {
      plan.processes.push_back(std::move(process));
    }
  }
  forecast(plan);
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
  forecast(left);
  return left;
}

}  // namespace deepgap::run
