#include "stats/ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/autocorrelation.h"
#include "stats/distributions.h"
#include "stats/quantile.h"

namespace deepgap::stats {
namespace {

struct LogMean {
  double mean = 0;
  double variance = 0;  // of the mean; 0 for a single value
  double degrees = 0;
};

LogMean log_mean(std::span<const double> values) {
  const auto k = static_cast<double>(values.size());
  LogMean result;
  for (const double value : values) result.mean += std::log(value) / k;
  if (values.size() < 2) return result;
  for (const double value : values)
    result.variance += std::pow(std::log(value) - result.mean, 2) / (k - 1) / k;
  result.degrees = k - 1;
  return result;
}

// Welch's interval of the logarithm of the ratio; two or more values on each side.
Interval welch(const LogMean& a, const LogMean& b, double confidence) {
  const double variance = a.variance + b.variance;
  const double difference = b.mean - a.mean;
  double reach = 0;
  if (variance > 0) {
    const double degrees =
        variance * variance / (a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees);
    reach = student_t_quantile((1 + confidence) / 2, degrees) * std::sqrt(variance);
  }
  return {std::exp(difference - reach), std::exp(difference + reach), confidence};
}

// One side: its processes' medians, and the pooled median with its within-process interval.
struct Side {
  std::vector<double> medians;
  Estimated pooled;
};

std::optional<Side> side_of(std::span<const ProcessSamples> processes, double confidence) {
  Side side;
  std::vector<std::int64_t> pooled;
  double effective_n = 0;
  for (const ProcessSamples samples : processes) {
    if (samples.empty()) continue;
    std::vector<std::int64_t> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    side.medians.push_back(quantile_sorted(std::span<const std::int64_t>(sorted), 0.5));
    if (!(side.medians.back() > 0)) return std::nullopt;
    effective_n += dependence(samples, sorted, 0.5).effective_n;
    pooled.insert(pooled.end(), samples.begin(), samples.end());
  }
  if (pooled.empty()) return std::nullopt;
  std::sort(pooled.begin(), pooled.end());
  side.pooled = *quantile_estimate(std::span<const std::int64_t>(pooled), 0.5, confidence, effective_n);
  if (!(side.pooled.value > 0)) return std::nullopt;
  return side;
}

// Distances of the bounds from the points, as logarithms, added in squares: exact for independent normal
// errors.
Interval within_interval(const Estimated& a, const Estimated& b, double ratio, double confidence) {
  Interval interval{.confidence = confidence};
  const auto distance = [](double bound, double value) { return std::log(bound / value); };
  if (a.upper && b.lower && *b.lower > 0) {
    interval.lower = ratio * std::exp(-std::hypot(distance(*a.upper, a.value), distance(*b.lower, b.value)));
  }
  if (a.lower && b.upper && *a.lower > 0) {
    interval.upper = ratio * std::exp(std::hypot(distance(*a.lower, a.value), distance(*b.upper, b.value)));
  }
  return interval;
}

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
}

}  // namespace

std::optional<Estimated> ratio_of_medians(std::span<const ProcessSamples> a,
                                          std::span<const ProcessSamples> b, double confidence) {
  const auto side_a = side_of(a, confidence);
  const auto side_b = side_of(b, confidence);
  if (!side_a || !side_b) return std::nullopt;
  Estimated result{.value = side_b->pooled.value / side_a->pooled.value, .confidence = confidence};
  result.n = side_a->pooled.n + side_b->pooled.n;
  const Interval within = within_interval(side_a->pooled, side_b->pooled, result.value, confidence);
  result.lower = within.lower;
  result.upper = within.upper;
  result.method = kMethodRatioWithin;
  if (side_a->medians.size() < 2 || side_b->medians.size() < 2) return result;
  const Interval between = welch(log_mean(side_a->medians), log_mean(side_b->medians), confidence);
  if (within.lower) result.lower = std::min(*within.lower, *between.lower);
  if (within.upper) result.upper = std::max(*within.upper, *between.upper);
  result.method = kMethodRatio;
  result.between_processes = true;
  return result;
}

std::optional<Estimated> ratio_of_values(std::span<const double> a, std::span<const double> b,
                                         double confidence) {
  if (a.empty() || b.empty() || !all_positive(a) || !all_positive(b)) return std::nullopt;
  const LogMean mean_a = log_mean(a);
  const LogMean mean_b = log_mean(b);
  Estimated result{.value = std::exp(mean_b.mean - mean_a.mean), .confidence = confidence};
  result.n = static_cast<std::int64_t>(a.size() + b.size());
  result.method = kMethodRatioValues;
  if (a.size() < 2 || b.size() < 2) return result;
  const Interval interval = welch(mean_a, mean_b, confidence);
  result.lower = interval.lower;
  result.upper = interval.upper;
  result.between_processes = true;
  return result;
}

std::optional<Estimated> ratio_of_pairs(std::span<const double> a, std::span<const double> b,
                                        double confidence) {
  if (a.empty() || a.size() != b.size() || !all_positive(a) || !all_positive(b)) return std::nullopt;
  std::vector<double> ratios(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) ratios[i] = b[i] / a[i];
  std::sort(ratios.begin(), ratios.end());
  auto result = quantile_estimate(std::span<const double>(ratios), 0.5, confidence);
  result->method = kMethodRatioPaired;
  return result;
}

}  // namespace deepgap::stats
