// How much slower B is than A: the ratio of their medians (B over A) from repeats nested in processes, with
// its interval.
//
//   ratio_of_medians(a, b)     // 1.043, 1.021 .. 1.066: B takes 4.3 % longer
//
// Between-process variation counts: Welch's t (Welch 1947, Satterthwaite 1946) on the logarithms of the
// process medians, two or more processes a side, and at least the interval that variation within processes
// alone gives. With one process on a side there is no process variation to be seen: the interval is the
// within-process one and the method says so, between_processes is false; such a ratio must not carry a
// verdict alone.
#pragma once

#include <optional>
#include <span>

#include "stats/interval.h"
#include "stats/nested.h"

namespace deepgap::stats {

// Point: pooled median of B over pooled median of A. n: samples of both. Absent if a side has no samples or a
// median that is not positive.
std::optional<Estimated> ratio_of_medians(std::span<const ProcessSamples> a,
                                          std::span<const ProcessSamples> b,
                                          double confidence = kDefaultConfidence);

// The same of one positive value a process (a throughput, an energy): geometric mean of b over that of a; no
// bounds with fewer than two values on a side. n: values of both.
std::optional<Estimated> ratio_of_values(std::span<const double> a, std::span<const double> b,
                                         double confidence = kDefaultConfidence);

// Interleaved pairs (ABAB...): the median of b[i] / a[i] with its order-statistic interval; n is the number
// of pairs. Drift that both share cancels. Absent for no pairs, unequal lengths or a value that is not
// positive.
std::optional<Estimated> ratio_of_pairs(std::span<const double> a, std::span<const double> b,
                                        double confidence = kDefaultConfidence);

}  // namespace deepgap::stats
