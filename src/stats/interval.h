// What an estimation gives: a point with the interval that the sample supports.
//
//   Estimated p99 = *quantile_estimate(sorted, 0.99);   // n = 200
//   p99.value  3.41e6     p99.lower  3.12e6     p99.upper  absent: 200 samples cannot bound a p99 from above
//
// A bound that the sample cannot give is absent, never invented. core turns an Estimated into its Estimate
// (with a unit).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace deepgap::stats {

inline constexpr double kDefaultConfidence = 0.95;

// Two bounds in the unit of what is estimated; each may be absent alone. `confidence` is that of the
// two-sided interval; each bound alone holds with (1 + confidence) / 2, so a one-sided statement needs no
// correction.
struct Interval {
  std::optional<double> lower;
  std::optional<double> upper;
  double confidence = kDefaultConfidence;
};

// A point, its interval, the number of raw samples behind it and how it was made (one of the kMethod names
// below).
struct Estimated {
  double value = 0;
  std::optional<double> lower;
  std::optional<double> upper;
  double confidence = kDefaultConfidence;
  std::int64_t n = 0;
  std::string_view method;
  // Whether the variation between processes is in the interval. False: another process may well land outside
  // of it.
  bool between_processes = false;

  Interval interval() const { return {lower, upper, confidence}; }
};

// (upper - lower) / (2 |value|); absent where a bound is, or where the value is 0.
inline std::optional<double> relative_half_width(double value, std::optional<double> lower,
                                                 std::optional<double> upper) {
  if (!lower || !upper || value == 0) return std::nullopt;
  const double magnitude = value < 0 ? -value : value;
  return (*upper - *lower) / (2 * magnitude);
}
inline std::optional<double> relative_half_width(const Estimated& estimate) {
  return relative_half_width(estimate.value, estimate.lower, estimate.upper);
}

// The methods by their names in documents; docs/statistics.md describes each.
inline constexpr std::string_view kMethodOrderStatistic = "order statistics";
inline constexpr std::string_view kMethodOrderStatisticEffective = "order statistics, effective sample size";
inline constexpr std::string_view kMethodBootstrap = "percentile bootstrap";
inline constexpr std::string_view kMethodBootstrapNested = "percentile bootstrap, processes then samples";
inline constexpr std::string_view kMethodBootstrapOneProcess = "percentile bootstrap, within one process";
inline constexpr std::string_view kMethodNested =
    "t on process medians, at least the within-process interval";
inline constexpr std::string_view kMethodNestedQuantile =
    "t on process quantiles, at least the pooled interval";
inline constexpr std::string_view kMethodNestedQuantileNear =
    "t on the nearest quantiles that all processes have, at least the pooled interval";
inline constexpr std::string_view kMethodOneProcess =
    "order statistics, effective sample size, within one process";
inline constexpr std::string_view kMethodProcessMean = "t on one value a process";
inline constexpr std::string_view kMethodThroughput =
    "t on process throughputs, at least the batch-means interval";
inline constexpr std::string_view kMethodThroughputOneProcess = "batch means, within one process";
inline constexpr std::string_view kMethodRatio =
    "Welch t on logarithms of process medians, at least the within-process interval";
inline constexpr std::string_view kMethodRatioWithin = "within-process intervals only, one process on a side";
inline constexpr std::string_view kMethodRatioValues = "Welch t on logarithms";
inline constexpr std::string_view kMethodRatioPaired = "order statistics of paired ratios";

}  // namespace deepgap::stats
