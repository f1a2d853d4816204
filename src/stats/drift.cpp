#include "stats/drift.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "stats/autocorrelation.h"
#include "stats/distributions.h"
#include "stats/quantile.h"

namespace deepgap::stats {
namespace {

constexpr std::size_t kFewestSamples = 40;
constexpr std::size_t kFewestBlocks = 8;  // of 5 samples at least
constexpr std::size_t kMostBlocks = 16;
constexpr std::size_t kBlockLength = 25;  // where that makes neither too few nor too many blocks

// In doubt it was a step, not a line that fits a little better by chance.
constexpr double kClearlyLess = 0.75;

struct Line {
  double at_centre = 0;
  double slope = 0;        // per value
  double slope_error = 0;  // standard error, for independent residuals
  double squares = 0;      // of the residuals
  std::vector<double> residuals;
};

Line fitted_line(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double centre = (n - 1) / 2;
  Line line;
  line.at_centre = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double products = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    products += (static_cast<double>(i) - centre) * (values[i] - line.at_centre);
  }
  const double spread = n * (n * n - 1) / 12;  // of the indices
  line.slope = products / spread;
  line.residuals.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double fitted = line.at_centre + line.slope * (static_cast<double>(i) - centre);
    line.residuals.push_back(values[i] - fitted);
    line.squares += line.residuals.back() * line.residuals.back();
  }
  line.slope_error = std::sqrt(line.squares / (n - 2) / spread);
  return line;
}

struct Block {
  std::size_t centre = 0;  // index of a sample
  double median = 0;
};

std::vector<Block> blocks_of(std::span<const std::int64_t> samples) {
  const std::size_t count = std::clamp(samples.size() / kBlockLength, kFewestBlocks, kMostBlocks);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = samples.size() * i / count;
    const std::size_t end = samples.size() * (i + 1) / count;
    blocks.push_back({begin + (end - begin) / 2, median(samples.subspan(begin, end - begin))});
  }
  return blocks;
}

// Two-sided; ties count half, which errs on neither side.
double kendall_p_value(std::span<const double> values) {
  double falling = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      falling += values[j] < values[i] ? 1 : values[j] > values[i] ? 0 : 0.5;
      pairs += 1;
    }
  }
  const auto fewest = static_cast<std::int64_t>(std::ceil(std::min(falling, pairs - falling)));
  return std::min(1.0, 2 * kendall_at_most(fewest, static_cast<std::int64_t>(values.size())));
}

double squares_around(std::span<const double> values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

// What the best two levels leave of the values.
double squares_of_a_step(std::span<const double> values) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t cut = 1; cut < values.size(); ++cut) {
    least = std::min(least, squares_around(values.first(cut)) + squares_around(values.subspan(cut)));
  }
  return least;
}

double squares_of_segments(std::span<const Block> blocks, std::span<const Regime> segments) {
  double squares = 0;
  for (const Block& block : blocks) {
    const auto segment = std::find_if(segments.begin(), segments.end(),
                                      [&](const Regime& candidate) { return block.centre < candidate.end; });
    if (segment == segments.end()) continue;
    squares += (block.median - segment->median) * (block.median - segment->median);
  }
  return squares;
}

// Of the slope of the ranks, at the effective size of what the line leaves.
double rank_slope_p_value(std::span<const std::int64_t> samples) {
  const Line line = fitted_line(mid_ranks(samples));
  if (!(line.slope_error > 0)) return line.slope != 0 ? 0 : 1;
  const double dependence = static_cast<double>(samples.size()) / effective_sample_size(line.residuals);
  return 2 * normal_cdf(-std::abs(line.slope) / (line.slope_error * std::sqrt(dependence)));
}

}  // namespace

double kendall_at_most(std::int64_t discordant, std::int64_t n) {
  // The share of the orders of 1 .. n that have k descending pairs: the last value stands before 0 .. n - 1
  // others, each with the same probability.
  std::vector<double> shares{1};
  for (std::int64_t size = 2; size <= n; ++size) {
    const auto places = static_cast<std::size_t>(size);
    std::vector<double> next(shares.size() + places - 1, 0.0);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      for (std::size_t place = 0; place < places; ++place) {
        next[i + place] += shares[i] / static_cast<double>(places);
      }
    }
    shares = std::move(next);
  }
  const std::int64_t count = std::clamp<std::int64_t>(discordant + 1, 0, std::ssize(shares));
  return std::min(1.0, std::accumulate(shares.begin(), shares.begin() + count, 0.0));
}

std::optional<Drift> find_drift(std::span<const std::int64_t> samples, std::span<const Regime> segments,
                                const DriftOptions& options) {
  if (samples.size() < kFewestSamples) return std::nullopt;
  const std::vector<Block> blocks = blocks_of(samples);
  std::vector<double> medians;
  for (const Block& block : blocks) medians.push_back(block.median);
  if (kendall_p_value(medians) > options.false_alarm) return std::nullopt;
  const Line line = fitted_line(medians);
  double steps = squares_of_a_step(medians);
  if (segments.size() > 1) steps = std::min(steps, squares_of_segments(blocks, segments));
  if (line.squares >= kClearlyLess * steps) return std::nullopt;
  // The blocks' centres lie half a block inside of the first and the last call.
  const double half = line.slope * static_cast<double>(blocks.size()) / 2;
  const Drift drift{line.at_centre - half, line.at_centre + half, 2 * half / median(samples)};
  if (std::abs(drift.relative_change) < options.min_relative_change) return std::nullopt;
  if (rank_slope_p_value(samples) > options.false_alarm) return std::nullopt;
  return drift;
}

}  // namespace deepgap::stats
