#include "session/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "core/summary.h"
#include "hw/cpu.h"
#include "report/views.h"
#include "run/sweep.h"
#include "session/preset.h"
#include "session/run_context.h"
#include "session/store_sink.h"
#include "session/sweep_lock.h"
#include "session/sweep_models.h"
#include "session/sweep_request.h"
#include "session/visit_progress.h"
#include "store/store.h"

namespace deepgap::session {
namespace {

// What a user wants once names are known to be right and everything left open is filled in.
Result<RunOptions> completed(RunOptions options) {
  if (options.preset) {
    DEEPGAP_ASSIGN(const Preset* const preset, find_preset(*options.preset));
    apply(*preset, options);
  } else if (options.like_published) {
    return usage_error(
        "--like-published: expected --preset beside it, which names the study whose protocol is meant");
  }
  options.asked = {.time_limit = options.time_limit.has_value(),
                   .target = options.target.has_value(),
                   .input_buffers = options.input_buffers.has_value(),
                   .seed = options.seed.has_value()};
  apply_defaults(options);
  if (options.models.empty()) {
    return usage_error(
        "expected a model to measure: a name of `deepgap models`, or the path of an .onnx file");
  }
  // A sweep may be resumed from another folder.
  for (std::string& model : options.models) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(model, error)) continue;
    const std::filesystem::path absolute = std::filesystem::absolute(model, error);
    if (!error) model = absolute.string();
  }
  // Requests to workers and what --resume goes by are JSON.
  for (const std::string& model : options.models) {
    if (is_utf8(model)) continue;
    return bad_input(
        fmt::format("model {}: expected a path in UTF-8, found other bytes in it: rename the file or "
                    "its folder, or name a link to it",
                    printable(model)));
  }
  for (const auto& [name, value] : options.settings) {
    if (is_utf8(name) && is_utf8(value)) continue;
    return usage_error(fmt::format("--set {}={}: expected text in UTF-8, found other bytes", printable(name),
                                   printable(value)));
  }
  if (std::find(options.modes.begin(), options.modes.end(), Mode::kServer) != options.modes.end()) {
    return usage_error(
        "--mode: this version measures latency and throughput; server is for load generation, which it does "
        "not have");
  }
  return options;
}

run::MeasureRequest measure_request(const RunOptions& options) {
  run::MeasureRequest request{.target = *options.target,
                              .repeats = *options.repeats,
                              .most_repeats = *options.most_repeats,
                              .in_flight = options.in_flight,
                              .input_buffers = *options.input_buffers,
                              .hang_limit = *options.hang_limit,
                              .isolation = options.isolation,
                              .asked = options.asked};
  if (options.time_limit) request.time_limit = *options.time_limit;
  if (!options.preset) return request;
  const Preset* const preset = *find_preset(*options.preset);
  if (options.like_published) {
    request.fixed_warmup = preset->warmup_iterations;
    request.fixed_calls = preset->timed_iterations;
  } else if (!options.time_limit) {
    request.instead_of = run::FixedProtocol{.warmup_calls = preset->warmup_iterations,
                                            .timed_calls = preset->timed_iterations,
                                            .processes = preset->sweeps * preset->repeats_per_sweep};
  }
  return request;
}

struct Prepared {
  RunOptions options;
  std::map<std::string, run::EngineDescription> engines;
  hw::CpuInfo cpu;
  std::map<std::string, run::WorkerProgram> workers;
  run::SweepPlan plan;
  std::optional<Bytes> available_memory;
};

