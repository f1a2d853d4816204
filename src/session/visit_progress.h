// Turns a sweep's events into progress with an estimate of the time that is left.
#pragma once

#include "run/sweep.h"
#include "session/environment.h"

namespace deepgap::session {

class VisitProgress final : public run::SweepObserver {
 public:
  // `environment` outlives it.
  explicit VisitProgress(const Environment& environment);

  void visit_started(const run::PlannedCell& cell, const run::Visit& visit, std::size_t number,
                     std::size_t of) override;
  void progress(const run::PlannedCell& cell, const run::Progress& progress) override;
  void visit_ended(const run::PlannedCell& cell, const run::Visit& visit,
                   const CellFailure* failure) override;
  void stop_asked() override;

 private:
  void tell();

  const Environment* environment_;
  Nanoseconds started_{};
  std::size_t ended_ = 0;
  RunProgress state_;
};

}  // namespace deepgap::session
