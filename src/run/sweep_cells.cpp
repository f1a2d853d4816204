#include "run/sweep_cells.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/summary.h"
#include "stats/distributions.h"

namespace deepgap::run {
namespace {

// A visit with less than this part of an equal share would spend itself on warm-up.
constexpr int kLeastPartOfShare = 4;
// A warm-up, which may take half of the time, and 30 timed calls.
constexpr int kLeastCalls = 60;
// A cell measured instead of a fixed protocol shares its time between so many processes: where its calls are
// so noisy or dependent that none reaches its target, more processes tell more than longer ones.
constexpr int kSharingProcesses = 6;
// But no process need be shorter than this (100 ms of warm-up and 500 ms of calls are the least of a quiet
// one) while there is time for those planned.
constexpr Nanoseconds kUsefulVisit = std::chrono::milliseconds(700);
// Three processes agree by chance too often: stopping at three that do lowers the coverage of the intervals
// by 1.5 points where processes differ (docs/statistics.md).
constexpr int kFewestForPrecision = 4;
// The spread of few processes may have come out too wide by chance: for giving a cell up it is taken as
// narrow as it is in one of ten.
constexpr double kOptimism = 0.9;

// From the first timed call to the end of the last.
Nanoseconds timed_of(const ProcessRun& process) {
  const SampleColumns& samples = process.samples;
  if (samples.size() == 0 || samples.start_ns.size() != samples.size()) return {};
  std::int64_t end = samples.start_ns.front();
  for (std::size_t i = 0; i < samples.size(); ++i)
    end = std::max(end, samples.start_ns[i] + samples.host_ns[i]);
  return Nanoseconds{end - samples.start_ns.front()};
}

double seconds(Nanoseconds time) {
  return static_cast<double>(time.count()) * 1e-9;
}
Nanoseconds nanoseconds(double time) {
  return Nanoseconds{static_cast<std::int64_t>(time * 1e9)};
}

double t_quantile(int processes) {
  return stats::student_t_quantile(0.975, processes - 1);
}

// The quantile of chi-squared by Wilson and Hilferty (1931), to 1 % from two degrees of freedom on.
double chi_squared(double probability, int degrees) {
  const double part = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1 - part + stats::normal_quantile(probability) * std::sqrt(part), 3);
}

}  // namespace

SweepCells::SweepCells(const SweepPlan& plan) : plan_(&plan), cells_(plan.cells.size()) {
  for (const ProcessPlan& process : plan.processes) {
    for (const Visit& visit : process.visits) expect_visit(visit.cell);
  }
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) cells_[cell].measured.key = plan.cells[cell].key;
}

void SweepCells::expect_visit(std::size_t cell) {
  ++cells_[cell].to_come;
  ++to_come_;
}

void SweepCells::begin_visit(std::size_t cell) {
  ++cells_[cell].begun;
  --cells_[cell].to_come;
  --to_come_;
}

void SweepCells::add_process(std::size_t cell, const ProcessRun& process, Nanoseconds start) {
  Cell& state = cells_[cell];
  ++state.processes;
  if (state.begun == 0) ++state.earlier;
  const Nanoseconds timed = timed_of(process);
  state.started += start;
  state.loaded += process.load_time.value_or(Nanoseconds{});
  state.spent += process.warmup_time + timed;
  state.timed += timed;
  state.calls += static_cast<std::int64_t>(process.samples.size());
  if (!plan_->measure.further_rounds()) return;
  ProcessRun kept = process;
  kept.samples.enqueue_ns = {};
  kept.samples.device_ns = {};
  state.measured.processes.push_back(std::move(kept));
}

void SweepCells::give_up(std::size_t cell) {
  Cell& state = cells_[cell];
  state.given_up = true;
  to_come_ -= state.to_come;
  state.to_come = 0;
}

double SweepCells::visit_target() const {
  const MeasureRequest& measure = plan_->measure;
  return measure.further_rounds() ? measure.target * std::sqrt(measure.most_repeats) : measure.target;
}

Nanoseconds SweepCells::share(std::size_t cell) const {
  const MeasureRequest& measure = plan_->measure;
  return plan_->cells[cell].time_limit /
         std::max(measure.instead_of ? kSharingProcesses : 1, measure.repeats);
}

Nanoseconds SweepCells::load_time(const Cell& cell) {
  return cell.loaded / cell.processes;
}

