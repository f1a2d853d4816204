#include "core/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "core/sample_doubts.h"
#include "core/sample_pool.h"
#include "stats/autocorrelation.h"
#include "stats/nested.h"
#include "stats/quantile.h"

namespace deepgap {
namespace {

using stats::ProcessSamples;

std::optional<Estimate> to_estimate(const std::optional<stats::Estimated>& estimated, Unit unit) {
  if (!estimated) return std::nullopt;
  return Estimate{estimated->value,      estimated->lower, estimated->upper,
                  estimated->confidence, estimated->n,     unit,
                  estimated->method};
}

std::vector<ProcessSamples> host_samples(const Measurement& measurement) {
  std::vector<ProcessSamples> series;
  series.reserve(measurement.processes.size());
  for (const ProcessRun& process : measurement.processes) {
    if (process.samples.size() > 0) series.emplace_back(process.samples.host_ns);
  }
  return series;
}

// Of another column of the samples, with what processes vary by; nothing where no process has it.
std::optional<Estimate> median_of(const Measurement& measurement,
                                  std::vector<std::int64_t> SampleColumns::*column) {
  std::vector<ProcessSamples> series;
  for (const ProcessRun& process : measurement.processes) {
    if (!(process.samples.*column).empty()) series.emplace_back(process.samples.*column);
  }
  return to_estimate(stats::nested_median(series), Unit::kNanoseconds);
}

// The quantiles of a cell from its sorted samples. As stats::nested_quantile(), which sorts each time.
class CellQuantiles {
 public:
  explicit CellQuantiles(std::span<const ProcessSamples> series) : pool_(series) {
    dependences_.reserve(series.size());
    for (std::size_t i = 0; i < series.size(); ++i) {
      dependences_.emplace_back(series[i], pool_.sorted_of(i));
      fewest_ = std::min(fewest_, static_cast<std::int64_t>(series[i].size()));
    }
    medians_ = of_processes(0.5);
  }

  CellQuantiles(const CellQuantiles&) = delete;
  CellQuantiles& operator=(const CellQuantiles&) = delete;

  std::span<const double> process_medians() const { return medians_; }

  // Bounds by the samples alone.
  std::optional<stats::Estimated> pooled(double p) const {
    // Dependence does not reach from one process into the next: their effective sizes add up.
    double effective = 0;
    for (const stats::ProcessDependence& dependence : dependences_) effective += dependence.at(p).effective_n;
    return stats::quantile_estimate(pool_.sorted(), p, stats::kDefaultConfidence, effective);
  }

  std::optional<stats::Estimated> at(double p) const {
    const std::optional<stats::Estimated> within = pooled(p);
    return within ? std::optional(at(p, *within)) : std::nullopt;
  }

  // From pooled(p).
  stats::Estimated at(double p, const stats::Estimated& within) const {
    const double level = stats::process_level(fewest_, p);
    return stats::with_processes(within, level == 0.5 ? medians_ : of_processes(level), p, level);
  }

 private:
  std::vector<double> of_processes(double level) const {
    std::vector<double> own;
    own.reserve(dependences_.size());
    for (std::size_t i = 0; i < dependences_.size(); ++i) {
      own.push_back(stats::quantile_sorted(pool_.sorted_of(i), level));
    }
    return own;
  }

