#include "stats/quantile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/distributions.h"
#include "stats/memo.h"

namespace deepgap::stats {
namespace {

// n p in floating point may lie a few units in the last place above the whole number that is meant (100 *
// 0.07).
constexpr double kRankTolerance = 1e-12;

bool is_even_median(std::size_t n, double p) {
  return p == 0.5 && n % 2 == 0;
}

// Halves first: the sum of two int64 may overflow.
template <typename T>
double middle(T low, T high) {
  return static_cast<double>(low) / 2 + static_cast<double>(high) / 2;
}

std::size_t index_of_rank(std::int64_t rank) {
  return static_cast<std::size_t>(rank - 1);
}

template <typename T>
double quantile_of_sorted(std::span<const T> sorted, double p) {
  const std::size_t n = sorted.size();
  if (is_even_median(n, p)) return middle(sorted[n / 2 - 1], sorted[n / 2]);
  return static_cast<double>(sorted[index_of_rank(nearest_rank(static_cast<std::int64_t>(n), p))]);
}

template <typename T>
double quantile_by_selection(std::span<T> samples, double p) {
  const std::size_t n = samples.size();
  if (is_even_median(n, p)) {
    const auto upper = samples.begin() + static_cast<std::ptrdiff_t>(n / 2);
    std::nth_element(samples.begin(), upper, samples.end());
    return middle(*std::max_element(samples.begin(), upper), *upper);
  }
  const auto at = samples.begin() +
                  static_cast<std::ptrdiff_t>(index_of_rank(nearest_rank(static_cast<std::int64_t>(n), p)));
  std::nth_element(samples.begin(), at, samples.end());
  return static_cast<double>(*at);
}

template <typename T>
double quantile_of_copy(std::span<const T> samples, double p) {
  std::vector<T> copy(samples.begin(), samples.end());
  return quantile_by_selection(std::span<T>(copy), p);
}

// The largest k in [-1, n] with misses(k) <= allowed, for a misses() that rises with k, misses(-1) = 0.
// Gallops from `guess`.
template <typename Misses>
std::int64_t largest_allowed(std::int64_t n, std::int64_t guess, double allowed, Misses misses) {
  std::int64_t good = -1;
  std::int64_t bad = n + 1;
  std::int64_t step = 1;
  std::int64_t at = std::clamp<std::int64_t>(guess, 0, n);
  const bool rising = misses(at) <= allowed;
  (rising ? good : bad) = at;
  while (rising ? good + step < bad : bad - step > good) {
    at = rising ? good + step : bad - step;
    const bool fine = misses(at) <= allowed;
    (fine ? good : bad) = at;
    if (fine != rising) break;
    step *= 2;
  }
  while (bad - good > 1) {
    at = good + (bad - good) / 2;
    (misses(at) <= allowed ? good : bad) = at;
  }
  return good;
}

QuantileRanks find_ranks(std::int64_t n, double p, double confidence) {
  const double allowed = (1 - confidence) / 2;
  const auto trials = static_cast<double>(n);
  const double reach = normal_quantile(1 - allowed) * std::sqrt(trials * p * (1 - p));
  // X(r) > q_p when at most r - 1 samples lie below q_p.
  const std::int64_t lower =
      1 + largest_allowed(n, static_cast<std::int64_t>(trials * p - reach) - 1, allowed,
                          [&](std::int64_t k) { return binomial_at_most(k, n, p); });
  // X(s) < q_p when at least s samples lie below it: counted from the top, t = n - s.
  const std::int64_t from_top =
      largest_allowed(n, static_cast<std::int64_t>(trials * (1 - p) - reach) - 1, allowed,
                      [&](std::int64_t t) { return binomial_at_least(n - t, n, p); });
  QuantileRanks ranks;
  if (lower >= 1) ranks.lower = lower;
  if (from_top >= 0) ranks.upper = n - from_top;
  return ranks;
}

template <typename T>
std::optional<Estimated> estimate(std::span<const T> sorted, double p, double confidence,
                                  std::optional<double> effective_n) {
  if (sorted.empty()) return std::nullopt;
  const auto n = static_cast<std::int64_t>(sorted.size());
  const QuantileRanks ranks = quantile_ranks(n, effective_n.value_or(static_cast<double>(n)), p, confidence);
  Estimated result{.value = quantile_of_sorted(sorted, p), .confidence = confidence, .n = n};
  result.method = effective_n ? kMethodOrderStatisticEffective : kMethodOrderStatistic;
  if (ranks.lower) result.lower = static_cast<double>(sorted[index_of_rank(*ranks.lower)]);
  if (ranks.upper) result.upper = static_cast<double>(sorted[index_of_rank(*ranks.upper)]);
  return result;
}

}  // namespace

std::int64_t nearest_rank(std::int64_t n, double p) {
  const double exact = static_cast<double>(n) * p;
  const auto rank = static_cast<std::int64_t>(std::ceil(exact * (1 - kRankTolerance)));
  return std::clamp<std::int64_t>(rank, 1, n);
}

double quantile_sorted(std::span<const std::int64_t> sorted, double p) {
  return quantile_of_sorted(sorted, p);
}
double quantile_sorted(std::span<const double> sorted, double p) {
  return quantile_of_sorted(sorted, p);
}
double quantile_in_place(std::span<std::int64_t> samples, double p) {
  return quantile_by_selection(samples, p);
}
double quantile_in_place(std::span<double> samples, double p) {
  return quantile_by_selection(samples, p);
}
double quantile(std::span<const std::int64_t> samples, double p) {
  return quantile_of_copy(samples, p);
}
double quantile(std::span<const double> samples, double p) {
  return quantile_of_copy(samples, p);
}

QuantileRanks quantile_ranks(std::int64_t n, double p, double confidence) {
  thread_local Memo<QuantileRanks, 3> memo;
  return memo.at({static_cast<double>(n), p, confidence}, [&] { return find_ranks(n, p, confidence); });
}

QuantileRanks quantile_ranks(std::int64_t n, double effective_n, double p, double confidence) {
  if (!(effective_n < static_cast<double>(n))) return quantile_ranks(n, p, confidence);
  const auto m = std::max<std::int64_t>(1, static_cast<std::int64_t>(effective_n));
  QuantileRanks ranks = quantile_ranks(m, p, confidence);
  const double stretch = static_cast<double>(n + 1) / static_cast<double>(m + 1);
  if (ranks.lower) {
    ranks.lower = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::floor(static_cast<double>(*ranks.lower) * stretch)), 1, n);
  }
  if (ranks.upper) {
    ranks.upper = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::ceil(static_cast<double>(*ranks.upper) * stretch)), 1, n);
  }
  return ranks;
}

double rank_coverage(std::int64_t n, const QuantileRanks& ranks, double p) {
  double misses = 0;
  if (ranks.lower) misses += binomial_at_most(*ranks.lower - 1, n, p);
  if (ranks.upper) misses += binomial_at_least(*ranks.upper, n, p);
  return 1 - misses;
}

std::optional<Estimated> quantile_estimate(std::span<const std::int64_t> sorted, double p, double confidence,
                                           std::optional<double> effective_n) {
  return estimate(sorted, p, confidence, effective_n);
}

std::optional<Estimated> quantile_estimate(std::span<const double> sorted, double p, double confidence,
                                           std::optional<double> effective_n) {
  return estimate(sorted, p, confidence, effective_n);
}

}  // namespace deepgap::stats
