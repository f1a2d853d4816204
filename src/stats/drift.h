// Whether a series of samples drifts: rises or falls steadily from its beginning to its end, as with heat, a
// clock that sinks or memory that grows. More samples do not help such a series: its median moves with them.
//
//   find_drift(samples, find_level_changes(samples))
//     from 5.01 ms to 12.7 ms (fitted at the first and the last call)
//
// The series is cut into 8 to 16 blocks, whose medians must rise (or fall) together: Kendall's test against
// time (Mann 1945) with the exact distribution of the number of discordant pairs. Where calls are dependent,
// blocks are too, so the line through the ranks of the samples must be significant as well, with the
// long-run deviation of the ranks around it (as in level_changes.cpp); in ranks every monotone drift that
// stands out of its noise is near a line. A step is no drift: of the squares of the block
// medians, the line must leave clearly less than the best two levels and than the segments given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stats/regimes.h"

namespace deepgap::stats {

struct DriftOptions {
  // Of the line from the first to the last call, relative to the median: less is nobody's drift.
  double min_relative_change = 0.01;
  // Nominal probability of a false alarm of each of the two tests, both of which must find it; divide it by
  // the number of series looked at.
  double false_alarm = 0.001;
};

struct Drift {
  double first = 0;            // ns, fitted at the first call
  double last = 0;             // ns, fitted at the last call
  double relative_change = 0;  // (last - first) / median of all samples
};

// Samples in time order, ns, and their segments by find_level_changes; absent below 40 samples. O(n log n).
std::optional<Drift> find_drift(std::span<const std::int64_t> samples, std::span<const Regime> segments,
                                const DriftOptions& options = {});

// The probability of at most `discordant` of the n (n - 1) / 2 pairs of n values in random order without ties
// being in descending order (Kendall 1938); n up to 20.
double kendall_at_most(std::int64_t discordant, std::int64_t n);

}  // namespace deepgap::stats
