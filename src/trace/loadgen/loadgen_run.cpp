#include "trace/loadgen/loadgen_run.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text.h"
#include "base/time_text.h"
#include "core/setting.h"
#include "trace/csv_row.h"
#include "trace/result_cell.h"

namespace deepgap::trace {
namespace {

// A key of the summary, that of the detail log, and what it is called here.
struct Key {
  std::string_view summary;
  std::string_view detail;
  std::string_view name;
};

// Loadgen gives the metric of each scenario a name of its own. "90th percentile latency (ns)", that of the
// single-stream scenario, stands among the percentiles again.
constexpr Key kFigures[] = {
    {"Samples per second", "result_samples_per_second", "throughput"},
    {"Completed samples per second", "result_completed_samples_per_sec", "throughput"},
    {"QPS w/ loadgen overhead", "result_qps_with_loadgen_overhead", "throughput"},
    {"Min latency (ns)", "result_min_latency_ns", "minimum"},
    {"Max latency (ns)", "result_max_latency_ns", "maximum"},
    {"Mean latency (ns)", "result_mean_latency_ns", "mean"},
    {"50.00 percentile latency (ns)", "result_50.00_percentile_latency_ns", "p50"},
    {"90.00 percentile latency (ns)", "result_90.00_percentile_latency_ns", "p90"},
    {"95.00 percentile latency (ns)", "result_95.00_percentile_latency_ns", "p95"},
    {"97.00 percentile latency (ns)", "result_97.00_percentile_latency_ns", "p97"},
    {"99.00 percentile latency (ns)", "result_99.00_percentile_latency_ns", "p99"},
    {"99.90 percentile latency (ns)", "result_99.90_percentile_latency_ns", "p99_9"},
};

constexpr Key kValues[] = {
    {"Scenario", "effective_scenario", "scenario"},
    {"Mode", "effective_test_mode", "mode"},
    {"SUT name", "sut_name", "sut"},
    {"Result is", "result_validity", "result"},
    {"Performance constraints satisfied", "result_perf_constraints_met", "constraints"},
    {"Min duration satisfied", "result_min_duration_met", "duration"},
    {"Min queries satisfied", "result_min_queries_met", "queries"},
    {"Early stopping satisfied", "early_stopping_met", "early_stopping"},
    {"samples_per_query", "effective_samples_per_query", "samples_per_query"},
    {"target_qps", "effective_target_qps", "target_qps"},
    {"target_latency (ns)", "effective_target_latency_ns", "target_latency_ns"},
    {"min_duration (ms)", "effective_min_duration_ms", "min_duration_ms"},
    {"min_query_count", "effective_min_query_count", "min_query_count"},
    {"Scheduled samples per second", "result_scheduled_samples_per_sec", "scheduled_samples_per_second"},
    {"", "result_query_count", "query_count"},
    {"", "test_datetime", "time"},
    {"", "loadgen_version", "version"},
};

// Kept with the measurement; the rest only decides about it.
constexpr std::string_view kSettings[] = {"scenario",        "sut",
                                          "result",          "samples_per_query",
                                          "target_qps",      "target_latency_ns",
                                          "min_duration_ms", "min_query_count",
                                          "version",         "scheduled_samples_per_second"};

template <typename T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_no(std::string_view value) {
  return value == "NO" || value == "No" || value == "false";
}

Mode mode_of(std::string_view scenario) {
  if (scenario == "Offline") return Mode::kThroughput;
  return scenario == "Server" ? Mode::kServer : Mode::kLatency;
}

}  // namespace

void LoadgenRun::take(std::string_view key, std::string_view value) {
  key = trim(key);
  value = trim(value);
  for (const Key& each : kFigures) {
    if (key != each.summary && key != each.detail) continue;
    const auto number = number_of<double>(value);
    if (number && *number >= 0 && *number <= 1e18) figures_.emplace(each.name, *number);
  }
  for (const Key& each : kValues) {
    if (!key.empty() && (key == each.summary || key == each.detail)) {
      values_.emplace(each.name, printable(value));
    }
  }
}

std::string LoadgenRun::value_of(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string() : found->second;
}

void LoadgenRun::add_doubts(Measurement& measurement) const {
  std::vector<std::string> reasons;
  const auto reason = [&](std::string_view name, const char* text) {
    if (is_no(value_of(name))) reasons.emplace_back(text);
  };
  reason("constraints", "the latency constraint is not met");
  reason("duration", "it is too short");
  reason("queries", "it has too few queries");
  reason("early_stopping", "it stopped too early");
  if (errors_ > 0) reasons.push_back(fmt::format("{} errors", errors_));
  if (value_of("result") != "INVALID" && reasons.empty()) return;
  measurement.diagnostics.push_back(
      diagnose(diagnostics::kRunNotValid, measurement.key.selector(),
               fmt::format("LoadGen says that the run is {}{}{}",
                           value_of("result").empty() ? "not valid" : value_of("result"),
                           reasons.empty() ? "" : ": ", join(reasons, ", "))));
}

void LoadgenRun::into(FileContent& content, const ByteSource& source, const ImportOptions& options,
                      std::string_view format) const {
  const std::string mode = value_of("mode");
  if (figures_.empty()) {
    content.diagnostics.push_back(diagnose(
        diagnostics::kNoResults, "",
        mode.empty() ? "expected figures such as 'Samples per second', found none"
                     : fmt::format("expected figures such as 'Samples per second', found none of a run in "
                                   "the mode {}",
                                   mode)));
    return;
  }
  ResultCell cell(source, format, options);
  Measurement& measurement = cell.measurement();
  const std::string scenario = value_of("scenario");
  measurement.key.workload.mode = mode_of(scenario);
  // Of the others the batch is the system's own choice, which LoadGen does not see.
  if (scenario == "SingleStream" || scenario == "MultiStream") {
    const auto samples = number_of<std::int64_t>(value_of("samples_per_query"));
    if (samples && *samples >= 1 && *samples <= kLargestBatch) cell.says_batch(*samples);
  }
  measurement.created_realtime_ns = parse_time(value_of("time")).value_or(0);
  for (const std::string_view name : kSettings) {
    if (const std::string value = value_of(name); !value.empty())
      cell.set(fmt::format("loadgen.{}", name), value);
  }
  if (warnings_ > 0) cell.set("loadgen.warnings", std::to_string(warnings_));
  const auto queries = number_of<std::int64_t>(value_of("query_count"));
  std::string_view last;
  for (const Key& each : kFigures) {
    const auto figure = figures_.find(each.name);
    if (figure == figures_.end() || each.name == last) continue;  // names of the throughput stand together
    last = each.name;
    cell.report(each.name, figure->second,
                each.name == "throughput" ? Unit::kSamplesPerSecond : Unit::kNanoseconds, queries);
  }
  add_doubts(measurement);
  content.measurements.push_back(cell.finished());
}

}  // namespace deepgap::trace
