#include "run/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "base/cpu_list.h"
#include "base/hash.h"
#include "hw/load_watch.h"
#include "run/sweep_cells.h"
#include "run/visit_record.h"
#include "run/worker_log.h"
#include "stats/stopping.h"

namespace deepgap::run {
namespace {

constexpr int kStartTries = 3;  // of an engine's worker in a row, before the engine is given up

// A worker and whether it is known to work.
struct Server {
  std::optional<WorkerClient> worker;
  Nanoseconds start_time{};
  int visits = 0;  // that it has served
};

class SweepRunner {
 public:
  SweepRunner(const SweepPlan& plan, const SweepDependencies& dependencies)
      : plan_(plan), on_(dependencies), cells_(plan), run_id_(new_random_hex(12)) {
    if (on_.clock == nullptr) on_.clock = &own_clock_;
    if (on_.observer == nullptr) on_.observer = &own_observer_;
    if (on_.stop == nullptr) on_.stop = &own_stop_;
  }
  SweepRunner(const SweepRunner&) = delete;
  SweepRunner& operator=(const SweepRunner&) = delete;

  Result<SweepOutcome> run() {
    DEEPGAP_RETURN_IF_ERROR(prepare());
    DEEPGAP_RETURN_IF_ERROR(run_planned_rounds());
    if (!outcome_.cancelled) DEEPGAP_RETURN_IF_ERROR(run_further_rounds());
    if (outcome_.cancelled) {
      DEEPGAP_RETURN_IF_ERROR(tell_unfinished());
      return outcome_;
    }
    if (!any_started_ && !start_error_.empty()) return missing("no worker could be started: " + start_error_);
    return outcome_;
  }

  std::int64_t visits_done() const { return outcome_.visits_done; }

 private:
  bool stopped() const { return on_.stop->level() != StopLevel::kNone; }

  Result<void> prepare() {
    if (on_.sink == nullptr) return internal_error("expected a sink for the visits of a sweep, found none");
    for (const ProcessPlan& process : plan_.processes) {
      if (!on_.workers.contains(process.engine))
        return internal_error(fmt::format("expected a worker of engine '{}', found none", process.engine));
    }
    if (!on_.log_folder.empty()) remove_old_logs(on_.log_folder);
    for (std::size_t cell = 0; cell < plan_.cells.size(); ++cell) {
      if (plan_.cells[cell].refusal) continue;
      DEEPGAP_ASSIGN(const std::vector<ProcessRun> earlier, on_.sink->earlier(plan_.cells[cell]));
      for (const ProcessRun& process : earlier) cells_.add_process(cell, process);
    }
    return {};
  }

  Result<void> run_planned_rounds() {
    for (const ProcessPlan& process : plan_.processes) {
      DEEPGAP_RETURN_IF_ERROR(run_process(process));
      if (outcome_.cancelled) break;
    }
    return {};
  }

  // Cells with samples that have fewer processes than planned since the user stopped.
  Result<void> tell_unfinished() {
    const int planned = plan_.measure.repeats;
    for (std::size_t index = 0; index < plan_.cells.size(); ++index) {
      const PlannedCell& cell = plan_.cells[index];
      const int measured = cells_.processes(index);
      if (cells_.given_up(index) || measured == 0 || measured >= planned) continue;
      DEEPGAP_RETURN_IF_ERROR(on_.sink->cell_ended(
          cell, {diagnose(diagnostics::kCancelled, cell.key.selector(),
                          fmt::format("the user stopped the run when {} of {} processes were measured",
                                      measured, planned))}));
    }
    return {};
  }

  // Cells whose processes differ too much for the target get more of them.
  Result<void> run_further_rounds() {
    for (;;) {
      const std::vector<std::size_t> wide = cells_.beyond_target();
      if (wide.empty()) return {};
      int round = 0;
      for (const std::size_t cell : wide) round = std::max(round, cells_.tries(cell));
      std::vector<ProcessPlan> processes =
          plan_round(plan_.cells, wide, round, plan_.seed, plan_.measure.isolation);
      for (const std::size_t cell : wide) cells_.expect_visit(cell);
      for (ProcessPlan& process : processes) {
        for (Visit& visit : process.visits) visit.repeat = cells_.tries(visit.cell);
        DEEPGAP_RETURN_IF_ERROR(run_process(process));
        if (outcome_.cancelled) return {};
      }
    }
  }

