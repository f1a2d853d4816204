// The numbers of one cell from its processes: quantiles of latency and the throughput, with what fresh
// processes vary by.
//
//   nested_quantile(processes, 0.5)    // 3 processes of 120 samples: 32.1 ms, 31.8 .. 32.5, n = 360
//
// Point: the quantile of all samples pooled, so that it is the same number as the p50 of the raw samples.
// Interval, two or more processes: Student's t on the logarithms of the processes' own quantiles (k - 1
// degrees of freedom), and at least the order-statistic interval of the pooled samples at their effective
// sample size: never narrower than the variation within processes alone gives. Where that one lacks a bound,
// so does the result; but a median over three or more processes (of five samples each, on average) has the
// t's, since processes are independent where their samples are not. Where a process has too few samples for a
// quantile of its own, what processes vary by is taken at the nearest level that all have (process_level()).
// Interval, one process: the order-statistic interval; the method says that process variation is not in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/interval.h"

namespace deepgap::stats {

// Samples of one process in ns, in time order, warm-up left out.
using ProcessSamples = std::span<const std::int64_t>;

// Empty processes are left out; absent if none has a sample. Samples must be positive (times are) for the
// logarithm; where a process quantile is not, t is taken on the values themselves.
std::optional<Estimated> nested_quantile(std::span<const ProcessSamples> processes, double p,
                                         double confidence = kDefaultConfidence);
inline std::optional<Estimated> nested_median(std::span<const ProcessSamples> processes,
                                              double confidence = kDefaultConfidence) {
  return nested_quantile(processes, 0.5, confidence);
}

// The level nearest to p of which processes have a quantile of their own, the smallest of them with `fewest`
// samples: from 1 / fewest to 1 - 1 / fewest. Beyond, the order statistic would be the smallest or largest
// sample whatever the level, and the less extreme the fewer samples there are.
double process_level(std::int64_t fewest, double p);

// What nested_quantile() makes of its parts, for those who have them: the pooled estimate of the p-quantile,
// with the bounds at its effective sample size, and the processes' own quantiles at process_level(). Where
// that is not p, the interval also holds the t's bounds, as shares of their centre, around the pooled
// quantile: a process that is slow by some share at one level is taken to be so at the next.
Estimated with_processes(const Estimated& within, std::span<const double> own, double p, double level);

// One process's measured window of calls in flight back to back.
struct ThroughputWindow {
  double samples = 0;                         // model inputs finished in the window: calls times batch
  std::int64_t window_ns = 0;                 // its length; > 0
  std::span<const std::int64_t> finished_at;  // when each call ended, ns, any zero, any order; may be empty
};

// Samples per second. Point: all samples over all window time. Two or more windows: t on the logarithms of
// the windows' throughputs, at least the batch-means interval. One window: batch means alone: 10 to 20
// batches of successive calls (Schmeiser 1982), t on their times per call; without 20 calls in finished_at,
// no bounds. n is the number of calls known from finished_at, else the number of windows. Windows without
// samples or length are left out; absent if none is left.
std::optional<Estimated> nested_throughput(std::span<const ThroughputWindow> windows,
                                           double confidence = kDefaultConfidence);

// exp(mean(log) +- t s / sqrt(k)) of positive values, one a process; two or more values for bounds. Values
// that are not all positive: mean +- t s / sqrt(k). Absent for none. The building block of the two above, for
// other per-process values.
std::optional<Estimated> process_mean(std::span<const double> values, double confidence = kDefaultConfidence);

}  // namespace deepgap::stats
