// How many independent samples a series of dependent ones is worth.
//
//   quantile_effective_sample_size(latencies, median)   // AR(1) of 0.5, n = 1000: about 430
//
// n_eff = n / tau, tau = 1 + 2 sum of autocorrelations. The sum ends where a pair of neighbouring lags is no
// longer positive and never rises from pair to pair (initial monotone sequence, Geyer 1992). If 64 lags do
// not reach that end, neighbours are averaged and the sum is taken over the series of half the length, so
// that the cost stays O(n) also for drifts (the blocking idea of Flyvbjerg and Petersen 1989).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace deepgap::stats {

// The sample autocorrelation at `lag` < n (divisor n); 0 for a constant series.
double autocorrelation(std::span<const double> series, std::size_t lag);

// Of the mean of a series in time order. Between 1 and n; n for fewer than 4 samples or a constant series.
double effective_sample_size(std::span<const double> series);

// Of a quantile: that of the series of indicators "sample <= quantile_value", whose mean decides how far off
// the order statistic is. Outliers weigh no more than other samples. Between 1 and n.
double quantile_effective_sample_size(std::span<const std::int64_t> series, double quantile_value);
double quantile_effective_sample_size(std::span<const double> series, double quantile_value);

// What the samples of one process are worth for the interval of their p-quantile.
struct Dependence {
  // For quantile_estimate(): the effective size at the quantile itself, or the smallest one at the 10th,
  // 25th, 50th, 75th and 90th percentile where that is below 0.6 of it. A process that changes between two
  // regimes moves at the level between them, which may lie far from the quantile, and its quantile moves with
  // the regimes' shares.
  double effective_n = 0;
  // The smallest of all of these.
  double smallest = 0;
};

// The dependence of one process's samples at several quantiles, which share the levels above. `series` in
// time order, `sorted` the same samples in ascending order; at least one sample; both must outlive this.
class ProcessDependence {
 public:
  ProcessDependence(std::span<const std::int64_t> series, std::span<const std::int64_t> sorted);
  Dependence at(double p) const;

 private:
  double at_level(double p) const;

  std::span<const std::int64_t> series_;
  std::span<const std::int64_t> sorted_;
  std::array<double, 5> at_levels_{};
  double smallest_ = 0;
};

// At one quantile.
Dependence dependence(std::span<const std::int64_t> series, std::span<const std::int64_t> sorted, double p);

}  // namespace deepgap::stats