  // A process plan in one worker, or in several where one is lost between.
  Result<void> run_process(const ProcessPlan& process) {
    Server server;
    for (const Visit& visit : process.visits) {
      if (cells_.given_up(visit.cell)) continue;
      if (stopped()) {
        outcome_.cancelled = true;
        return {};
      }
      cells_.begin_visit(visit.cell);
      ++visits_begun_;
      on_.observer->visit_started(plan_.cells[visit.cell], visit, visits_begun_,
                                  visits_begun_ + cells_.visits_to_come());
      DEEPGAP_RETURN_IF_ERROR(run_visit(server, process.engine, visit));
      if (outcome_.cancelled) return {};
    }
    return {};
  }

  // Errors are the sink's.
  Result<void> run_visit(Server& server, const std::string& engine, const Visit& visit) {
    const PlannedCell& cell = plan_.cells[visit.cell];
    std::vector<Diagnostic> doubts;
    for (;;) {
      if (server.worker) {
        if (const std::optional<WorkerTrouble> ended = server.worker->ended_between()) {
          doubts.push_back(replaced(cell, ended->failure));
          server.worker.reset();
        }
      }
      if (!server.worker) {
        if (const std::optional<WorkerTrouble> trouble = start_worker(server, engine))
          return fail_to_start(engine, visit, trouble->failure);
      }
      on_.observer->progress(cell, {.phase = "load"});
      WorkerResult<WorkerClient::Loaded> loaded = server.worker->load(load_request(cell), *on_.stop);
      if (auto* trouble = std::get_if<WorkerTrouble>(&loaded)) {
        // A worker that had served may have ended before the request reached it: the cell is not to blame
        // yet.
        if (trouble->failure.kind == "crash" && server.visits > 0) {
          doubts.push_back(replaced(cell, trouble->failure));
          server = {};
          continue;
        }
        return end_in_trouble(server, visit, *trouble);
      }
      return measure(server, visit, std::get<WorkerClient::Loaded>(loaded), std::move(doubts));
    }
  }

  static Diagnostic replaced(const PlannedCell& cell, const CellFailure& failure) {
    return diagnose(diagnostics::kWorkerLost, cell.key.selector(),
                    failure.text + "; a fresh one took over, nothing was lost");
  }

  std::optional<WorkerTrouble> start_worker(Server& server, const std::string& engine) {
    WorkerOptions options{
        .hang_limit = plan_.measure.hang_limit, .files = on_.files, .on_stop_asked = [this] {
          if (!std::exchange(stop_told_, true)) on_.observer->stop_asked();
        }};
    if (!on_.log_folder.empty())
      options.log_path = worker_log_path(on_.log_folder, engine, run_id_, log_number_++);
    const Nanoseconds begun_at = on_.clock->monotonic();
    WorkerResult<WorkerClient> started = WorkerClient::start(on_.workers.at(engine), options, *on_.stop);
    if (auto* trouble = std::get_if<WorkerTrouble>(&started)) return std::move(*trouble);
    server = {.worker = std::move(std::get<WorkerClient>(started)),
              .start_time = on_.clock->monotonic() - begun_at};
    failed_starts_[engine] = 0;
    any_started_ = true;
    return std::nullopt;
  }

  Result<void> fail_to_start(const std::string& engine, const Visit& visit, const CellFailure& failure) {
    DEEPGAP_RETURN_IF_ERROR(fail(visit, failure));
    start_error_ = failure.text;
    if (outcome_.cancelled || ++failed_starts_[engine] < kStartTries) return {};
    return give_up_cells(visit, failure, {},
                         [&engine](const PlannedCell& other) { return other.key.engine == engine; });
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
                        .settings = cell.settings};
    if (workload.mode == Mode::kThroughput) request.in_flight = plan_.measure.in_flight;
    for (TensorSpec& input : request.inputs) {
      std::replace(input.shape.begin(), input.shape.end(), PlannedModel::kBatch, workload.batch);
    }
    return request;
  }

