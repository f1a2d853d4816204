// What a sweep knows of its cells while it runs: which are given up, what is still to come, and which are not
// precise enough yet. For sweep.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "core/measurement.h"
#include "run/plan.h"

namespace deepgap::run {

class SweepCells {
 public:
  // `plan` outlives it.
  explicit SweepCells(const SweepPlan& plan);

  void begin_visit(std::size_t cell);
  void expect_visit(std::size_t cell);  // one more than the plan had
  // A process that gave samples, in this run or an earlier one.
  void add_process(std::size_t cell, const ProcessRun& process);
  void give_up(std::size_t cell);

  bool given_up(std::size_t cell) const { return cells_[cell].given_up; }
  bool has_samples(std::size_t cell) const { return cells_[cell].processes > 0; }
  // Processes of earlier runs and visits of this one, whatever came of them.
  int tries(std::size_t cell) const { return cells_[cell].earlier + cells_[cell].begun; }
  std::size_t visits_to_come(std::size_t cell) const { return cells_[cell].to_come; }
  std::size_t visits_to_come() const { return to_come_; }  // of all cells

  // An equal share of the cell's time limit for each of its planned processes; less when a further round
  // finds less left.
  Nanoseconds visit_time_limit(std::size_t cell) const;

  // Cells with samples that are not precise enough and may still be tried. A cell with one process is none of
  // the precise, for how much processes differ is not known of it.
  std::vector<std::size_t> beyond_target() const;

 private:
  struct Cell {
    int processes = 0;  // with samples, earlier runs included
    int earlier = 0;
    int begun = 0;
    std::size_t to_come = 0;
    Nanoseconds spent{};  // on warm-up and timed calls
    bool given_up = false;
    Measurement measured;  // of its processes the times, where further rounds may need them
  };

  bool is_precise(const Cell& cell) const;
  bool has_time(const Cell& cell) const;
  bool further_rounds() const { return plan_->measure.most_repeats > plan_->measure.repeats; }
  Nanoseconds share() const;

  const SweepPlan* plan_;
  std::vector<Cell> cells_;
  std::size_t to_come_ = 0;
};

}  // namespace deepgap::run
