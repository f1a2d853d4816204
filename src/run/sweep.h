// Runs a plan: process by process, visit by visit; whatever goes wrong with one cell leaves the others alone.
//
//   Result<SweepOutcome> outcome = run_sweep(plan, {.workers = workers, .sink = &sink, .stop = &stop, ...});
//
// What becomes of a cell that fails:
// - unsupported, bad_request: a further try would fail alike; its other visits are left out.
// - bad_model: so would every cell of the model and engine; those without samples fail with it, untried.
// - out_of_memory: its other visits are left out. Cells of the same engine, model, device and precision that
// need at
//   least as much (a larger batch; the same batch in throughput mode after latency mode) and have no samples
//   yet are refused untried, with a text that names the batch: trying them would most likely cost a process
//   each, and where the kernel runs out of memory perhaps someone else's. One that has samples goes on, for
//   it is known to fit.
// - anything else (crash, hang, protocol, device_lost, internal): the visit is lost, a fresh process serves
// the next
//   one, and the cell's later visits are tried.
// A worker that ends between two visits costs none: a fresh one takes over, and the visit carries a
// worker_lost diagnostic. An engine whose worker fails to start three times in a row is given up.
//
// All of it happens on the calling thread, which must outlive the call as workers end with it; only the watch
// over the load has a thread of its own while a cell is measured.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/signals.h"
#include "core/measurement.h"
#include "run/engine_registry.h"
#include "run/plan.h"
#include "run/worker_client.h"

namespace deepgap::run {

// Where finished visits go, at once. An error of the sink (a full disk) ends the sweep; what it holds is
// kept.
class SweepSink {
 public:
  virtual ~SweepSink() = default;
  // What the sink held of a cell before this sweep ran (--resume), so that the number of further rounds
  // follows from all processes. Only start_ns and host_ns of the samples are looked at. Asked once a cell,
  // before the first visit.
  virtual Result<std::vector<ProcessRun>> earlier(const PlannedCell& /*cell*/) {
    return std::vector<ProcessRun>();
  }
  // One process's samples of a cell, with the run context it had and what was found doubtful.
  virtual Result<void> visit_done(const PlannedCell& cell, const ProcessRun& process,
                                  const std::vector<Setting>& settings,
                                  const std::vector<Diagnostic>& diagnostics,
                                  const std::vector<TelemetrySeries>& telemetry) = 0;
  // A visit that gave no samples, or (once) a cell that will not be tried any more because another one
  // failed.
  virtual Result<void> visit_failed(const PlannedCell& cell, int repeat, const CellFailure& failure,
                                    const std::vector<Diagnostic>& diagnostics) = 0;
  // What was found of a cell with samples after its visits: that the user stopped it before its last one.
  virtual Result<void> cell_ended(const PlannedCell& /*cell*/,
                                  const std::vector<Diagnostic>& /*diagnostics*/) {
    return {};
  }
};

// Told what goes on; called on the sweep's thread.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  // `number` of the visits begun, 1, 2, ...; `of`: those and all that are still to come, as far as is known
  // now. It falls when visits are left out and rises when a further round begins.
  virtual void visit_started(const PlannedCell& /*cell*/, const Visit& /*visit*/, std::size_t /*number*/,
                             std::size_t /*of*/) {}
  virtual void progress(const PlannedCell& /*cell*/, const Progress& /*progress*/) {}
  // Once for each visit_started, unless the sink failed. `failure` is null for samples; of kind "cancelled"
  // where the user stopped it, which no sink is told.
  virtual void visit_ended(const PlannedCell& /*cell*/, const Visit& /*visit*/,
                           const CellFailure* /*failure*/) {}
  // Once, when the user has asked to stop while a visit is in flight, which is finished first.
  virtual void stop_asked() {}
};

// Workers and sink must be there; what else is absent is done without.
struct SweepDependencies {
  std::map<std::string, WorkerProgram> workers;  // by engine
  std::string log_folder;                        // one log a worker, kept of those that were lost; "": none
  Clock* clock = nullptr;                        // must bear calls from two threads; absent: the system's
  const FileSystem* files = nullptr;             // /proc and /sys, for the watch over foreign load and clocks
  std::vector<int> cpus;  // that the load may run on, for that watch; empty: all. cpu.affinity, where
                          // an engine says it, goes before.
  SweepSink* sink = nullptr;
  SweepObserver* observer = nullptr;
  // finish_cell: the visit in flight is finished and kept, or dropped where its worker is still starting;
  // stop_now: it is dropped
  const StopRequest* stop = nullptr;
};

struct SweepOutcome {
  std::int64_t visits_done = 0;
  std::int64_t visits_failed = 0;  // those of cells that were left untried counted once each
  bool cancelled = false;          // the user's stop left a visit undone
};

// A failure that every further try of the cell would repeat: it is not tried again, also not by --resume.
bool is_for_good(const CellFailure& failure);

// After the plan's rounds, cells whose interval with process variation is wider than the target (of the
// median, in throughput mode of the throughput) get further rounds of fresh processes, as sweep_cells.h says:
// until measure.most_repeats, or the end of the cell's time, or no hope. Errors: only what ends
// the whole sweep (the sink failed, no worker can be started at all).
Result<SweepOutcome> run_sweep(const SweepPlan& plan, const SweepDependencies& dependencies);

}  // namespace deepgap::run