  // The CPUs that an engine says it is pinned to, else those that the run may use.
  std::vector<int> watched_cpus(const std::vector<Setting>& settings) const {
    for (const Setting& setting : settings) {
      if (setting.name != settings::kAffinity || !setting.effective) continue;
      std::optional<std::vector<int>> cpus = parse_cpu_list(*setting.effective);
      if (cpus && !cpus->empty()) return std::move(*cpus);
    }
    return on_.cpus;
  }

  Result<void> measure(Server& server, const Visit& visit, const WorkerClient::Loaded& load,
                       std::vector<Diagnostic> diagnostics) {
    const PlannedCell& cell = plan_.cells[visit.cell];
    const Mode mode = cell.key.workload.mode;
    const int slots = load.reply.slots;
    const int in_flight =
        mode == Mode::kThroughput ? std::min(plan_.measure.in_flight.value_or(slots), slots) : 1;
    const std::vector<Setting> settings =
        visit_settings(cell, load.reply, plan_.measure, plan_.seed, in_flight);

    std::optional<hw::CpuLoadWatch> watch;
    if (on_.files != nullptr) {
      watch.emplace(
          *on_.files, *on_.clock,
          hw::LoadWatchOptions{.worker_pids = {server.worker->pid()}, .cpus = watched_cpus(settings)});
      watch->start();
    }
    MeasureRequest request = plan_.measure;
    request.target = cells_.visit_target();
    WorkerResult<WorkerClient::Measured> measured = server.worker->measure(
        mode, request, cells_.visit_time_limit(visit.cell), in_flight, *on_.stop,
        [this, &cell](const Progress& progress) { on_.observer->progress(cell, progress); });
    hw::LoadReport load_report;
    if (watch) load_report = watch->stop();
    if (auto* trouble = std::get_if<WorkerTrouble>(&measured)) return end_in_trouble(server, visit, *trouble);

    WorkerClient::Measured& result = std::get<WorkerClient::Measured>(measured);
    tell_result(cell, result.process);
    result.process.index = visit.repeat;
    result.process.load_time = load.load_time;
    const auto add = [&diagnostics](std::vector<Diagnostic> more) {
      std::move(more.begin(), more.end(), std::back_inserter(diagnostics));
    };
    if (watch) add(hw::judge(load_report, cell.key.selector()));
    add(visit_doubts(cell, result, settings, plan_.measure));
    DEEPGAP_RETURN_IF_ERROR(
        on_.sink->visit_done(cell, result.process, settings, diagnostics, load_report.telemetry));
    cells_.add_process(visit.cell, result.process, server.visits == 0 ? server.start_time : Nanoseconds{});
    ++server.visits;
    ++outcome_.visits_done;
    on_.observer->visit_ended(cell, visit, nullptr);
    return {};
  }

  Result<void> end_in_trouble(Server& server, const Visit& visit, const WorkerTrouble& trouble) {
    if (trouble.worker_lost)
      server = {};
    else
      ++server.visits;
    DEEPGAP_RETURN_IF_ERROR(fail(visit, trouble.failure));
    const PlannedCell& cell = plan_.cells[visit.cell];
    if (trouble.model_lost) {
      return give_up_cells(visit, trouble.failure, {}, [&cell](const PlannedCell& other) {
        return other.model == cell.model && other.key.engine == cell.key.engine;
      });
    }
    if (trouble.failure.kind != failures::kOutOfMemory) return {};
    const CellFailure refusal{
        .kind = "refused",
        .text = fmt::format("not tried: {} ran out of memory, and this needs at least as much",
                            cell.key.selector())};
    return give_up_cells(visit, refusal, &diagnostics::kPredictedNotToFit,
                         [&cell](const PlannedCell& other) { return needs_at_least(other, cell); });
  }

