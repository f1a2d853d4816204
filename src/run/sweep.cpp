#include "run/sweep.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "hw/load_watch.h"
#include "stats/nested.h"

namespace deepgap::run {
namespace {

// The nested half-width of a cell's median, relative, from the processes so far.
std::optional<double> relative_half_width(const std::vector<std::vector<std::int64_t>>& processes) {
  const std::vector<stats::ProcessSamples> spans(processes.begin(), processes.end());
  const std::optional<stats::Estimated> median = stats::nested_median(spans);
  if (!median || !median->lower || !median->upper || median->value <= 0) return std::nullopt;
  return (*median->upper - *median->lower) / 2 / median->value;
}

class SweepRunner {
 public:
  SweepRunner(const SweepPlan& plan, const SweepDependencies& dependencies)
      : plan_(plan), on_(dependencies), samples_(plan.cells.size()) {}

  Result<SweepOutcome> run() {
    for (const ProcessPlan& process : plan_.processes) visits_ += process.visits.size();
    int last_repeat = plan_.measure.repeats - 1;
    for (const ProcessPlan& process : plan_.processes) {
      for (const Visit& visit : process.visits) last_repeat = std::max(last_repeat, visit.repeat);
      DEEPGAP_RETURN_IF_ERROR(run_process(process));
    }
    // Cells whose processes differ too much for the target get further rounds.
    for (int repeat = last_repeat + 1; repeat < plan_.measure.most_repeats && !stopped(); ++repeat) {
      const std::vector<std::size_t> wide = cells_beyond_target();
      if (wide.empty()) break;
      visits_ += wide.size();
      for (const ProcessPlan& process : plan_round(plan_.cells, wide, repeat, plan_.seed, plan_.measure.isolation)) {
        DEEPGAP_RETURN_IF_ERROR(run_process(process));
      }
    }
    outcome_.cancelled = stopped();
    return outcome_;
  }

 private:
  bool stopped() const { return on_.stop->level() != StopLevel::kNone; }

  std::vector<std::size_t> cells_beyond_target() const {
    std::vector<std::size_t> wide;
    for (std::size_t cell = 0; cell < plan_.cells.size(); ++cell) {
      if (samples_[cell].empty() || given_up_.contains(cell)) continue;
      const std::optional<double> width = relative_half_width(samples_[cell]);
      if (!width || *width > plan_.measure.target) wide.push_back(cell);
    }
    return wide;
  }

  // A process plan in one worker, or in several where one is lost between.
  Result<void> run_process(const ProcessPlan& process) {
    std::optional<WorkerClient> worker;
    const WorkerProgram& program = on_.workers.at(process.engine);
    for (const Visit& visit : process.visits) {
      if (stopped()) return {};
      const PlannedCell& cell = plan_.cells[visit.cell];
      ++visit_number_;
      if (given_up_.contains(visit.cell)) continue;
      on_.observer->visit_started(cell, visit, visit_number_, visits_);
      if (!worker) {
        Result<WorkerClient> started = WorkerClient::start(program, next_log(process.engine), plan_.measure.hang_limit);
        if (!started.ok()) {
          DEEPGAP_RETURN_IF_ERROR(fail(visit, {.kind = "crash", .text = started.error().message()}, false));
          continue;
        }
        worker.emplace(std::move(*started));
      }
      DEEPGAP_ASSIGN(const bool usable, run_visit(*worker, visit));
      if (!usable) worker.reset();
    }
    return {};
  }

  std::string next_log(const std::string& engine) {
    if (on_.log_folder.empty()) return {};
    const std::string path = fmt::format("{}/{}-{}.log", on_.log_folder, engine, log_number_++ % kLogsKept);
    std::remove(path.c_str());
    return path;
  }

