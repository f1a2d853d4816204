// What a sweep knows of its cells while it runs: which are given up, what is still to come, which are not
// precise enough yet, and how much time each has. For sweep.cpp.
//
// Where further rounds may follow, processes are many and short: none measures its own median to the target,
// but to the target times the root of their largest number (all together then have it), and the rounds go on
// until the interval over four or more processes is within the target. They end where the cell's time does:
// its limit, or, for a cell measured instead of a protocol of fixed counts, a fifth of what that would take
// by the load and call times found so far; and where by the variation seen so far no number of processes that
// the time allows would do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  // A process that gave samples, in this run or an earlier one; `start`: the time to start the worker, where
  // this was its first cell.
  void add_process(std::size_t cell, const ProcessRun& process, Nanoseconds start = {});
  void give_up(std::size_t cell);

  bool given_up(std::size_t cell) const { return cells_[cell].given_up; }
  bool has_samples(std::size_t cell) const { return cells_[cell].processes > 0; }
  int processes(std::size_t cell) const { return cells_[cell].processes; }  // with samples
  // Processes of earlier runs and visits of this one, whatever came of them.
  int tries(std::size_t cell) const { return cells_[cell].earlier + cells_[cell].begun; }
  std::size_t visits_to_come(std::size_t cell) const { return cells_[cell].to_come; }
  std::size_t visits_to_come() const { return to_come_; }  // of all cells

  // An equal share of the cell's time for each of its planned processes; less when a further round finds less
  // left. Of a cell measured instead of a fixed protocol a share of what is left, for six processes, but
  // never too little for a warm-up and some 30 timed calls of a planned process.
  Nanoseconds visit_time_limit(std::size_t cell) const;
  // Half width that one process measures its own median to.
  double visit_target() const;

  // Cells with samples that are not precise enough, may still be tried and may get there. Of fewer than four
  // processes (or of the most that were asked for) none is: how much they differ is not known well.
  std::vector<std::size_t> beyond_target() const;

 private:
  struct Cell {
    int processes = 0;  // with samples, earlier runs included
    int earlier = 0;
    int begun = 0;
    std::size_t to_come = 0;
    Nanoseconds started{};  // starting workers
    Nanoseconds loaded{};   // loading
    Nanoseconds spent{};    // on warm-up and timed calls
    Nanoseconds timed{};    // of it on timed calls
    std::int64_t calls = 0;
    bool given_up = false;
    Measurement measured;  // of its processes the times, where further rounds may need them
  };

  static Nanoseconds load_time(const Cell& cell);  // of one process; the cell must have one
  static Nanoseconds least_visit(const Cell& cell);
  // For warm-up and timed calls of `visits` further processes.
  Nanoseconds time_left(std::size_t cell, int visits) const;
  // Relative, of the median, in throughput mode of the throughput; nothing where it cannot be told.
  std::optional<double> half_width_of(const Cell& cell) const;
  bool is_precise(const Cell& cell, std::optional<double> half_width) const;
  bool may_become_precise(std::size_t index, std::optional<double> half_width) const;
  bool has_time(std::size_t cell) const;
  bool is_fixed() const { return plan_->measure.fixed_calls.has_value(); }
  Nanoseconds share(std::size_t cell) const;

  const SweepPlan* plan_;
  std::vector<Cell> cells_;
  std::size_t to_come_ = 0;
};

}  // namespace deepgap::run
