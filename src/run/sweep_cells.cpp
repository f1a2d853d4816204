#include "run/sweep_cells.h"

#include <algorithm>
#include <optional>

#include "core/summary.h"

namespace deepgap::run {
namespace {

// A visit with less than this part of an equal share would spend itself on warm-up.
constexpr int kLeastPartOfShare = 4;

// From the first call of the warm-up to the end of the last timed one.
Nanoseconds time_of(const ProcessRun& process) {
  const SampleColumns& samples = process.samples;
  if (samples.size() == 0 || samples.start_ns.size() != samples.size()) return process.warmup_time;
  std::int64_t end = samples.start_ns.front();
  for (std::size_t i = 0; i < samples.size(); ++i)
    end = std::max(end, samples.start_ns[i] + samples.host_ns[i]);
  return process.warmup_time + Nanoseconds{end - samples.start_ns.front()};
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

void SweepCells::add_process(std::size_t cell, const ProcessRun& process) {
  Cell& state = cells_[cell];
  ++state.processes;
  if (state.begun == 0) ++state.earlier;
  state.spent += time_of(process);
  if (!further_rounds()) return;
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

Nanoseconds SweepCells::share() const {
  return plan_->measure.time_limit / std::max(1, plan_->measure.repeats);
}

Nanoseconds SweepCells::visit_time_limit(std::size_t cell) const {
  const Cell& state = cells_[cell];
  if (state.earlier + state.begun <= plan_->measure.repeats) return share();
  return std::min(share(), plan_->measure.time_limit - state.spent);
}

bool SweepCells::has_time(const Cell& cell) const {
  return plan_->measure.fixed_calls || plan_->measure.time_limit - cell.spent >= share() / kLeastPartOfShare;
}

bool SweepCells::is_precise(const Cell& cell) const {
  if (cell.processes < 2) return false;
  const CellSummary summary = summarise(cell.measured, SummaryDepth::kQuick);
  const std::optional<Estimate>& estimate =
      cell.measured.key.workload.mode == Mode::kThroughput ? summary.throughput : summary.latency;
  if (!estimate || !estimate->lower || !estimate->upper || estimate->value <= 0) return false;
  return (*estimate->upper - *estimate->lower) / 2 <= plan_->measure.target * estimate->value;
}

std::vector<std::size_t> SweepCells::beyond_target() const {
  std::vector<std::size_t> found;
  if (!further_rounds()) return found;
  for (std::size_t index = 0; index < cells_.size(); ++index) {
    const Cell& cell = cells_[index];
    if (cell.given_up || cell.processes == 0 || tries(index) >= plan_->measure.most_repeats) continue;
    if (has_time(cell) && !is_precise(cell)) found.push_back(index);
  }
  return found;
}

}  // namespace deepgap::run