  // The worker's last word came before its last calls, or never in a short visit.
  void tell_result(const PlannedCell& cell, const ProcessRun& process) const {
    Progress progress{.phase = "measure", .calls = static_cast<std::int64_t>(process.samples.size())};
    if (const auto median = stats::median_within_process(process.samples.host_ns)) {
      progress.median = Nanoseconds{std::llround(median->value)};
      progress.width = stats::relative_half_width(*median);
    }
    on_.observer->progress(cell, progress);
  }

  // A visit without samples.
  Result<void> fail(const Visit& visit, const CellFailure& failure) {
    const PlannedCell& cell = plan_.cells[visit.cell];
    if (failure.kind == "cancelled") {  // the visit in flight is dropped; what was stored stays
      outcome_.cancelled = true;
      on_.observer->visit_ended(cell, visit, &failure);
      return {};
    }
    std::vector<Diagnostic> found;
    if (failure.kind == failures::kOutOfMemory) {
      found.push_back(diagnose(diagnostics::kOutOfMemory, cell.key.selector(), failure.text));
    } else if (!is_for_good(failure)) {
      found.push_back(diagnose(diagnostics::kWorkerLost, cell.key.selector(), failure.text));
    }
    DEEPGAP_RETURN_IF_ERROR(on_.sink->visit_failed(cell, visit.repeat, failure, found));
    ++outcome_.visits_failed;
    if (is_for_good(failure)) cells_.give_up(visit.cell);
    on_.observer->visit_ended(cell, visit, &failure);
    return {};
  }

  // Cells without samples that would fail for the same reason: none is tried any more, each untried one is
  // told it.
  template <typename Predicate>
  Result<void> give_up_cells(const Visit& visit, const CellFailure& failure, const DiagnosticKind* doubt,
                             Predicate concerned) {
    for (std::size_t other = 0; other < plan_.cells.size(); ++other) {
      const PlannedCell& cell = plan_.cells[other];
      if (cells_.given_up(other) || cells_.has_samples(other) || cells_.visits_to_come(other) == 0) continue;
      if (!concerned(cell)) continue;
      cells_.give_up(other);
      if (cells_.tries(other) > 0) continue;  // it has a failure of its own
      std::vector<Diagnostic> found;
      if (doubt != nullptr) found.push_back(diagnose(*doubt, cell.key.selector(), failure.text));
      DEEPGAP_RETURN_IF_ERROR(on_.sink->visit_failed(cell, visit.repeat, failure, found));
      ++outcome_.visits_failed;
    }
    return {};
  }

  // By its batch, or by calls in flight beside one at a time.
  static bool needs_at_least(const PlannedCell& other, const PlannedCell& cell) {
    const Workload& a = other.key.workload;
    const Workload& b = cell.key.workload;
    const bool alike = other.model == cell.model && other.key.engine == cell.key.engine &&
                       other.key.device == cell.key.device && a.precision == b.precision;
    const bool mode_needs_it = a.mode == b.mode || (b.mode == Mode::kLatency && a.mode == Mode::kThroughput);
    return alike && mode_needs_it && a.batch >= b.batch;
  }

  const SweepPlan& plan_;
  SweepDependencies on_;
  SystemClock own_clock_;
  SweepObserver own_observer_;
  StopRequest own_stop_;
  SweepCells cells_;
  SweepOutcome outcome_;
  std::size_t visits_begun_ = 0;
  std::map<std::string, int> failed_starts_;  // in a row, by engine
  std::string start_error_;
  bool any_started_ = false;
  bool stop_told_ = false;
  std::string run_id_;
  int log_number_ = 0;
};

}  // namespace

bool is_for_good(const CellFailure& failure) {
  return failure.kind == failures::kUnsupported || failure.kind == failures::kBadRequest ||
         failure.kind == failures::kBadModel || failure.kind == failures::kOutOfMemory ||
         failure.kind == "refused";
}

Result<SweepOutcome> run_sweep(const SweepPlan& plan, const SweepDependencies& dependencies) {
  SweepRunner runner(plan, dependencies);
  Result<SweepOutcome> outcome = runner.run();
  if (outcome.ok() || runner.visits_done() == 0) return outcome;
  return std::move(outcome).in(
      fmt::format("the sweep ended after {} visits, which are kept", runner.visits_done()));
}

}  // namespace deepgap::run