Nanoseconds SweepCells::least_visit(const Cell& cell) {
  return cell.calls > 0 ? cell.timed / cell.calls * kLeastCalls : Nanoseconds{};
}

Nanoseconds SweepCells::time_left(std::size_t index, int visits) const {
  const Cell& cell = cells_[index];
  const Nanoseconds of_limit = plan_->cells[index].time_limit - cell.spent;
  const std::optional<FixedProtocol>& fixed = plan_->measure.instead_of;
  if (!fixed || cell.processes == 0 || cell.calls == 0) return of_limit;
  const double load = seconds(load_time(cell));
  const double call = seconds(cell.timed) / static_cast<double>(cell.calls);
  const auto calls = static_cast<double>(fixed->warmup_calls + fixed->timed_calls);
  const double budget = kShareOfFixed * fixed->processes * (load + calls * call);
  const double gone = seconds(cell.started + cell.loaded + cell.spent) + visits * load;
  return std::min(of_limit, nanoseconds(budget - gone));
}

Nanoseconds SweepCells::visit_time_limit(std::size_t index) const {
  const Cell& cell = cells_[index];
  const int planned_left = plan_->measure.repeats - tries(index) + 1;  // this one included
  if (!plan_->measure.instead_of) {
    return planned_left >= 1 ? share(index) : std::min(share(index), time_left(index, 1));
  }
  const int fewest = std::max(1, planned_left);
  const int sharing = std::max(fewest, kSharingProcesses - tries(index) + 1);
  const Nanoseconds useful = std::min(kUsefulVisit, time_left(index, fewest) / fewest);
  const Nanoseconds limit = std::min(share(index), std::max(useful, time_left(index, sharing) / sharing));
  return planned_left >= 1 ? std::max(least_visit(cell), limit) : limit;
}

bool SweepCells::has_time(std::size_t index) const {
  if (is_fixed()) return true;
  const Cell& cell = cells_[index];
  const Nanoseconds least = plan_->measure.instead_of ? least_visit(cell) : share(index) / kLeastPartOfShare;
  return time_left(index, 1) >= least;
}

std::optional<double> SweepCells::half_width_of(const Cell& cell) const {
  const CellSummary summary = summarise(cell.measured, SummaryDepth::kQuick);
  const Mode mode = cell.measured.key.workload.mode;
  const std::optional<Estimate>& estimate = mode == Mode::kThroughput ? summary.throughput : summary.latency;
  return estimate ? relative_half_width(*estimate) : std::nullopt;
}

bool SweepCells::is_precise(const Cell& cell, std::optional<double> half_width) const {
  const int fewest = std::max(2, std::min(kFewestForPrecision, plan_->measure.most_repeats));
  return cell.processes >= fewest && half_width && *half_width <= plan_->measure.target;
}

bool SweepCells::may_become_precise(std::size_t index, std::optional<double> half_width) const {
  const Cell& cell = cells_[index];
  if (cell.processes < 2 || !half_width) return true;  // nothing is known of it
  int most = plan_->measure.most_repeats;
  if (!is_fixed()) {
    // As many as would fit at what one took so far.
    const double load = plan_->measure.instead_of ? seconds(load_time(cell)) : 0;
    const double one = std::max(seconds(cell.spent) / cell.processes, seconds(least_visit(cell))) + load;
    const double left = std::max(0.0, seconds(time_left(index, 0)));
    most = std::min(most, cell.processes + std::max(1, static_cast<int>(left / std::max(one, 1e-9))));
  }
  const int now = cell.processes;
  const double spread = std::sqrt((now - 1) / chi_squared(kOptimism, now - 1));
  const double narrowing = t_quantile(most) / t_quantile(now) * std::sqrt(static_cast<double>(now) / most);
  return *half_width * std::min(1.0, spread) * narrowing <= plan_->measure.target;
}

std::vector<std::size_t> SweepCells::beyond_target() const {
  std::vector<std::size_t> found;
  if (!plan_->measure.further_rounds()) return found;
  for (std::size_t index = 0; index < cells_.size(); ++index) {
    const Cell& cell = cells_[index];
    if (cell.given_up || cell.processes == 0 || tries(index) >= plan_->measure.most_repeats) continue;
    if (!has_time(index)) continue;
    const std::optional<double> half_width = half_width_of(cell);
    if (!is_precise(cell, half_width) && may_become_precise(index, half_width)) found.push_back(index);
  }
  return found;
}

}  // namespace deepgap::run