  LoadRequest load_request(const PlannedCell& cell) const {
    const PlannedModel& model = plan_.models[cell.model];
    const Workload& workload = cell.key.workload;
    LoadRequest request{.model_path = model.path,
                        .model_format = model.format,
                        .model_name = model.name,
                        .model_hash = model.hash,
                        .device = cell.key.device,
                        .precision = workload.precision,
                        .mode = workload.mode,
                        .batch = workload.batch,
                        .inputs = model.inputs,
                        .input_buffers = plan_.measure.input_buffers,
                        .seed = plan_.seed,
                        .in_flight = plan_.measure.in_flight,
                        .settings = cell.settings};
    for (TensorSpec& input : request.inputs) {
      std::replace(input.shape.begin(), input.shape.end(), PlannedModel::kBatch, workload.batch);
    }
    return request;
  }

  // Loads and measures; false: the worker is gone. Errors are the sink's.
  Result<bool> run_visit(WorkerClient& worker, const Visit& visit) {
    const PlannedCell& cell = plan_.cells[visit.cell];
    on_.observer->progress(cell, {.phase = "load"});
    WorkerResult<WorkerClient::Loaded> loaded = worker.load(load_request(cell), *on_.stop);
    if (auto* trouble = std::get_if<WorkerTrouble>(&loaded)) return end_in_trouble(visit, std::move(*trouble));
    const WorkerClient::Loaded& load = std::get<WorkerClient::Loaded>(loaded);
    const Mode mode = cell.key.workload.mode;
    const int in_flight =
        mode == Mode::kThroughput ? std::min(plan_.measure.in_flight.value_or(load.reply.slots), load.reply.slots) : 1;

    hw::CpuLoadWatch watch(*on_.files, *on_.clock, {.worker_pids = {worker.pid()}});
    watch.start();
    WorkerResult<WorkerClient::Measured> measured =
        worker.measure(mode, plan_.measure, plan_.measure.time_limit / plan_.measure.repeats, in_flight, *on_.stop,
                       [this, &cell](const Progress& progress) { on_.observer->progress(cell, progress); });
    const hw::LoadReport report = watch.stop();
    if (auto* trouble = std::get_if<WorkerTrouble>(&measured)) return end_in_trouble(visit, std::move(*trouble));

    WorkerClient::Measured& result = std::get<WorkerClient::Measured>(measured);
    result.process.index = visit.repeat;
    result.process.load_time = load.load_time;
    const std::vector<Diagnostic> diagnostics = diagnostics_of(cell, result, load.reply, report);
    DEEPGAP_RETURN_IF_ERROR(on_.sink->visit_done(cell, result.process, settings_of(load.reply, in_flight), diagnostics, report.telemetry));
    samples_[visit.cell].push_back(std::move(result.process.samples.host_ns));
    ++outcome_.visits_done;
    on_.observer->visit_ended(cell, visit, nullptr);
    return true;
  }

  Result<bool> end_in_trouble(const Visit& visit, WorkerTrouble trouble) {
    const bool usable = !trouble.worker_lost;
    DEEPGAP_RETURN_IF_ERROR(fail(visit, std::move(trouble.failure), trouble.model_lost));
    return usable;
  }

  Result<void> fail(const Visit& visit, CellFailure failure, bool model_lost) {
    const PlannedCell& cell = plan_.cells[visit.cell];
    if (failure.kind == "cancelled") return {};  // the visit in flight is dropped; what was stored stays
    const DiagnosticKind& kind = failure.kind == "out_of_memory" ? diagnostics::kOutOfMemory : diagnostics::kWorkerLost;
    std::vector<Diagnostic> diagnostics;
    if (!is_for_good(failure) || failure.kind == "out_of_memory") {
      diagnostics.push_back(diagnose(kind, cell.key.selector(), failure.text));
    }
    DEEPGAP_RETURN_IF_ERROR(on_.sink->visit_failed(cell, visit.repeat, failure, diagnostics));
    ++outcome_.visits_failed;
    if (is_for_good(failure)) given_up_.insert(visit.cell);
    on_.observer->visit_ended(cell, visit, &failure);
    if (!model_lost) return {};
    // Every other cell of the model would fail alike: each gets the same reason once, and is not tried.
    for (std::size_t other = 0; other < plan_.cells.size(); ++other) {
      const PlannedCell& sibling = plan_.cells[other];
      if (sibling.model != cell.model || sibling.key.engine != cell.key.engine || !sibling.fits) continue;
      if (!given_up_.insert(other).second) continue;
      DEEPGAP_RETURN_IF_ERROR(on_.sink->visit_failed(sibling, visit.repeat, failure, {}));
      ++outcome_.visits_failed;
    }
    return {};
  }

