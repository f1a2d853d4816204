#include "session/export_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/clock.h"
#include "base/text.h"
#include "core/summary.h"
#include "trace/study_csv/study_csv.h"

namespace deepgap::session {
namespace {

using Row = std::vector<std::string>;

std::string effective(const Measurement& measurement, std::string_view name) {
  for (const Setting& setting : measurement.settings) {
    if (setting.name == name) return setting.effective.value_or("");
  }
  return {};
}

std::string milliseconds(double ns) {
  return fmt::format("{:.6f}", ns / 1e6);
}

// The studies count sweeps of so many repeats.
constexpr std::string_view kPublishedProtocol = "fixed:";
constexpr int kRepeatsPerPublishedSweep = 3;

// What the studies' scripts wrote for one process: plain statistics of its samples, linear interpolation for
// p99 as numpy's default.
struct PlainStatistics {
  double median = 0, mean = 0, deviation = 0, p99 = 0;
};

double interpolated(const std::vector<double>& sorted, double quantile) {
  const double position = quantile * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

PlainStatistics plain_statistics(const std::vector<std::int64_t>& host_ns) {
  std::vector<double> sorted(host_ns.begin(), host_ns.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / n;
  double squares = 0;
  for (const double value : sorted) squares += (value - mean) * (value - mean);
  return {.median = interpolated(sorted, 0.5),
          .mean = mean,
          .deviation = std::sqrt(squares / n),
          .p99 = interpolated(sorted, 0.99)};
}

Row study_columns() {
  return {trace::kStudyColumns.begin(), trace::kStudyColumns.end()};
}

std::vector<Row> study_rows(const Measurement& measurement, int first_sweep) {
  std::vector<Row> rows;
  const bool published = effective(measurement, settings::kProtocol).starts_with(kPublishedProtocol);
  for (const ProcessRun& process : measurement.processes) {
    if (process.samples.host_ns.empty()) continue;
    const PlainStatistics statistics = plain_statistics(process.samples.host_ns);
    const int sweep = first_sweep + study_sweeps(process.index + 1, published) - 1;
    const int repeat = published ? process.index % kRepeatsPerPublishedSweep + 1 : process.index + 1;
    // Their throughput is not ours, which is measured.
    const double throughput = static_cast<double>(measurement.key.workload.batch) / (statistics.median / 1e9);
    const std::int64_t stamp = process.started.realtime_at.count() > 0 ? process.started.realtime_at.count()
                                                                       : measurement.created_realtime_ns;
    rows.push_back({format_utc(Nanoseconds{stamp}),
                    measurement.key.device,
                    std::to_string(sweep),
                    std::to_string(repeat),
                    measurement.key.workload.model,
                    std::to_string(measurement.key.workload.batch),
                    effective(measurement, settings::kThreads),
                    std::to_string(process.samples.host_ns.size()),
                    std::to_string(process.warmup_calls),
                    milliseconds(statistics.median),
                    milliseconds(statistics.mean),
                    milliseconds(statistics.deviation),
                    milliseconds(statistics.p99),
                    fmt::format("{:.6f}", throughput),
                    effective(measurement, settings::kHostName),
                    effective(measurement, settings::kHostOs),
                    effective(measurement, settings::kHostKernel),
                    effective(measurement, settings::kHostArchitecture),
                    effective(measurement, settings::kHostCpuModel),
                    effective(measurement, settings::kHostCpuSockets),
                    effective(measurement, settings::kHostCpuCoresPerSocket),
                    effective(measurement, settings::kHostCpuThreadsPerCore),
                    effective(measurement, settings::kHostCpuLogicalCpus),
                    effective(measurement, settings::kHostMemTotalMb),
                    effective(measurement, "python.version"),
                    effective(measurement, "torch.version"),
                    effective(measurement, "torch.cuda_available"),
                    effective(measurement, "torchvision.version")});
  }
  return rows;
}

Row deep_gap_columns() {
  Row columns = study_columns();
  columns.emplace_back(trace::kStudyDeviceMemory);
  return columns;
}

std::vector<Row> deep_gap_rows(const Measurement& measurement, int first_sweep) {
  std::vector<Row> rows = study_rows(measurement, first_sweep);
  std::size_t row = 0;
  for (const ProcessRun& process : measurement.processes) {
    if (process.samples.host_ns.empty()) continue;
    rows[row++].push_back(
        process.peak_device_memory
            ? fmt::format("{:.3f}", static_cast<double>(process.peak_device_memory->value) / (1 << 20))
            : std::string());
  }
  return rows;
}

Row own_columns() {
  return {"id",
          "created_utc",
          "model",
          "engine",
          "engine_version",
          "device",
          "device_name",
          "precision",
          "batch",
          "mode",
          "dims",
          "processes",
          "samples",
          "latency_ns",
          "latency_lower_ns",
          "latency_upper_ns",
          "p50_ns",
          "p50_lower_ns",
          "p50_upper_ns",
          "p90_ns",
          "p90_lower_ns",
          "p90_upper_ns",
          "p95_ns",
          "p95_lower_ns",
          "p95_upper_ns",
          "p99_ns",
          "p99_lower_ns",
          "p99_upper_ns",
          "throughput_per_s",
          "throughput_lower_per_s",
          "throughput_upper_per_s",
          "threads",
          "streams",
          "in_flight",
          "hostname",
          "failure",
          "diagnostics"};
}

void push_estimate(Row& row, const std::optional<Estimate>& estimate) {
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : std::string();
  };
  const auto whole = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.0f}", *value) : std::string();
  };
  const bool time = estimate && estimate->unit == Unit::kNanoseconds;
  row.push_back(estimate ? (time ? whole(estimate->value) : text(estimate->value)) : std::string());
  row.push_back(estimate ? (time ? whole(estimate->lower) : text(estimate->lower)) : std::string());
  row.push_back(estimate ? (time ? whole(estimate->upper) : text(estimate->upper)) : std::string());
}

std::vector<Row> own_rows(const Measurement& measurement, int /*first_sweep*/) {
  const CellSummary cell = summarise(measurement);
  std::string diagnostics;
  for (const Diagnostic& diagnostic : cell.diagnostics)
    diagnostics += (diagnostics.empty() ? "" : " ") + diagnostic.id;
  Row row{measurement.id.str(),
          format_utc(Nanoseconds{measurement.created_realtime_ns}),
          measurement.key.workload.model,
          measurement.key.engine,
          measurement.engine_version,
          measurement.key.device,
          measurement.device.name,
          std::string(name_of(measurement.key.workload.precision)),
          std::to_string(measurement.key.workload.batch),
          std::string(name_of(measurement.key.workload.mode)),
          dims_text(measurement.key.workload),
          std::to_string(cell.processes),
          std::to_string(cell.samples)};
  for (const auto* estimate : {&cell.latency, &cell.p50, &cell.p90, &cell.p95, &cell.p99, &cell.throughput})
    push_estimate(row, *estimate);
  row.push_back(effective(measurement, settings::kThreads));
  row.push_back(effective(measurement, settings::kStreams));
  row.push_back(effective(measurement, settings::kInFlight));
  row.push_back(effective(measurement, settings::kHostName));
  row.push_back(measurement.failure ? measurement.failure->kind : "");
  row.push_back(diagnostics);
  return {row};
}

constexpr ExportLayout kLayouts[] = {
    {"deepgap", "one row a cell with intervals", own_columns, own_rows},
    {"deep-gap", "the columns of arXiv 2604.14552: one row a process of a cell", deep_gap_columns,
     deep_gap_rows, true},
    {"gdev-ai", "the columns of arXiv 2602.16858: one row a process of a cell", study_columns, study_rows,
     true},
};

}  // namespace

int study_sweeps(int processes, bool published) {
  return published ? (processes + kRepeatsPerPublishedSweep - 1) / kRepeatsPerPublishedSweep : 1;
}

std::vector<std::string> text_columns() {
  return {"id",
          "created_utc",
          "timestamp_utc",
          "model",
          "engine",
          "device",
          "engine_version",
          "device_name",
          "precision",
          "mode",
          "dims",
          "hostname",
          "os",
          "kernel",
          "arch",
          "cpu_model",
          "python_version",
          "torch_version",
          "cuda_available",
          "torchvision_version",
          "failure",
          "diagnostics"};
}

std::span<const ExportLayout> export_layouts() {
  return kLayouts;
}

Result<const ExportLayout*> find_export_layout(const std::string& name) {
  std::vector<std::string> names;
  for (const ExportLayout& layout : kLayouts) {
    if (layout.name == name) return &layout;
    names.emplace_back(layout.name);
  }
  return usage_error(unknown_name("column layout", name, names));
}

}  // namespace deepgap::session
