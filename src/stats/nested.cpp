#include "stats/nested.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/autocorrelation.h"
#include "stats/distributions.h"
#include "stats/quantile.h"

namespace deepgap::stats {
namespace {

constexpr std::size_t kFewestCallsForBatches = 20;
constexpr std::size_t kFewestBatches = 10;
constexpr std::size_t kMostBatches = 20;
// For a median by its processes alone.
constexpr std::size_t kFewestProcessesAlone = 3;
constexpr std::int64_t kFewestSamplesEach = 5;

struct MeanAndError {
  double mean = 0;
  double standard_error = 0;
};

MeanAndError mean_and_error(std::span<const double> values) {
  const auto k = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / k;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (k - 1) / k)};
}

// The smallest interval that holds both; a bound that `at_least` lacks stays absent.
void widen(Estimated& estimate, const Interval& at_least) {
  estimate.lower = at_least.lower && estimate.lower
                       ? std::optional(std::min(*estimate.lower, *at_least.lower))
                       : std::nullopt;
  estimate.upper = at_least.upper && estimate.upper
                       ? std::optional(std::max(*estimate.upper, *at_least.upper))
                       : std::nullopt;
}

// Time per call of one window by batch means; absent where the calls are too few.
std::optional<MeanAndError> time_per_call(std::span<const std::int64_t> finished_at, std::size_t& batches) {
  if (finished_at.size() < kFewestCallsForBatches) return std::nullopt;
  std::vector<std::int64_t> times(finished_at.begin(), finished_at.end());
  if (!std::is_sorted(times.begin(), times.end())) std::sort(times.begin(), times.end());
  const std::size_t calls = times.size() - 1;  // the first only starts the clock
  batches = std::clamp(calls / 10, kFewestBatches, kMostBatches);
  std::vector<double> per_call;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    const std::size_t first = calls * batch / batches;
    const std::size_t last = calls * (batch + 1) / batches;
    if (last == first) continue;
    per_call.push_back(static_cast<double>(times[last] - times[first]) / static_cast<double>(last - first));
  }
  batches = per_call.size();
  const MeanAndError result = mean_and_error(per_call);
  if (!(result.mean > 0)) return std::nullopt;
  return result;
}

// Batch-means bounds of the whole: the windows' relative errors, weighted by their length, give that of the
// total.
Interval batch_means_interval(std::span<const ThroughputWindow> windows, double value, double total_ns,
                              double confidence) {
  Interval interval{.confidence = confidence};
  double variance = 0;
  double degrees = 0;
  for (const ThroughputWindow& window : windows) {
    std::size_t batches = 0;
    const auto per_call = time_per_call(window.finished_at, batches);
    if (!per_call) return interval;
    const double weight = static_cast<double>(window.window_ns) / total_ns;
    const double relative = per_call->standard_error / per_call->mean * weight;
    variance += relative * relative;
    degrees += static_cast<double>(batches - 1);
  }
  const double reach = student_t_quantile((1 + confidence) / 2, degrees) * std::sqrt(variance);
  interval.lower = value / (1 + reach);
  if (reach < 1) interval.upper = value / (1 - reach);
  return interval;
}

}  // namespace

std::optional<Estimated> process_mean(std::span<const double> values, double confidence) {
  if (values.empty()) return std::nullopt;
  const bool positive = std::all_of(values.begin(), values.end(), [](double value) { return value > 0; });
  std::vector<double> scaled(values.begin(), values.end());
  if (positive)
    std::transform(scaled.begin(), scaled.end(), scaled.begin(),
                   [](double value) { return std::log(value); });
  const auto back = [&](double value) { return positive ? std::exp(value) : value; };
  Estimated result{.confidence = confidence, .n = static_cast<std::int64_t>(values.size())};
  result.method = kMethodProcessMean;
  if (scaled.size() < 2) {
    result.value = values[0];
    return result;
  }
  const MeanAndError mean = mean_and_error(scaled);
  const double degrees = static_cast<double>(scaled.size() - 1);
  const double reach = student_t_quantile((1 + confidence) / 2, degrees) * mean.standard_error;
  result.value = back(mean.mean);
  result.lower = back(mean.mean - reach);
  result.upper = back(mean.mean + reach);
  result.between_processes = true;
  return result;
}

