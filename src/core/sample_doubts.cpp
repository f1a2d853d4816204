#include "core/sample_doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "stats/autocorrelation.h"
#include "stats/drift.h"
#include "stats/quantile.h"
#include "stats/regimes.h"

namespace deepgap {
namespace {

// Less than this between processes is nobody's trouble, however significant.
constexpr double kLeastDifference = 0.02;
constexpr double kIntervalConfidence = 0.99;

std::string time_text(double nanoseconds) {
  return format_value(nanoseconds, Unit::kNanoseconds);
}

std::string percent_text(double share) {
  return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0);
}

struct ProcessMedian {
  const ProcessRun* process = nullptr;
  double median = 0;
};

stats::Estimated median_within(const ProcessMedian& candidate) {
  std::vector<std::int64_t> samples = candidate.process->samples.host_ns;
  const double effective = stats::quantile_effective_sample_size(samples, candidate.median);
  std::sort(samples.begin(), samples.end());
  return *stats::quantile_estimate(samples, 0.5, kIntervalConfidence, effective);
}

// What a doubt about levels says of the process in which they are most distant.
struct LevelDoubt {
  std::int64_t processes = 0;
  double largest_ratio = 0;
  std::string text;

  void add(double ratio, std::string description) {
    if (++processes > 1 && ratio <= largest_ratio) return;
    largest_ratio = ratio;
    text = std::move(description);
  }
};

struct Step {
  const stats::Regime* before = nullptr;
  const stats::Regime* after = nullptr;
  double ratio = 0;  // of the higher to the lower level
};

std::optional<Step> largest_step(std::span<const stats::Regime> segments) {
  std::optional<Step> largest;
  for (std::size_t i = 1; i < segments.size(); ++i) {
    const double low = std::min(segments[i - 1].median, segments[i].median);
    const double high = std::max(segments[i - 1].median, segments[i].median);
    const double ratio = high / low;
    if (!largest || ratio > largest->ratio) largest = Step{&segments[i - 1], &segments[i], ratio};
  }
  return largest;
}

std::string drift_text(int process, const stats::Drift& drift, std::size_t calls) {
  return fmt::format("process {}: {} steadily from {} to {} over its {} calls, {} of the median", process,
                     drift.relative_change > 0 ? "rose" : "fell", time_text(drift.first),
                     time_text(drift.last), calls, percent_text(std::abs(drift.relative_change)));
}

std::string further_changes(std::size_t count) {
  if (count == 0) return "";
  return fmt::format(", and {} smaller change{}", count, count == 1 ? "" : "s");
}

}  // namespace

void add_unbounded_percentiles(const CellSummary& summary, std::vector<Diagnostic>& diagnostics) {
  std::string text;
  std::int64_t count = 0;
  bool depend = false;
  // `enough` independent samples bound the percentile on both sides (docs/statistics.md).
  const auto look_at = [&](std::string_view name, const std::optional<Estimate>& percentile,
                           std::int64_t enough) {
    if (!percentile || (percentile->lower && percentile->upper)) return;
    const std::string_view which = percentile->upper   ? "lower"
                                   : percentile->lower ? "upper"
                                                       : "lower or upper";
    fmt::format_to(std::back_inserter(text), "{}{} has no {} bound", count > 0 ? ", " : "", name, which);
    if (summary.samples >= enough) depend = true;
    ++count;
  };
  look_at("p50", summary.p50, 6);
  look_at("p90", summary.p90, 36);
  look_at("p95", summary.p95, 72);
  look_at("p99", summary.p99, 368);
  if (count == 0) return;
  fmt::format_to(std::back_inserter(text), ": {} sample{} too few for {} at 95 %", summary.samples,
                 depend                 ? "s, as much as they depend on each other, are"
                 : summary.samples == 1 ? " is"
                                        : "s are",
                 count == 1 ? "it" : "them");
  diagnostics.push_back(diagnose(diagnostics::kFewSamples, summary.key.selector(), std::move(text), count));
}

