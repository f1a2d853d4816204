// Regimes of a series of samples: where its level changed (a clock drop), and whether it has two modes side
// by side.
//
//   find_regimes(samples)
//     segments  [0, 412) median 32.1 ms, share 0.69;  [412, 600) median 38.0 ms, share 0.31
//     modes     absent: within the longest segment there is one mode
//
// Level changes: the cumulative sum of the centred ranks (Pettitt 1979) has, without a change, the range of a
// Brownian bridge times the long-run deviation (Kuiper's law). A step makes it peak, a bump makes it peak and
// dip. If the range is too large, the series is cut at its two extremes and each part is looked at again;
// neighbours that do not differ are joined. The long-run deviation is that of the ranks around the
// candidate's levels, so dependence does not count as change. Two modes: the parts are told apart by the
// two-means split of the logarithms. They are modes where almost nothing lies between them and each is
// visited three times, however long a visit lasts, or else by Hartigan's dip test (Hartigan and Hartigan
// 1985) against one mode, at the effective sample size. Regimes that alternate faster than some tenth of the
// series are no segments: they appear as two modes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace deepgap::stats {

struct RegimeOptions {
  // What changes less than this, relative to the lower level, is nobody's regime however significant it is.
  double min_relative_change = 0.02;
  // Shorter stretches are outliers, not regimes.
  std::int64_t min_length = 10;
  // The smallest share that a mode has.
  double min_mode_share = 0.05;
  // Nominal probability of a false alarm of each test. Strict, because in short dependent series it is
  // exceeded: the measured one stays below 5 % on AR(1) of 0.5 (docs/statistics.md).
  double false_alarm = 0.003;
};

// A stretch [begin, end) of the series at one level.
struct Regime {
  std::size_t begin = 0;
  std::size_t end = 0;
  double median = 0;  // ns
  double share = 0;   // of all samples
};

struct Mode {
  double median = 0;  // ns
  double share = 0;   // of the samples looked at
};

struct TwoModes {
  Mode fast;
  Mode slow;
  double boundary = 0;  // ns: samples up to it belong to the fast mode
};

struct Regimes {
  std::vector<Regime>
      segments;  // in time order, covering the series; one: the level did not change. Empty for no samples
  std::optional<TwoModes> modes;  // of the longest segment
};

// Samples in time order, ns. O(n log n); 1e6 samples take well below a second.
Regimes find_regimes(std::span<const std::int64_t> samples, const RegimeOptions& options = {});

// The two parts of find_regimes.
std::vector<Regime> find_level_changes(std::span<const std::int64_t> samples,
                                       const RegimeOptions& options = {});
std::optional<TwoModes> find_two_modes(std::span<const std::int64_t> samples,
                                       const RegimeOptions& options = {});

// The rank of each sample, from 1; ties share the mean of their ranks, so that their order says nothing.
std::vector<double> mid_ranks(std::span<const std::int64_t> samples);

// Hartigan's dip of values in ascending order: the largest distance of their distribution function from the
// nearest one with a single mode; 1 / (2 n) at least. At least one value.
double dip(std::span<const double> sorted);
// The approximate probability of a dip at least so large for n samples of a uniform distribution, the least
// favourable case with one mode: the limit for large n, which errs on the safe side for small n; between
// 0.0001 and 1.
double dip_p_value(double dip, double n);

}  // namespace deepgap::stats