double process_level(std::int64_t fewest, double p) {
  const double tail = fewest < 2 ? 0.5 : 1 / static_cast<double>(fewest);
  return std::clamp(p, tail, 1 - tail);
}

Estimated with_processes(const Estimated& within, std::span<const double> own, double p, double level) {
  Estimated result = within;
  result.method = kMethodOneProcess;
  if (own.size() < 2) return result;
  const auto between = process_mean(own, within.confidence);
  result.lower = between->lower;
  result.upper = between->upper;
  if (level != p) {
    const bool as_share = std::all_of(own.begin(), own.end(), [](double value) { return value > 0; });
    const auto moved = [&](double bound) {
      return as_share ? bound * (within.value / between->value) : bound + (within.value - between->value);
    };
    widen(result, {.lower = moved(*between->lower), .upper = moved(*between->upper)});
  }
  // Medians of independent processes need no bound of the samples beside them, which depend on each other too
  // much for one. The point pools the samples, the t does not: it is kept inside.
  const bool median_of_many = p == 0.5 && own.size() >= kFewestProcessesAlone &&
                              within.n >= kFewestSamplesEach * static_cast<std::int64_t>(own.size());
  if (median_of_many && (!within.lower || !within.upper)) {
    widen(result,
          {.lower = within.lower.value_or(within.value), .upper = within.upper.value_or(within.value)});
  } else {
    widen(result, within.interval());
  }
  result.between_processes = true;
  result.method = level != p ? kMethodNestedQuantileNear : p == 0.5 ? kMethodNested : kMethodNestedQuantile;
  return result;
}

std::optional<Estimated> nested_quantile(std::span<const ProcessSamples> processes, double p,
                                         double confidence) {
  std::vector<std::int64_t> pooled;
  std::vector<double> own;
  double effective_n = 0;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const ProcessSamples samples : processes) {
    if (!samples.empty()) fewest = std::min(fewest, static_cast<std::int64_t>(samples.size()));
  }
  const double level = process_level(fewest, p);
  for (const ProcessSamples samples : processes) {
    if (samples.empty()) continue;
    std::vector<std::int64_t> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    own.push_back(quantile_sorted(std::span<const std::int64_t>(sorted), level));
    effective_n += dependence(samples, sorted, p).effective_n;
    pooled.insert(pooled.end(), samples.begin(), samples.end());
  }
  if (pooled.empty()) return std::nullopt;
  std::sort(pooled.begin(), pooled.end());
  const auto within = quantile_estimate(std::span<const std::int64_t>(pooled), p, confidence, effective_n);
  return with_processes(*within, own, p, level);
}

std::optional<Estimated> nested_throughput(std::span<const ThroughputWindow> windows, double confidence) {
  std::vector<ThroughputWindow> used;
  std::vector<double> throughputs;
  double samples = 0;
  double total_ns = 0;
  std::int64_t calls = 0;
  for (const ThroughputWindow& window : windows) {
    if (!(window.samples > 0) || window.window_ns <= 0) continue;
    used.push_back(window);
    throughputs.push_back(window.samples / static_cast<double>(window.window_ns) * 1e9);
    samples += window.samples;
    total_ns += static_cast<double>(window.window_ns);
    calls += static_cast<std::int64_t>(window.finished_at.size());
  }
  if (used.empty()) return std::nullopt;
  Estimated result{.value = samples / total_ns * 1e9, .confidence = confidence};
  result.n = calls > 0 ? calls : static_cast<std::int64_t>(used.size());
  const Interval within = batch_means_interval(used, result.value, total_ns, confidence);
  if (used.size() == 1) {
    result.lower = within.lower;
    result.upper = within.upper;
    result.method = kMethodThroughputOneProcess;
    return result;
  }
  const auto between = process_mean(throughputs, confidence);
  // The point weighs windows by their length, the t does not: it is kept inside.
  result.lower = std::min(*between->lower, result.value);
  result.upper = std::max(*between->upper, result.value);
  // Without the calls' stamps the windows' own spread is all there is to go by.
  if (within.lower) result.lower = std::min(*result.lower, *within.lower);
  if (within.upper) result.upper = std::max(*result.upper, *within.upper);
  result.between_processes = true;
  result.method = kMethodThroughput;
  return result;
}

}  // namespace deepgap::stats
