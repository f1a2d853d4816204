// Doubts that follow from the samples of a cell alone. Only for summary.cpp.
//
//   note     few_samples            p99 has no upper bound: 200 samples are too few at 95 %
//   warning  precision_not_reached  interval +-2.3 % of the median, asked +-1 %: +-0.4 % within the
//   processes,
//                                   which differ; more of them narrow it
//   warning  processes_differ       medians of the 3 processes lie 10.7 % apart: process 0 31.8 ms, process 2
//                                   35.2 ms
//   warning  level_shift            process 1: from 32.1 ms to 38 ms at call 412 of 600
//   warning  drift                  process 0: rose steadily from 5 ms to 12.7 ms over its 15435 calls,
//                                   87 % of the median
//   warning  two_regimes            process 0: 71 % of the calls near 32.1 ms, 29 % near 41.3 ms
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/summary.h"

namespace deepgap {

// few_samples, where a percentile of the summary lacks a bound.
void add_unbounded_percentiles(const CellSummary& summary, std::vector<Diagnostic>& diagnostics);

// precision_not_reached, where the interval of the summary's latency, with the variation between processes,
// is wider than `target` (half-width, relative). `within`: half-width by the samples alone; absent where a
// bound is.
void add_missed_precision(const CellSummary& summary, double target, std::optional<double> within,
                          std::vector<Diagnostic>& diagnostics);

// processes_differ, where the slowest and the fastest process's medians are more than 2 % apart and their 99
// % intervals within the process do not meet: less than one in a thousand cells of three alike processes.
// `medians`: of the processes that have samples, in their order.
void add_differing_processes(const Measurement& measurement, std::span<const double> medians,
                             std::vector<Diagnostic>& diagnostics);

// level_shift or drift, and two_regimes, by stats/regimes.h and drift.h in each process; `count` is the
// number of processes concerned and the text is about the one with the most distant levels. Costs more than
// all the rest of a summary.
void add_regimes(const Measurement& measurement, std::vector<Diagnostic>& diagnostics);

}  // namespace deepgap
