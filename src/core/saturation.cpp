#include <algorithm>
#include <cmath>
#include <map>

#include "core/summary.h"

namespace deepgap {
namespace {

// Half widths of an interval toward one side; 0 where there is no bound, so that the margin alone decides.
double below(const Estimate& estimate) {
  return estimate.lower ? std::max(0.0, estimate.value - *estimate.lower) : 0.0;
}
double above(const Estimate& estimate) {
  return estimate.upper ? std::max(0.0, *estimate.upper - estimate.value) : 0.0;
}

// Whether the larger batch's throughput is higher by more than the margin, and by more than the intervals can
// tell: the lower limit of the difference is above 0, by the method of variance estimates recovery (Zou and
// Donner, Statistics in Medicine 27, 2008: L = d - sqrt((t2 - l2)^2 + (u1 - t1)^2)).
bool exceeds(const Estimate& larger_batch, const Estimate& batch, double margin) {
  const double difference = larger_batch.value - batch.value;
  const double uncertain = std::hypot(below(larger_batch), above(batch));
  return difference > std::max(margin * batch.value, uncertain);
}

}  // namespace

std::optional<Saturation> find_saturation(std::span<const CellSummary> cells, double margin) {
  std::map<std::int64_t, const CellSummary*> by_batch;
  for (const CellSummary& cell : cells) {
    if (!cell.throughput || !(cell.throughput->value > 0)) continue;
    const CellSummary*& kept = by_batch[cell.key.workload.batch];
    if (kept == nullptr || kept->created_realtime_ns < cell.created_realtime_ns) kept = &cell;
  }
  if (by_batch.size() < 2) return std::nullopt;

  for (auto batch = by_batch.begin(); batch != by_batch.end(); ++batch) {
    const Estimate& throughput = *batch->second->throughput;
    const bool exceeded = std::any_of(std::next(batch), by_batch.end(), [&](const auto& larger) {
      return exceeds(*larger.second->throughput, throughput, margin);
    });
    if (!exceeded) return Saturation{batch->first, throughput, std::next(batch) != by_batch.end()};
  }
  return std::nullopt;  // not reached: no batch is larger than the largest
}

}  // namespace deepgap
