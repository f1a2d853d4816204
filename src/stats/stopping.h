// When a cell's process has measured enough: StoppingRule.
//
//   StoppingRule rule({.target_relative_half_width = 0.01, .time_limit = 10s});
//   for (;;) {
//     samples.push_back(time_one_call());
//     if (!rule.due(count, elapsed)) continue;                // a few comparisons, no allocation
//     if (auto reason = rule.look(samples, elapsed)) break;   // StopReason::kPrecisionReached, ...
//   }
//   rule.estimate()      // the median and its 95 % interval at the last look
//
// "The 95 % interval of the median is within 1 %" means: its half width, (upper - lower) / 2, is at most 1 %
// of the median. The interval is the distribution-free one at the effective sample size (quantile.h,
// autocorrelation.h), so a mixture of two regimes is bounded as a mixture: what is estimated is the median of
// what the process does over time, in whatever regimes.
//
// Stopping when an interval happens to be narrow lowers its coverage. So the looks are few (each has
// look_growth times the samples of the one before: 50, 65, 85, ...), none comes before min_samples, and
// precision counts only if
// - the 99.99 % interval is within 2.5 times the target: smooth noise passes (3.89 / 1.96 = 1.99), but a
//   mode just outside of the 95 % interval of a mixture does not;
// - the samples are worth 40 independent ones, or 100 where dependence reaches over more than 4 calls: below,
//   the effective sample size is itself too uncertain.
// Measured coverage with the rule on, and where it ends (regimes that hold for more than some 10 calls), is
// in docs/statistics.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/units.h"
#include "stats/interval.h"

namespace deepgap::stats {

struct StoppingOptions {
  // Half width of the interval of the median over the median.
  double target_relative_half_width = 0.01;
  double confidence = kDefaultConfidence;
  // The first look. Below some 50 the effective sample size is too uncertain for 93 % coverage under
  // dependence.
  std::int64_t min_samples = 50;
  // No stop for precision before: a short burst says little about a machine whose clock still moves.
  Nanoseconds min_time{std::chrono::milliseconds(500)};
  // Stops here at the latest, whatever the precision; the call in flight is finished.
  Nanoseconds time_limit{std::chrono::seconds(10)};
  std::int64_t max_samples = 1'000'000;
  // Each look has this many times the samples of the one before; above 1.
  double look_growth = 1.3;
  // Published protocols: exactly so many samples, no look, no target. The time limit still holds.
  std::optional<std::int64_t> fixed_count;
};

enum class StopReason { kPrecisionReached, kTimeLimit, kSampleLimit, kFixedCount, kCancelled };
// "precision reached", "time limit", "sample limit", "fixed count", "cancelled".
std::string_view to_string(StopReason reason);

class StoppingRule {
 public:
  static constexpr double kGuardConfidence = 0.9999;
  static constexpr double kGuardFactor = 2.5;
  static constexpr double kLeastEffective = 40;
  static constexpr double kStrongDependence = 4;
  static constexpr double kLeastEffectiveStrong = 100;

  explicit StoppingRule(const StoppingOptions& options = {});

  // Whether look() has something to decide after `count` samples and `elapsed` since the first call began.
  // For hot loops.
  bool due(std::int64_t count, Nanoseconds elapsed) const {
    return (count >= next_look_ && elapsed >= earliest_) || elapsed >= options_.time_limit ||
           count >= last_count_;
  }

  // Samples so far, ns, in time order. The reason to stop, or none: go on. O(n); allocates. Harmless when not
  // due.
  std::optional<StopReason> look(std::span<const std::int64_t> samples, Nanoseconds elapsed);

  // The median with its interval at the last look that made one (absent before, and with a fixed count until
  // the end).
  const std::optional<Estimated>& estimate() const { return estimate_; }
  int looks() const { return looks_; }
  const StoppingOptions& options() const { return options_; }

 private:
  StoppingOptions options_;
  std::int64_t next_look_;
  std::int64_t last_count_;
  Nanoseconds earliest_;
  std::optional<Estimated> estimate_;
  int looks_ = 0;
};

// The rule's estimate of one process's samples in time order, also for samples taken elsewhere; absent for
// none.
std::optional<Estimated> median_within_process(std::span<const std::int64_t> samples,
                                               double confidence = kDefaultConfidence);

}  // namespace deepgap::stats
