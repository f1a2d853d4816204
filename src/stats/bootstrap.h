// Seeded percentile bootstrap (Efron 1979) for any statistic of a sample, and for samples nested in
// processes.
//
//   auto mean_ratio = bootstrap(samples, [](std::span<const double> s) { return mean(s); }, {.seed = 7});
//
// The same seed gives the same bounds on every platform. A statistic is called with at least one sample and
// must not keep the span. Coverage is below nominal for small n (docs/statistics.md has the table): for
// quantiles prefer quantile.h, for medians of processes nested.h and ratio.h; this is for statistics that
// have no theory of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "stats/interval.h"

namespace deepgap::stats {

struct BootstrapOptions {
  int replicates = 2000;  // enough for the bounds of a 95 % interval to move by a few percent of its width
                          // from seed to seed
  double confidence = kDefaultConfidence;
  std::uint64_t seed = 1;
};

namespace internal {
// The bounds from the replicates: floor and ceiling of the two ranks, outwards. Reorders.
Interval percentile_interval(std::span<double> replicates, double confidence);
}  // namespace internal

// Absent for no samples; no bounds for one sample.
template <typename Statistic>
std::optional<Estimated> bootstrap(std::span<const double> samples, Statistic&& statistic,
                                   const BootstrapOptions& options = {}) {
  if (samples.empty()) return std::nullopt;
  Estimated result{.value = statistic(samples), .confidence = options.confidence};
  result.n = static_cast<std::int64_t>(samples.size());
  result.method = kMethodBootstrap;
  if (samples.size() < 2) return result;
  Random random(options.seed);
  std::vector<double> resample(samples.size());
  std::vector<double> replicates(static_cast<std::size_t>(options.replicates));
  for (double& replicate : replicates) {
    for (double& value : resample) value = samples[random.below(samples.size())];
    replicate = statistic(std::span<const double>(resample));
  }
  const Interval interval = internal::percentile_interval(replicates, options.confidence);
  result.lower = interval.lower;
  result.upper = interval.upper;
  return result;
}

// Processes are drawn first, then samples within each drawn one; the statistic sees them pooled. Empty
// processes are left out. One process: only the variation within it counts, and the method says so. With
// fewer than some 6 processes the interval is too narrow (k processes have only k values to draw): it is no
// substitute for the t of nested.h.
template <typename Statistic>
std::optional<Estimated> bootstrap_nested(std::span<const std::span<const double>> processes,
                                          Statistic&& statistic, const BootstrapOptions& options = {}) {
  std::vector<std::span<const double>> filled;
  std::vector<double> pooled;
  for (const auto& process : processes) {
    if (process.empty()) continue;
    filled.push_back(process);
    pooled.insert(pooled.end(), process.begin(), process.end());
  }
  if (pooled.empty()) return std::nullopt;
  Estimated result{.value = statistic(std::span<const double>(pooled)), .confidence = options.confidence};
  result.n = static_cast<std::int64_t>(pooled.size());
  result.between_processes = filled.size() > 1;
  result.method = result.between_processes ? kMethodBootstrapNested : kMethodBootstrapOneProcess;
  if (pooled.size() < 2) return result;
  Random random(options.seed);
  std::vector<double> replicates(static_cast<std::size_t>(options.replicates));
  for (double& replicate : replicates) {
    pooled.clear();
    for (std::size_t i = 0; i < filled.size(); ++i) {
      const auto process = filled[random.below(filled.size())];
      for (std::size_t j = 0; j < process.size(); ++j)
        pooled.push_back(process[random.below(process.size())]);
    }
    replicate = statistic(std::span<const double>(pooled));
  }
  const Interval interval = internal::percentile_interval(replicates, options.confidence);
  result.lower = interval.lower;
  result.upper = interval.upper;
  return result;
}

}  // namespace deepgap::stats