Result<Prepared> prepare(RunOptions options, Environment& environment) {
  Prepared prepared{.options = std::move(options)};
  RunOptions& request = prepared.options;
  // Engines first: a missing one is known at once, a model may take seconds to make.
  for (const std::string& engine : request.engines) {
    DEEPGAP_ASSIGN(run::WorkerProgram worker, run::find_worker(engine, environment.program_folder));
    DEEPGAP_ASSIGN(
        run::EngineDescription description,
        run::describe_worker(worker, request.hang_limit, environment.stop).in("engine '" + engine + "'"));
    prepared.engines.emplace(engine, std::move(description));
    prepared.workers.emplace(engine, std::move(worker));
  }
  run::SweepRequest sweep{.engines = request.engines,
                          .devices = request.devices,
                          .precisions = request.precisions,
                          .batches = request.batches,
                          .modes = request.modes,
                          .refuse_precisions = request.preset_precisions,
                          .settings = request.settings,
                          .measure = measure_request(request),
                          .seed = *request.seed};
  DEEPGAP_ASSIGN(sweep.models, sweep_models(request.models, request.dims, environment));
  DEEPGAP_ASSIGN(prepared.cpu, hw::probe_cpu(*environment.files, hw::native_cpuid()));
  const Result<Bytes> memory = hw::available_memory(*environment.files);
  if (memory.ok()) prepared.available_memory = *memory;
  const run::MachineLimits limits{.available_memory = prepared.available_memory,
                                  .flops_per_second = sustained_rate(prepared.cpu),
                                  .cpus = prepared.cpu.usable_cpu_list};
  DEEPGAP_ASSIGN(prepared.plan, run::plan_sweep(sweep, prepared.engines, limits));
  DEEPGAP_RETURN_IF_ERROR(go_on(environment));
  return prepared;
}

report::PlanFindings plan_findings(const Prepared& prepared) {
  const run::SweepPlan& plan = prepared.plan;
  report::PlanFindings findings{.time = plan.forecast_time,
                                .most_time = plan.forecast_most,
                                .available_memory = prepared.available_memory,
                                .processes = plan.processes.size(),
                                .seed = plan.seed};
  if (plan.measure.further_rounds()) findings.most_processes = plan.measure.most_repeats;
  std::vector<int> visits(plan.cells.size(), 0);
  std::vector<std::size_t> order;
  for (const run::ProcessPlan& process : plan.processes) {
    for (const run::Visit& visit : process.visits) {
      if (visits[visit.cell]++ == 0) order.push_back(visit.cell);
      ++findings.visits;
    }
  }
  for (std::size_t cell = 0; cell < plan.cells.size(); ++cell) {
    if (visits[cell] == 0) order.push_back(cell);  // refused cells have no visits
  }
  for (const std::size_t cell : order) {
    const run::PlannedCell& planned = plan.cells[cell];
    findings.cells.push_back({.key = planned.key,
                              .repeats = visits[cell],
                              .memory = planned.forecast_memory,
                              .time = planned.forecast_time,
                              .most_time = planned.forecast_most,
                              .refusal = planned.refusal ? planned.refusal->text : "",
                              .note = planned.note});
  }
  return findings;
}