  SamplePool pool_;
  std::vector<stats::ProcessDependence> dependences_;  // look into pool_, which stays where it is
  std::vector<double> medians_;
  std::int64_t fewest_ = std::numeric_limits<std::int64_t>::max();  // samples of a process
};

// One process's part of a throughput: the window that it says, or in latency mode from the first start to the
// last end.
struct Windows {
  std::vector<stats::ThroughputWindow> windows;
  std::vector<std::vector<std::int64_t>> ends;  // what `windows` look at
};

std::vector<std::int64_t> ends_of(const SampleColumns& samples) {
  std::vector<std::int64_t> ends;
  if (samples.start_ns.size() != samples.host_ns.size()) return ends;
  ends.resize(samples.size());
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = samples.start_ns[i] + samples.host_ns[i];
  return ends;
}

Windows windows_of(const Measurement& measurement) {
  const auto batch = static_cast<double>(measurement.key.workload.batch);
  const bool one_at_a_time = measurement.key.workload.mode == Mode::kLatency;
  Windows all;
  all.windows.reserve(measurement.processes.size());
  all.ends.reserve(measurement.processes.size());
  for (const ProcessRun& process : measurement.processes) {
    const SampleColumns& samples = process.samples;
    std::vector<std::int64_t>& ends = all.ends.emplace_back(ends_of(samples));
    stats::ThroughputWindow window;
    window.finished_at = ends;
    if (!one_at_a_time) {
      if (!process.window) continue;
      window.samples = static_cast<double>(process.completed) * batch;
      window.window_ns = process.window->count();
    } else {
      // Without starts (imported results) there is no span to look at, and what lies between two calls is not
      // known.
      if (ends.empty()) continue;
      window.samples = static_cast<double>(samples.size()) * batch;
      window.window_ns = ends.back() - samples.start_ns.front();
    }
    if (window.window_ns > 0) all.windows.push_back(window);
  }
  return all;
}

// What the windows are, and how their throughput is estimated: texts that live on.
std::string_view throughput_method(Mode mode, std::string_view estimated) {
  constexpr auto texts_of = [](const char* windows) {
    return std::array{std::string(windows).append(stats::kMethodThroughput),
                      std::string(windows).append(stats::kMethodThroughputOneProcess)};
  };
  static const auto one_at_a_time = texts_of("calls one at a time, first start to last end; ");
  static const auto in_flight = texts_of("calls finished in the window; ");
  const auto& texts = mode == Mode::kLatency ? one_at_a_time : in_flight;
  return texts[estimated == stats::kMethodThroughput ? 0 : 1];
}

std::optional<Estimate> throughput_of(const Measurement& measurement) {
  const Windows all = windows_of(measurement);
  const std::optional<stats::Estimated> estimated = stats::nested_throughput(all.windows);
  if (!estimated) return std::nullopt;
  std::optional<Estimate> throughput = to_estimate(estimated, Unit::kSamplesPerSecond);
  throughput->method = throughput_method(measurement.key.workload.mode, estimated->method);
  return throughput;
}

}  // namespace

CellSummary summarise(const Measurement& measurement, SummaryDepth depth) {
  CellSummary summary;
  summary.id = measurement.id;
  summary.sweep = measurement.sweep;
  summary.key = measurement.key;
  summary.device_name = measurement.device.name;
  summary.processes = static_cast<int>(measurement.processes.size());
  summary.planned_processes = measurement.planned_processes;
  summary.reported_only = measurement.processes.empty() && measurement.origin.starts_with("import:");
  summary.samples = measurement.sample_count();
  summary.failure = measurement.failure;
  summary.created_realtime_ns = measurement.created_realtime_ns;

  const std::vector<ProcessSamples> series = host_samples(measurement);
  const CellQuantiles quantiles(series);
  const std::optional<stats::Estimated> median_within = quantiles.pooled(0.5);
  if (median_within)
    summary.latency = to_estimate(std::optional(quantiles.at(0.5, *median_within)), Unit::kNanoseconds);
  summary.p50 = summary.latency;
  summary.p90 = to_estimate(quantiles.at(0.90), Unit::kNanoseconds);
  summary.p95 = to_estimate(quantiles.at(0.95), Unit::kNanoseconds);
  summary.p99 = to_estimate(quantiles.at(0.99), Unit::kNanoseconds);
  summary.throughput = throughput_of(measurement);

  summary.diagnostics = measurement.diagnostics;
  // A stopped cell may have been finished by --resume.
  if (summary.processes >= summary.planned_processes) {
    std::erase_if(summary.diagnostics,
                  [](const Diagnostic& diagnostic) { return diagnostic.id == diagnostics::kCancelled.id; });
  }
  add_unbounded_percentiles(summary, summary.diagnostics);
  if (measurement.target && median_within) {
    add_missed_precision(summary, *measurement.target, stats::relative_half_width(*median_within),
                         summary.diagnostics);
  }
  add_differing_processes(measurement, quantiles.process_medians(), summary.diagnostics);
  if (depth == SummaryDepth::kFull) {
    summary.enqueue_time = median_of(measurement, &SampleColumns::enqueue_ns);
    summary.device_time = median_of(measurement, &SampleColumns::device_ns);
    add_regimes(measurement, summary.diagnostics);
  }
  return summary;
}

ProcessSummary summarise(const ProcessRun& process) {
  ProcessSummary summary;
  summary.index = process.index;
  summary.samples = static_cast<std::int64_t>(process.samples.size());
  const ProcessSamples series[] = {process.samples.host_ns};
  summary.median = to_estimate(stats::nested_median(series), Unit::kNanoseconds);
  summary.load_time = process.load_time;
  summary.first_call = process.first_call;
  summary.warmup_calls = process.warmup_calls;
  summary.stop_reason = process.stop_reason;
  summary.peak_memory = process.peak_memory;
  return summary;
}

TelemetrySummary summarise(const TelemetrySeries& series) {
  TelemetrySummary summary{.quantity = series.quantity,
                           .source = series.source,
                           .unit = series.unit,
                           .process = series.process,
                           .n = static_cast<std::int64_t>(series.values.size())};
  std::vector<double> sorted;
  std::copy_if(series.values.begin(), series.values.end(), std::back_inserter(sorted),
               [](double value) { return std::isfinite(value); });
  if (sorted.empty()) return summary;
  std::sort(sorted.begin(), sorted.end());
  summary.minimum = sorted.front();
  summary.median = stats::quantile_sorted(sorted, 0.5);
  summary.maximum = sorted.back();
  return summary;
}

}  // namespace deepgap