void add_missed_precision(const CellSummary& summary, double target, std::optional<double> within,
                          std::vector<Diagnostic>& diagnostics) {
  const Estimate& median = *summary.latency;
  const auto share = [](double value) { return fmt::format("+-{} %", format_number(100 * value, 3)); };
  std::string text;
  const std::optional<double> half_width = relative_half_width(median);
  if (!half_width) {
    text = fmt::format("the interval of the median lacks a bound, asked {}: more samples give one",
                       share(target));
  } else {
    if (*half_width <= target) return;
    text = fmt::format("interval {} of the median, asked {}: ", share(*half_width), share(target));
    if (summary.processes > 1 && within && *within <= target) {
      fmt::format_to(std::back_inserter(text),
                     "{} within the processes, which differ; more of them narrow it", share(*within));
    } else if (summary.processes > 1 && within && *within < *half_width) {
      fmt::format_to(
          std::back_inserter(text),
          "{} within the processes, which differ: more processes narrow it first, then more samples",
          share(*within));
    } else {
      text += "more samples narrow it";
    }
  }
  diagnostics.push_back(diagnose(diagnostics::kPrecisionNotReached, summary.key.selector(), std::move(text)));
}

void add_differing_processes(const Measurement& measurement, std::span<const double> medians,
                             std::vector<Diagnostic>& diagnostics) {
  ProcessMedian fastest;
  ProcessMedian slowest;
  std::size_t with_samples = 0;
  for (const ProcessRun& process : measurement.processes) {
    if (process.samples.size() == 0) continue;
    const double median = medians[with_samples];
    if (with_samples == 0 || median < fastest.median) fastest = {&process, median};
    if (with_samples == 0 || median > slowest.median) slowest = {&process, median};
    ++with_samples;
  }
  if (with_samples < 2 || !(fastest.median > 0)) return;
  const double difference = slowest.median / fastest.median - 1;
  if (difference <= kLeastDifference) return;
  const std::optional<double> highest_of_fastest = median_within(fastest).upper;
  const std::optional<double> lowest_of_slowest = median_within(slowest).lower;
  if (!highest_of_fastest || !lowest_of_slowest || *highest_of_fastest >= *lowest_of_slowest) return;
  diagnostics.push_back(
      diagnose(diagnostics::kProcessesDiffer, measurement.key.selector(),
               fmt::format("medians of the {} processes lie {} apart: process {} {}, process {} {}",
                           with_samples, percent_text(difference), fastest.process->index,
                           time_text(fastest.median), slowest.process->index, time_text(slowest.median))));
}

void add_regimes(const Measurement& measurement, std::vector<Diagnostic>& diagnostics) {
  LevelDoubt shift;
  LevelDoubt drift;
  LevelDoubt modes;
  stats::DriftOptions drift_options;
  drift_options.false_alarm /= static_cast<double>(std::max<std::size_t>(1, measurement.processes.size()));
  for (const ProcessRun& process : measurement.processes) {
    const std::size_t calls = process.samples.size();
    if (calls == 0) continue;
    const stats::Regimes regimes = stats::find_regimes(process.samples.host_ns);
    // Where a line is nearer to the samples than their segments, these are only what a drift was cut into.
    if (const auto found = stats::find_drift(process.samples.host_ns, regimes.segments, drift_options)) {
      drift.add(std::abs(found->relative_change), drift_text(process.index, *found, calls));
    } else if (const auto step = largest_step(regimes.segments)) {
      shift.add(step->ratio,
                fmt::format("process {}: from {} to {} at call {} of {}{}", process.index,
                            time_text(step->before->median), time_text(step->after->median),
                            step->after->begin + 1, calls, further_changes(regimes.segments.size() - 2)));
    }
    if (const auto& two = regimes.modes) {
      modes.add(two->slow.median / two->fast.median,
                fmt::format("process {}: {} of the calls near {}, {} near {}", process.index,
                            percent_text(two->fast.share), time_text(two->fast.median),
                            percent_text(two->slow.share), time_text(two->slow.median)));
    }
  }
  const std::string where = measurement.key.selector();
  if (shift.processes > 0) {
    diagnostics.push_back(diagnose(diagnostics::kLevelShift, where, std::move(shift.text), shift.processes));
  }
  if (drift.processes > 0) {
    diagnostics.push_back(diagnose(diagnostics::kDrift, where, std::move(drift.text), drift.processes));
  }
  if (modes.processes > 0) {
    diagnostics.push_back(diagnose(diagnostics::kTwoRegimes, where, std::move(modes.text), modes.processes));
  }
}

}  // namespace deepgap
