// Where finished visits go: one transaction a visit, so that a killed program loses the visit in flight and
// no more.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "base/clock.h"
#include "run/sweep.h"
#include "session/run_context.h"
#include "store/store.h"

namespace deepgap::session {

class StoreSink final : public run::SweepSink {
 public:
  // Reads what the sweep has stored already (--resume). `plan`, `context`, `store` and `clock` outlive the
  // sink.
  static Result<StoreSink> open(store::Store& store, const SweepId& sweep, const run::SweepPlan& plan,
                                const RunContext& context, Clock& clock);

  // Processes that each cell has, those that failed for good counted as all.
  const std::map<CellKey, int>& processes_done() const { return done_; }
  // Stores a refusal for each cell that the plan will not try.
  Result<void> store_refusals();

  Result<std::vector<ProcessRun>> earlier(const run::PlannedCell& cell) override;
  Result<void> visit_done(const run::PlannedCell& cell, const ProcessRun& process,
                          const std::vector<Setting>& settings, const std::vector<Diagnostic>& diagnostics,
                          const std::vector<TelemetrySeries>& telemetry) override;
  Result<void> visit_failed(const run::PlannedCell& cell, int repeat, const CellFailure& failure,
                            const std::vector<Diagnostic>& diagnostics) override;
  Result<void> cell_ended(const run::PlannedCell& cell, const std::vector<Diagnostic>& diagnostics) override;

 private:
  struct CellState {
    MeasurementId id;
    std::set<int> processes;  // indices stored
    bool failed = false;      // has a failure that a measured process takes away
  };

  StoreSink(store::Store& store, SweepId sweep, const run::SweepPlan& plan, const RunContext& context,
            Clock& clock);
  Result<void> store_visit(const run::PlannedCell& cell, store::CellVisit visit);
  Measurement new_measurement(const run::PlannedCell& cell) const;
  // Run context of every visit: a resumed sweep may find another version or kernel, and each process tells
  // its own.
  std::vector<Setting> common_settings(const run::PlannedCell& cell) const;

  store::Store* store_;
  SweepId sweep_;
  const run::SweepPlan* plan_;
  const RunContext* context_;
  Clock* clock_;
  std::map<CellKey, CellState> cells_;
  std::map<CellKey, int> done_;
};

}  // namespace deepgap::session
