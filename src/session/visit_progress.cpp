#include "session/visit_progress.h"

namespace deepgap::session {

VisitProgress::VisitProgress(const Environment& environment)
    : environment_(&environment), started_(environment.clock->monotonic()) {}

void VisitProgress::tell() {
  if (environment_->progress) environment_->progress(state_);
}

void VisitProgress::visit_started(const run::PlannedCell& cell, const run::Visit& visit, std::size_t number,
                                  std::size_t of) {
  const std::optional<Nanoseconds> left = state_.left;
  state_ = {.visit = number,
            .visits = of,
            .cell = cell.key.selector(),
            .repeat = visit.repeat,
            .phase = "start",
            .left = left};
  tell();
}

void VisitProgress::progress(const run::PlannedCell& /*cell*/, const run::Progress& progress) {
  state_.phase = progress.phase;
  state_.calls = progress.calls;
  state_.median = progress.median;
  state_.width = progress.width;
  tell();
}

void VisitProgress::visit_ended(const run::PlannedCell& /*cell*/, const run::Visit& /*visit*/,
                                const CellFailure* failure) {
  ++ended_;
  // What the visits took so far, loads included, is the best guess of what the others will take.
  if (state_.visits >= ended_) {
    const Nanoseconds spent = environment_->clock->monotonic() - started_;
    state_.left =
        spent / static_cast<std::int64_t>(ended_) * static_cast<std::int64_t>(state_.visits - ended_);
  }
  state_.phase = failure == nullptr ? "done" : failure->kind;
  tell();
}

void VisitProgress::stop_asked() {
  if (environment_->say)
    environment_->say("finishing the cell in flight, then stopping; Ctrl-C again stops now");
}

}  // namespace deepgap::session
