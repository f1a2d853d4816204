// Quantiles of samples and their distribution-free confidence intervals.
//
//   std::sort(samples);
//   quantile_sorted(samples, 0.99)          // the 99th of 100
//   quantile_ranks(100, 0.5)                // {40, 61}: the 95 % interval of the median is x(40) .. x(61)
//   quantile_ranks(100, 0.99)               // {97, absent}: 100 samples do not bound the p99 from above
//   quantile_estimate(samples, 0.5)         // value, bounds, n, method
//
// Definition. The p-quantile of n samples is the order statistic of rank ceil(n p) (nearest rank, the inverse
// of the empirical distribution function, type 1 of Hyndman and Fan 1996): a time that was really measured.
// The median alone is, for even n, the mean of the two middle samples (type 2), because that is what most
// readers and numpy call the median, and because the lower middle one is biased for small n.
//
// Interval. X(r) <= q_p holds with P(B >= r), X(s) >= q_p with P(B <= s - 1), B ~ Binomial(n, p), for any
// continuous distribution, and at least so for others (David and Nagaraja, Order Statistics, 7.1). Each bound
// misses with at most (1 - confidence) / 2: equal tails, the largest r and the smallest s that do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/interval.h"

namespace deepgap::stats {

// ceil(n p) between 1 and n, counted from 1; exact where n p is a whole number up to rounding. n >= 1, 0 < p
// < 1.
std::int64_t nearest_rank(std::int64_t n, double p);

// The p-quantile of samples in ascending order. At least one sample.
double quantile_sorted(std::span<const std::int64_t> sorted, double p);
double quantile_sorted(std::span<const double> sorted, double p);

// The same of unsorted samples in O(n); reorders them.
double quantile_in_place(std::span<std::int64_t> samples, double p);
double quantile_in_place(std::span<double> samples, double p);

// The same of samples that stay as they are (copies them). quantile() and median() need at least one sample.
double quantile(std::span<const std::int64_t> samples, double p);
double quantile(std::span<const double> samples, double p);
inline double median(std::span<const std::int64_t> samples) {
  return quantile(samples, 0.5);
}
inline double median(std::span<const double> samples) {
  return quantile(samples, 0.5);
}

// Ranks, counted from 1, of the order statistics that bound a quantile.
struct QuantileRanks {
  std::optional<std::int64_t> lower;
  std::optional<std::int64_t> upper;
};

// For n independent samples. Smallest n with both bounds at 95 %: 6 (p50), 36 (p90), 72 (p95), 368 (p99).
QuantileRanks quantile_ranks(std::int64_t n, double p, double confidence = kDefaultConfidence);

// For n samples worth `effective_n` independent ones (autocorrelation.h): the ranks r, s of m =
// floor(effective_n) samples, moved to the same share of n, floor(r (n + 1) / (m + 1)) and ceil(s (n + 1) /
// (m + 1)). An effective_n above n counts as n.
QuantileRanks quantile_ranks(std::int64_t n, double effective_n, double p, double confidence);

// The exact probability that X(lower) <= q_p <= X(upper) for n independent samples of a continuous
// distribution; an absent bound never misses.
double rank_coverage(std::int64_t n, const QuantileRanks& ranks, double p);

// The quantile of samples in ascending order with its interval; absent for no samples.
std::optional<Estimated> quantile_estimate(std::span<const std::int64_t> sorted, double p,
                                           double confidence = kDefaultConfidence,
                                           std::optional<double> effective_n = std::nullopt);
std::optional<Estimated> quantile_estimate(std::span<const double> sorted, double p,
                                           double confidence = kDefaultConfidence,
                                           std::optional<double> effective_n = std::nullopt);

}  // namespace deepgap::stats
