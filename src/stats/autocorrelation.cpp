#include "stats/autocorrelation.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

#include "stats/binary_series.h"
#include "stats/quantile.h"

namespace deepgap::stats {
namespace {

constexpr std::size_t kLags = 64;          // looked at before the series is halved
constexpr std::size_t kLongest = 1 << 15;  // longer ones are halved first: so many values tell to some 2 %
constexpr std::size_t kShortestHalved = 4 * kLags;
constexpr std::size_t kShortest = 4;  // below, there is nothing to tell
// Other levels count when they are clearly more dependent than the quantile's own: the least of five
// estimates of equal values would be too small by chance.
constexpr double kClearlyMoreDependent = 0.6;
constexpr double kLevels[] = {0.1, 0.25, 0.5, 0.75, 0.9};
constexpr double kLeastDivisor = 0.5;  // of the correction for the sample's own mean

void centre(std::span<double> series) {
  const double mean = std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
  for (double& value : series) value -= mean;
}

// Of a centred series, divisor n.
double autocovariance(std::span<const double> centred, std::size_t lag) {
  // Four sums, as one alone waits for each addition before the next.
  double sums[4] = {0, 0, 0, 0};
  const std::size_t count = centred.size() - lag;
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] += centred[i + j] * centred[i + j + lag];
  }
  for (; i < count; ++i) sums[0] += centred[i] * centred[i + lag];
  return (sums[0] + sums[1] + sums[2] + sums[3]) / static_cast<double>(centred.size());
}

struct LongRun {
  double variance = 0;  // n var(mean)
  bool ended = false;   // whether `lags` reached the end of the sequence
};

// The sum of Geyer's initial monotone sequence of a centred series, lags up to K, with two corrections:
// - taking out the sample's own mean lowers each autocovariance by about var(mean); with 2 K + 1 of them in
// the sum, that is made
//   good by the divisor 1 - (2 K + 1) / n;
// - the sum itself has a relative standard error of about sqrt(2 (2 K + 1) / n) (Priestley 1981, 6.2.4).
// Where dependence is
//   strong, an interval that takes it for exact is too narrow and a stopping rule picks the too narrow ones:
//   it is raised by one such error, in proportion between a sum of 2 and of 4 variances.
// `sample_variance` is that of the samples, of which `samples_each` are averaged in each value.
// `autocovariance_at`(lag) is that of the series of `size` values.
template <typename Autocovariance>
LongRun long_run_variance(Autocovariance autocovariance_at, std::size_t size, double sample_variance,
                          double samples_each) {
  const std::size_t lags = std::min(kLags, size);
  const double variance = autocovariance_at(0);
  double pair = variance + autocovariance_at(1);
  LongRun result{-variance + 2 * std::max(0.0, pair), pair <= 0};
  std::size_t lag = 2;
  for (; !result.ended && lag + 1 < lags; lag += 2) {
    const double next = autocovariance_at(lag) + autocovariance_at(lag + 1);
    if (next <= 0) {
      result.ended = true;
      break;
    }
    pair = std::min(pair, next);
    result.variance += 2 * pair;
  }
  const double used = static_cast<double>(2 * lag - 1) / static_cast<double>(size);
  result.variance /= std::max(1 - used, kLeastDivisor);
  if (variance > 0) {
    const double strength = std::clamp((result.variance * samples_each / sample_variance - 2) / 2, 0.0, 1.0);
    result.variance *= 1 + strength * std::sqrt(2 * used);
  }
  return result;
}

// Averages of neighbours: half the length, and twice the samples in each value. n var(mean) stays what it is.
void halve(std::vector<double>& series) {
  for (std::size_t i = 0; i < series.size() / 2; ++i) series[i] = (series[2 * i] + series[2 * i + 1]) / 2;
  series.resize(series.size() / 2);
}

double effective_size(double n, double variance, double long_run) {
  return std::clamp(n * variance / std::max(long_run, variance), 1.0, n);
}

double effective_size_of(std::vector<double> series) {
  const auto n = static_cast<double>(series.size());
  if (series.size() < kShortest) return std::max(n, 1.0);
  centre(series);
  const double variance = autocovariance(series, 0);
  if (!(variance > 0)) return n;
  double block = 1;  // samples averaged in one value of the series
  const auto coarser = [&] {
    halve(series);
    block *= 2;
  };
  while (series.size() > kLongest) coarser();
  const auto of_series = [&] {
    return long_run_variance([&](std::size_t lag) { return autocovariance(series, lag); }, series.size(),
                             variance, block);
  };
  LongRun estimate = of_series();
  while (!estimate.ended && series.size() >= kShortestHalved) {
    coarser();
    estimate = of_series();
  }
  return effective_size(n, variance, estimate.variance * block);
}

template <typename T>
double indicator_effective_size(std::span<const T> series, double quantile_value) {
  const auto n = static_cast<double>(series.size());
  if (series.size() < kShortest) return std::max(n, 1.0);
  if (series.size() <= kLongest) {
    const BinarySeries bits(series, quantile_value);
    const double variance = bits.autocovariance(0);
    if (!(variance > 0)) return n;
    const LongRun estimate = long_run_variance([&](std::size_t lag) { return bits.autocovariance(lag); },
                                               series.size(), variance, 1);
    if (estimate.ended || series.size() < kShortestHalved)
      return effective_size(n, variance, estimate.variance);
  }
  // To be halved: averages of neighbours are no longer zeros and ones.
  std::vector<double> indicators(series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    indicators[i] = static_cast<double>(series[i]) <= quantile_value ? 1.0 : 0.0;
  }
  return effective_size_of(std::move(indicators));
}

}  // namespace

double autocorrelation(std::span<const double> series, std::size_t lag) {
  std::vector<double> copy(series.begin(), series.end());
  centre(copy);
  const double variance = autocovariance(copy, 0);
  return variance > 0 ? autocovariance(copy, lag) / variance : 0;
}

double effective_sample_size(std::span<const double> series) {
  return effective_size_of(std::vector<double>(series.begin(), series.end()));
}

double quantile_effective_sample_size(std::span<const std::int64_t> series, double quantile_value) {
  return indicator_effective_size(series, quantile_value);
}

double quantile_effective_sample_size(std::span<const double> series, double quantile_value) {
  return indicator_effective_size(series, quantile_value);
}

ProcessDependence::ProcessDependence(std::span<const std::int64_t> series,
                                     std::span<const std::int64_t> sorted)
    : series_(series), sorted_(sorted) {
  static_assert(std::size(kLevels) == std::tuple_size_v<decltype(at_levels_)>);
  std::transform(std::begin(kLevels), std::end(kLevels), at_levels_.begin(),
                 [&](double level) { return at_level(level); });
  smallest_ = *std::min_element(at_levels_.begin(), at_levels_.end());
}

double ProcessDependence::at_level(double p) const {
  return quantile_effective_sample_size(series_, quantile_sorted(sorted_, p));
}

Dependence ProcessDependence::at(double p) const {
  const auto level = std::find(std::begin(kLevels), std::end(kLevels), p);
  const double own =
      level == std::end(kLevels) ? at_level(p) : at_levels_[static_cast<std::size_t>(level - kLevels)];
  const double smallest = std::min(own, smallest_);
  return {smallest < kClearlyMoreDependent * own ? smallest : own, smallest};
}

Dependence dependence(std::span<const std::int64_t> series, std::span<const std::int64_t> sorted, double p) {
  return ProcessDependence(series, sorted).at(p);
}

}  // namespace deepgap::stats