std::vector<report::SaturationRow> saturation_rows(const std::vector<CellSummary>& cells) {
  std::vector<report::SaturationRow> rows;
  std::vector<std::vector<CellSummary>> groups;
  for (const CellSummary& cell : cells) {
    CellKey key = cell.key;
    key.workload.batch = 0;
    const auto same = [&key](const report::SaturationRow& row) { return row.key == key; };
    const auto found = std::find_if(rows.begin(), rows.end(), same);
    if (found == rows.end()) {
      rows.push_back({.key = key});
      groups.push_back({cell});
    } else {
      groups[static_cast<std::size_t>(found - rows.begin())].push_back(cell);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].saturation = find_saturation(groups[i]);
  std::erase_if(rows, [](const report::SaturationRow& row) { return !row.saturation; });
  return rows;
}

std::vector<std::string> next_commands(const Prepared& prepared, const std::vector<CellSummary>& cells,
                                       bool unfinished) {
  const std::string db =
      prepared.options.database == "deepgap.db" ? "" : " --db " + prepared.options.database;
  std::vector<std::string> commands;
  if (unfinished) commands.push_back("deepgap run --resume" + db);
  const auto measured =
      std::find_if(cells.begin(), cells.end(), [](const CellSummary& cell) { return cell.samples > 0; });
  if (measured != cells.end()) commands.push_back("deepgap show " + measured->key.selector() + db);
  commands.push_back("deepgap list" + db);
  commands.push_back("deepgap export '*' --columns gdev-ai --format csv" + db);
  return commands;
}

// The rows of the sweep as the store has them now, in the order of the plan.
Result<std::vector<CellSummary>> stored_cells(store::Store& store, const SweepId& sweep,
                                              const run::SweepPlan& plan) {
  std::map<CellKey, CellSummary> by_key;
  DEEPGAP_ASSIGN(
      const store::Visited visited,
      store.for_each({.sweep = sweep}, store::LoadDepth::kListColumns, [&by_key](Measurement& measurement) {
        by_key.insert_or_assign(measurement.key, summarise(measurement, SummaryDepth::kFull));
        return true;
      }));
  if (visited.damaged > 0) return bad_input(visited.problems.front());
  std::vector<CellSummary> cells;
  for (const run::PlannedCell& cell : plan.cells) {
    const auto found = by_key.find(cell.key);
    if (found != by_key.end()) cells.push_back(std::move(found->second));
  }
  return cells;
}

struct Resumed {
  store::Sweep sweep;
  SweepLock lock;
};

// The newest sweep that is not finished and that nobody runs.
Result<Resumed> lock_unfinished(store::Store& store, Clock& clock) {
  DEEPGAP_ASSIGN(const std::vector<store::Sweep> sweeps, store.sweeps());
  std::string running;  // of the newest that somebody runs
  for (const store::Sweep& sweep : sweeps) {
    if (sweep.finished_realtime_ns) continue;
    std::string holder;
    DEEPGAP_ASSIGN(std::optional<SweepLock> lock, SweepLock::acquire(store.path(), sweep.id, clock, holder));
    if (!lock) {
      if (running.empty()) running = fmt::format("sweep {} ({})", sweep.id.str().substr(0, 8), holder);
      continue;
    }
    // It may have been finished since it was looked at.
    DEEPGAP_ASSIGN(store::Sweep now, store.load_sweep(sweep.id));
    if (!now.finished_realtime_ns) return Resumed{.sweep = std::move(now), .lock = std::move(*lock)};
  }
  if (!running.empty()) {
    return usage_error(fmt::format(
        "--resume: {} in {} is being run by another process: wait for its end, or stop it with Ctrl-C and "
        "resume then; a run without --resume may go on beside it",
        running, printable(store.path())));
  }
  return usage_error(
      fmt::format("--resume: no sweep in {} is left unfinished; leave --resume out to start one",
                  printable(store.path())));
}

// The sweep to go on with, with its own request.
Result<Resumed> sweep_to_resume(store::Store& store, const RunOptions& typed, Clock& clock) {
  DEEPGAP_ASSIGN(Resumed resumed, lock_unfinished(store, clock));
  RunOptions options = typed;
  options.hang_limit.reset();  // the one thing that may change on the way
  const std::vector<std::string> said = request_differences(RunOptions{}, options);
  if (typed.models.empty() && !typed.preset && !said.empty()) {
    return usage_error(
        fmt::format("--resume goes on with the sweep as it was asked for: leave out what is said anew ({})",
                    join(said, ", ")));
  }
  if (!typed.models.empty() || typed.preset) {
    DEEPGAP_ASSIGN(const RunOptions stored, parse_request(resumed.sweep.plan_json));
    DEEPGAP_ASSIGN(const RunOptions wanted, completed(typed));
    const std::vector<std::string> differences = request_differences(stored, wanted);
    if (!differences.empty()) {
      return usage_error(fmt::format(
          "--resume: the unfinished sweep in {} was asked for otherwise (it differs in {}); leave the "
          "models and options out to go on with it, or --resume to start a new one",
          printable(store.path()), join(differences, ", ")));
    }
  }
  return resumed;
}

}  // namespace

