#include "stats/warmup.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/quantile.h"

namespace deepgap::stats {
namespace {

constexpr std::size_t kFewestCalls = 8;
constexpr double kStandardErrors = 2;
// Standard error of a median of n normal values over their deviation / sqrt(n): sqrt(pi / 2).
constexpr double kErrorOfMedian = 1.2533;
// Median of |x(i-1) - 2 x(i) + x(i+1)| over the deviation, for independent normal x: 0.6745 sqrt(6).
constexpr double kMedianSecondDifference = 1.652;

// The deviation of one call, from second differences: a drift hardly enters, a slow first call not at all.
double noise_of(std::span<const std::int64_t> samples) {
  std::vector<std::int64_t> differences;
  for (std::size_t i = 1; i + 1 < samples.size(); ++i) {
    differences.push_back(std::abs(samples[i - 1] - 2 * samples[i] + samples[i + 1]));
  }
  return quantile_in_place(std::span<std::int64_t>(differences), 0.5) / kMedianSecondDifference;
}

// Whether the medians of two stretches agree, to the tolerance or to what noise explains.
bool level(std::span<const std::int64_t> a, std::span<const std::int64_t> b, double noise, double tolerance) {
  const double last = median(b);
  const double error = kErrorOfMedian * noise *
                       std::sqrt(1 / static_cast<double>(a.size()) + 1 / static_cast<double>(b.size()));
  return std::abs(median(a) - last) <= std::max(tolerance * std::abs(last), kStandardErrors * error);
}

}  // namespace

Steadiness steadiness(std::span<const std::int64_t> samples, double tolerance) {
  const std::size_t n = samples.size();
  Steadiness result{false, n};
  if (n < kFewestCalls) return result;
  const double noise = noise_of(samples);
  const std::size_t quarter = n / 4;
  if (!level(samples.subspan(n - 2 * quarter, quarter), samples.last(quarter), noise, tolerance))
    return result;
  result.steady = true;
  // Backwards in steps of a sixteenth, while each is level with the second half.
  const auto half = samples.last(2 * quarter);
  const std::size_t step = std::max<std::size_t>(2, n / 16);
  result.steady_from = n - half.size();
  while (result.steady_from > 0) {
    const std::size_t length = std::min(step, result.steady_from);
    if (!level(samples.subspan(result.steady_from - length, length), half, noise, tolerance)) break;
    result.steady_from -= length;
  }
  return result;
}

WarmupRule::WarmupRule(const WarmupOptions& options)
    : options_(options),
      next_look_(std::max<std::int64_t>(options.min_calls, static_cast<std::int64_t>(kFewestCalls))) {}

bool WarmupRule::done(std::span<const std::int64_t> samples, Nanoseconds elapsed) {
  const auto count = static_cast<std::int64_t>(samples.size());
  const bool limit = count >= options_.max_calls || elapsed >= options_.time_limit;
  if (!limit && (count < next_look_ || elapsed < options_.min_time)) return false;
  const bool steady_before = result_.steady;
  result_ = steadiness(samples, options_.tolerance);
  const double grown = std::ceil(static_cast<double>(count) * options_.look_growth);
  next_look_ = std::max(count + 1, static_cast<std::int64_t>(grown));
  return (result_.steady && steady_before) || limit;
}

}  // namespace deepgap::stats
