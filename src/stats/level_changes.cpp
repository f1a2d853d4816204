#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "stats/autocorrelation.h"
#include "stats/distributions.h"
#include "stats/quantile.h"
#include "stats/regimes.h"

namespace deepgap::stats {
namespace {

struct Range {
  std::size_t begin;
  std::size_t end;
  std::size_t size() const { return end - begin; }
};

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class LevelChanges {
 public:
  LevelChanges(std::span<const std::int64_t> samples, const RegimeOptions& options)
      : samples_(samples),
        options_(options),
        min_length_(static_cast<std::size_t>(std::max<std::int64_t>(2, options.min_length))),
        ranks_(mid_ranks(samples)) {}

  // The ends of the segments in time order.
  std::vector<std::size_t> ends() {
    std::vector<Range> open{{0, samples_.size()}};
    std::vector<std::size_t> ends;
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      const std::vector<Range> parts = split(range);
      if (parts.size() == 1) {
        ends.push_back(range.end);
      } else {
        open.insert(open.end(), parts.begin(), parts.end());
      }
    }
    std::sort(ends.begin(), ends.end());
    return ends;
  }

 private:
  double median_of(Range range) const { return median(samples_.subspan(range.begin, range.size())); }

  bool differ(Range a, Range b) const {
    const double first = median_of(a);
    const double second = median_of(b);
    return std::abs(first - second) >=
           options_.min_relative_change * std::min(std::abs(first), std::abs(second));
  }

  // The range itself, or the two or three parts that it falls into.
  std::vector<Range> split(Range range) {
    const std::size_t n = range.size();
    if (n < 2 * min_length_) return {range};
    const std::span<const double> ranks = std::span<const double>(ranks_).subspan(range.begin, n);
    const double mean = mean_of(ranks);
    double sum = 0;
    double highest = 0;
    double lowest = 0;
    std::size_t peak = 0;
    std::size_t trough = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double centred = ranks[i] - mean;
      sum += centred;
      if (sum > highest) highest = sum, peak = i + 1;
      if (sum < lowest) lowest = sum, trough = i + 1;
    }
    const double reach = (highest - lowest) / std::sqrt(static_cast<double>(n));
    std::vector<Range> parts =
        cut(range, range.begin + std::min(peak, trough), range.begin + std::max(peak, trough));
    if (parts.size() == 1 || !any_differ(parts)) return {range};
    const double deviation = long_run_deviation(parts);
    if (deviation > 0 && kuiper_tail(reach / deviation) > options_.false_alarm) return {range};
    return parts;
  }

  std::vector<Range> cut(Range range, std::size_t first, std::size_t second) const {
    std::vector<Range> parts;
    std::size_t begin = range.begin;
    for (const std::size_t at : {first, second}) {
      if (at - begin < min_length_ || range.end - at < min_length_) continue;
      parts.push_back({begin, at});
      begin = at;
    }
    parts.push_back({begin, range.end});
    return parts;
  }

  bool any_differ(const std::vector<Range>& parts) const {
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (differ(parts[i - 1], parts[i])) return true;
    }
    return false;
  }

  // Of the ranks around the levels of the parts.
  double long_run_deviation(const std::vector<Range>& parts) const {
    std::vector<double> residuals;
    double squares = 0;
    for (const Range part : parts) {
      const std::span<const double> ranks = std::span<const double>(ranks_).subspan(part.begin, part.size());
      const double mean = mean_of(ranks);
      for (const double rank : ranks) {
        residuals.push_back(rank - mean);
        squares += residuals.back() * residuals.back();
      }
    }
    // Each fitted level takes its degree of freedom.
    const double free = static_cast<double>(residuals.size() - parts.size());
    return std::sqrt(squares / free * static_cast<double>(residuals.size()) /
                     effective_sample_size(residuals));
  }

  std::span<const std::int64_t> samples_;
  RegimeOptions options_;
  std::size_t min_length_;
  std::vector<double> ranks_;
};

}  // namespace

std::vector<double> mid_ranks(std::span<const std::int64_t> samples) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return samples[a] < samples[b]; });
  std::vector<double> ranks(samples.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last + 1 < order.size() && samples[order[last + 1]] == samples[order[first]]) ++last;
    const double rank = static_cast<double>(first + last) / 2 + 1;
    for (; first <= last; ++first) ranks[order[first]] = rank;
  }
  return ranks;
}

std::vector<Regime> find_level_changes(std::span<const std::int64_t> samples, const RegimeOptions& options) {
  std::vector<Regime> regimes;
  if (samples.empty()) return regimes;
  const auto regime = [&](std::size_t begin, std::size_t end) {
    return Regime{begin, end, median(samples.subspan(begin, end - begin)),
                  static_cast<double>(end - begin) / static_cast<double>(samples.size())};
  };
  std::size_t begin = 0;
  for (const std::size_t end : LevelChanges(samples, options).ends()) {
    const Regime next = regime(begin, end);
    begin = end;
    if (!regimes.empty()) {
      const Regime& last = regimes.back();
      const double lower = std::min(std::abs(last.median), std::abs(next.median));
      if (std::abs(last.median - next.median) < options.min_relative_change * lower) {
        regimes.back() = regime(last.begin, next.end);
        continue;
      }
    }
    regimes.push_back(next);
  }
  return regimes;
}

}  // namespace deepgap::stats