Result<Answer> run(const RunOptions& typed, Environment& environment) {
  std::optional<store::Store> store;
  std::optional<store::Sweep> sweep;
  std::optional<SweepLock> lock;
  RunOptions options = typed;
  if (typed.resume) {
    std::error_code ignored;
    if (!std::filesystem::exists(typed.database, ignored)) {
      return bad_input(fmt::format("--resume: there is no store at {}; --db FILE names another",
                                   printable(typed.database)));
    }
    DEEPGAP_ASSIGN(store, store::Store::open(typed.database, store::OpenMode::kWrite));
    DEEPGAP_ASSIGN(Resumed resumed, sweep_to_resume(*store, typed, *environment.clock));
    sweep = std::move(resumed.sweep);
    lock = std::move(resumed.lock);
    DEEPGAP_ASSIGN(options, parse_request(sweep->plan_json));
    options.database = typed.database;
    options.dry_run = typed.dry_run;
    if (typed.hang_limit) options.hang_limit = typed.hang_limit;
  } else {
    DEEPGAP_ASSIGN(options, completed(std::move(options)));
  }
  DEEPGAP_ASSIGN(Prepared prepared, prepare(std::move(options), environment));
  const std::string& database = prepared.options.database;
  if (prepared.options.dry_run && !sweep)
    return Answer{.document = report::plan_document(plan_findings(prepared))};

  if (!store) {
    DEEPGAP_ASSIGN(store, store::Store::open(database, store::OpenMode::kWrite));
  }
  if (!sweep) {
    sweep = store::Sweep{.id = SweepId(new_random_hex(16)),
                         .created_realtime_ns = environment.clock->realtime().count(),
                         .command_line = environment.command_line,
                         .seed = prepared.plan.seed,
                         .plan_json = request_json(prepared.options)};
    std::string nobody;  // a new sweep's lock is free
    DEEPGAP_ASSIGN(lock, SweepLock::acquire(database, sweep->id, *environment.clock, nobody));
    DEEPGAP_RETURN_IF_ERROR(store->create_sweep(*sweep));
  }
  const RunContext context = describe_context(prepared.engines, prepared.cpu, environment);
  DEEPGAP_ASSIGN(StoreSink sink,
                 StoreSink::open(*store, sweep->id, prepared.plan, context, *environment.clock));
  const run::SweepPlan left = run::remaining(prepared.plan, sink.processes_done());
  if (prepared.options.dry_run) {
    prepared.plan = left;
    return Answer{.document = report::plan_document(plan_findings(prepared))};
  }
  DEEPGAP_RETURN_IF_ERROR(sink.store_refusals());

  const std::string log_folder = environment.cache_folder + "/logs";
  DEEPGAP_RETURN_IF_ERROR(make_folders(log_folder));
  VisitProgress observer(environment);
  const Nanoseconds started = environment.clock->monotonic();
  Result<run::SweepOutcome> outcome = run::run_sweep(left, {.workers = prepared.workers,
                                                            .log_folder = log_folder,
                                                            .clock = environment.clock,
                                                            .files = environment.files,
                                                            .cpus = prepared.cpu.usable_cpu_list,
                                                            .sink = &sink,
                                                            .observer = &observer,
                                                            .stop = environment.stop});
  if (!outcome.ok())
    return std::move(outcome).error().in(
        fmt::format("sweep {} (what was measured before is in {})", sweep->id.str(), database));
  // Visits that were lost, not refused for good, are left for --resume.
  const bool all_done =
      !outcome->cancelled && run::remaining(prepared.plan, sink.processes_done()).processes.empty();
  if (all_done) {
    DEEPGAP_RETURN_IF_ERROR(store->finish_sweep(sweep->id, environment.clock->realtime().count()));
  }

  report::RunFindings findings{.sweep = sweep->id,
                               .database = database,
                               .planned_cells = prepared.plan.cells.size(),
                               .cancelled = outcome->cancelled,
                               .failed_visits = outcome->visits_failed,
                               .measured_time = environment.clock->monotonic() - started};
  DEEPGAP_ASSIGN(findings.cells, stored_cells(*store, sweep->id, prepared.plan));
  findings.saturation = saturation_rows(findings.cells);
  findings.next_commands = next_commands(prepared, findings.cells, !all_done);
  const auto with_samples = std::count_if(findings.cells.begin(), findings.cells.end(),
                                          [](const CellSummary& cell) { return cell.samples > 0; });
  const bool whole =
      !outcome->cancelled && static_cast<std::size_t>(with_samples) == prepared.plan.cells.size();
  return Answer{.document = report::run_document(findings),
                .exit = whole ? ExitCode::kDone : ExitCode::kPartial};
}

}  // namespace deepgap::session
