// Runs a plan: process by process, visit by visit; whatever goes wrong with one cell leaves the others alone.
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
  // One process's samples of a cell, with the run context it had and what was found doubtful.
  virtual Result<void> visit_done(const PlannedCell& cell, const ProcessRun& process,
                                  const std::vector<Setting>& settings,
                                  const std::vector<Diagnostic>& diagnostics,
                                  const std::vector<TelemetrySeries>& telemetry) = 0;
  // A visit that gave no samples.
  virtual Result<void> visit_failed(const PlannedCell& cell, int repeat, const CellFailure& failure,
                                    const std::vector<Diagnostic>& diagnostics) = 0;
};

// Told what goes on; called on the sweep's thread.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void visit_started(const PlannedCell& /*cell*/, const Visit& /*visit*/, std::size_t /*number*/,
                             std::size_t /*of*/) {}
  virtual void progress(const PlannedCell& /*cell*/, const Progress& /*progress*/) {}
  virtual void visit_ended(const PlannedCell& /*cell*/, const Visit& /*visit*/,
                           const CellFailure* /*failure*/) {}
};

struct SweepDependencies {
  std::map<std::string, WorkerProgram> workers;  // by engine
  std::string log_folder;                        // one log a process
  Clock* clock = nullptr;
  const FileSystem* files = nullptr;  // /proc and /sys, for the watch over foreign load and clocks
  SweepSink* sink = nullptr;
  SweepObserver* observer = nullptr;
  const StopRequest* stop = nullptr;
};

struct SweepOutcome {
  std::int64_t visits_done = 0;
  std::int64_t visits_failed = 0;
  bool cancelled = false;
};

// A failure that every further try of the cell would repeat: it is not tried again, also not by --resume.
bool is_for_good(const CellFailure& failure);

// Errors: only what ends the whole sweep (the sink failed, no worker can be started at all).
Result<SweepOutcome> run_sweep(const SweepPlan& plan, const SweepDependencies& dependencies);

}  // namespace deepgap::run