  std::vector<Setting> settings_of(const LoadReply& reply, int in_flight) const {
    const MeasureRequest& measure = plan_.measure;
    const auto row = [](std::string_view name, std::optional<std::string> requested, std::string effective) {
      return Setting{.name = std::string(name), .requested = std::move(requested), .effective = std::move(effective)};
    };
    std::vector<Setting> settings = reply.settings;
    std::optional<std::string> asked;
    if (measure.in_flight) asked = std::to_string(*measure.in_flight);
    settings.push_back(row(settings::kInFlight, asked, std::to_string(in_flight)));
    settings.push_back(row(settings::kInputs, {}, "seeded random"));
    settings.push_back(row(settings::kInputBuffers, std::to_string(measure.input_buffers), std::to_string(measure.input_buffers)));
    settings.push_back(row(settings::kSeed, std::to_string(plan_.seed), std::to_string(plan_.seed)));
    settings.push_back(row(settings::kProtocol, {},
                           measure.fixed_calls ? fmt::format("published: {} warm-up and {} timed calls", measure.fixed_warmup.value_or(0),
                                                             *measure.fixed_calls)
                                               : std::string("stopping rule")));
    if (!measure.fixed_calls) {
      settings.push_back(row(settings::kTimeLimit, {}, format_duration(measure.time_limit)));
      settings.push_back(row(settings::kTarget, {}, format_number(measure.target)));
    }
    return settings;
  }

  std::vector<Diagnostic> diagnostics_of(const PlannedCell& cell, const WorkerClient::Measured& result, const LoadReply& reply,
                                         const hw::LoadReport& report) const {
    const std::string where = cell.key.selector();
    std::vector<Diagnostic> found = hw::judge(report, where);
    if (!result.warmup_steady && !plan_.measure.fixed_calls) {
      found.push_back(diagnose(diagnostics::kNotSteady, where,
                               fmt::format("the time still drifted when warm-up ended after {} calls", result.process.warmup_calls)));
    }
    if (result.process.stop_reason == StopReason::kTimeLimit && !plan_.measure.fixed_calls) {
      found.push_back(diagnose(diagnostics::kPrecisionNotReached, where,
                               fmt::format("stopped after {} calls at the time limit, before the interval was within {} %",
                                           result.process.samples.size(), format_number(plan_.measure.target * 100))));
    }
    for (const Setting& setting : reply.settings) {
      if (!setting.requested || !setting.effective || *setting.requested == *setting.effective) continue;
      found.push_back(diagnose(diagnostics::kSettingNotEffective, where,
                               fmt::format("{}: requested {}, effective {}", setting.name, *setting.requested, *setting.effective)));
    }
    return found;
  }

  static constexpr int kLogsKept = 64;

  const SweepPlan& plan_;
  const SweepDependencies& on_;
  std::vector<std::vector<std::vector<std::int64_t>>> samples_;  // by cell: host times of each process of this run
  std::set<std::size_t> given_up_;                               // cells that failed for good
  SweepOutcome outcome_;
  std::size_t visit_number_ = 0;
  std::size_t visits_ = 0;
  int log_number_ = 0;
};

}  // namespace

bool is_for_good(const CellFailure& failure) {
  return failure.kind == "unsupported" || failure.kind == "bad_request" || failure.kind == "bad_model" ||
         failure.kind == "out_of_memory" || failure.kind == "refused";
}

Result<SweepOutcome> run_sweep(const SweepPlan& plan, const SweepDependencies& dependencies) {
  return SweepRunner(plan, dependencies).run();
}

}  // namespace deepgap::run
