#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/summary.h"

namespace deepgap {
namespace {

// Logarithm of `above` over `below`; absent where a bound is, or where it is not positive.
std::optional<double> log_ratio(const std::optional<double>& above, const std::optional<double>& below) {
  if (!above || !below || !(*above > 0) || !(*below > 0)) return std::nullopt;
  return std::log(*above / *below);
}

std::optional<double> distance(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return std::nullopt;
  return std::hypot(*a, *b);
}

enum class Gain { kShown, kExcluded, kUnclear };

// What the larger batch's throughput gains on the other's: shown if it is more than the margin and its lower
// limit is above 0, excluded if it is at most the margin and its upper limit at most twice the margin. Limits
// on the logarithms by the method of variance estimates recovery (Zou and Donner, Statistics in Medicine 27,
// 2008: for d = t2 - t1, L = d - sqrt((t2 - l2)^2 + (u1 - t1)^2), U = d + sqrt((u2 - t2)^2 + (t1 - l1)^2)).
Gain gain_of(const Estimate& larger_batch, const Estimate& batch, double margin) {
  const double gain = std::log(larger_batch.value / batch.value);
  if (gain > std::log1p(margin)) {
    const auto uncertain =
        distance(log_ratio(larger_batch.value, larger_batch.lower), log_ratio(batch.upper, batch.value));
    return uncertain && gain > *uncertain ? Gain::kShown : Gain::kUnclear;
  }
  const auto uncertain =
      distance(log_ratio(larger_batch.upper, larger_batch.value), log_ratio(batch.value, batch.lower));
  return uncertain && gain + *uncertain <= std::log1p(2 * margin) ? Gain::kExcluded : Gain::kUnclear;
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

  const auto grows_by_values = [&](auto batch) {
    return std::any_of(std::next(batch), by_batch.end(), [&](const auto& larger) {
      return larger.second->throughput->value > batch->second->throughput->value * (1 + margin);
    });
  };
  auto by_values = by_batch.begin();
  while (grows_by_values(by_values)) ++by_values;

  // From the first batch that no larger one is shown to exceed to the first that each larger one is shown not
  // to. The largest is both, if no other is.
  std::optional<std::int64_t> from;
  for (auto batch = by_batch.begin(); batch != by_batch.end(); ++batch) {
    const Estimate& throughput = *batch->second->throughput;
    bool exceeded = false;
    bool unclear = false;
    for (auto larger = std::next(batch); larger != by_batch.end(); ++larger) {
      const Gain gain = gain_of(*larger->second->throughput, throughput, margin);
      exceeded = exceeded || gain == Gain::kShown;
      unclear = unclear || gain == Gain::kUnclear;
    }
    if (exceeded) continue;
    if (!from) from = batch->first;
    if (unclear) continue;
    const bool is_largest = std::next(batch) == by_batch.end();
    Saturation found{.batch = *from, .by_values = by_values->first};
    if (*from == batch->first) {
      found.state = is_largest ? SaturationState::kStillGrowing : SaturationState::kReached;
      found.throughput = throughput;
    } else if (!is_largest) {
      found.at_most = batch->first;
    }
    return found;
  }
  return std::nullopt;  // not reached: nothing is larger than the largest batch
}

std::string_view name_of(SaturationState state) {
  switch (state) {
    case SaturationState::kReached:
      return "reached";
    case SaturationState::kStillGrowing:
      return "still_growing";
    case SaturationState::kCannotTell:
      return "cannot_tell";
  }
  return "";
}

}  // namespace deepgap
