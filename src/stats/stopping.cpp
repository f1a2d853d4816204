#include "stats/stopping.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/autocorrelation.h"
#include "stats/quantile.h"

namespace deepgap::stats {
namespace {

// Median and interval of one process, with what the rule needs beside them.
struct Look {
  Estimated estimate;
  Dependence dependence;
  std::optional<double> guard_half_width;  // relative, at kGuardConfidence
};

std::optional<Look> look_at(std::span<const std::int64_t> samples, double confidence) {
  if (samples.empty()) return std::nullopt;
  std::vector<std::int64_t> copy(samples.begin(), samples.end());
  std::sort(copy.begin(), copy.end());
  const std::span<const std::int64_t> sorted(copy);
  Look look{.dependence = dependence(samples, sorted, 0.5)};
  look.estimate = *quantile_estimate(sorted, 0.5, confidence, look.dependence.effective_n);
  look.estimate.method = kMethodOneProcess;
  look.guard_half_width = relative_half_width(
      *quantile_estimate(sorted, 0.5, StoppingRule::kGuardConfidence, look.dependence.effective_n));
  return look;
}

bool known_well(double effective_n, double n) {
  const bool strongly_dependent = effective_n * StoppingRule::kStrongDependence < n;
  return effective_n >=
         (strongly_dependent ? StoppingRule::kLeastEffectiveStrong : StoppingRule::kLeastEffective);
}

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kPrecisionReached:
      return "precision reached";
    case StopReason::kTimeLimit:
      return "time limit";
    case StopReason::kSampleLimit:
      return "sample limit";
    case StopReason::kFixedCount:
      return "fixed count";
    case StopReason::kCancelled:
      return "cancelled";
  }
  return "cancelled";
}

StoppingRule::StoppingRule(const StoppingOptions& options)
    : options_(options),
      next_look_(options.fixed_count ? std::numeric_limits<std::int64_t>::max() : options.min_samples),
      last_count_(options.fixed_count.value_or(options.max_samples)),
      earliest_(options.min_time) {}

std::optional<StopReason> StoppingRule::look(std::span<const std::int64_t> samples, Nanoseconds elapsed) {
  const auto count = static_cast<std::int64_t>(samples.size());
  if (!due(count, elapsed)) return std::nullopt;
  ++looks_;
  const auto look = look_at(samples, options_.confidence);
  if (look) estimate_ = look->estimate;
  if (options_.fixed_count && count >= last_count_) return StopReason::kFixedCount;
  if (count >= next_look_ && elapsed >= earliest_) {
    const double target = options_.target_relative_half_width;
    const auto half_width = look ? relative_half_width(look->estimate) : std::nullopt;
    const bool precise = half_width && *half_width <= target;
    const bool guarded = look && look->guard_half_width && *look->guard_half_width <= kGuardFactor * target;
    if (precise && guarded && known_well(look->dependence.smallest, static_cast<double>(count))) {
      return StopReason::kPrecisionReached;
    }
  }
  if (count >= last_count_) return StopReason::kSampleLimit;
  if (elapsed >= options_.time_limit) return StopReason::kTimeLimit;
  const double grown = static_cast<double>(std::max(count, next_look_)) * options_.look_growth;
  next_look_ = std::max(count + 1, static_cast<std::int64_t>(std::ceil(grown)));
  return std::nullopt;
}

std::optional<Estimated> median_within_process(std::span<const std::int64_t> samples, double confidence) {
  const auto look = look_at(samples, confidence);
  return look ? std::optional(look->estimate) : std::nullopt;
}

}  // namespace deepgap::stats
