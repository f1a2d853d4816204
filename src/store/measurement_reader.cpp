#include "store/measurement_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "base/text.h"
#include "store/encoding.h"
#include "store/json_columns.h"
#include "store/rows.h"

namespace deepgap::store {
namespace {

std::optional<Nanoseconds> optional_duration(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return Nanoseconds(row.integer(column));
}

std::optional<Bytes> optional_bytes(const Statement& row, int column) {
  if (row.is_null(column)) return std::nullopt;
  return Bytes{row.integer(column)};
}

// What a number of a row may be: with another one the cell is damaged. NULL is fine where the tables allow
// it.
struct Range {
  int column;  // of the query
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
};

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kAnyInt = std::numeric_limits<int>::max();

// Of kMeasurementColumns.
constexpr std::array kMeasurementRanges = {
    Range{7, "batch", 1, kLargestBatch},
    Range{14, "planned_processes", 0, kAnyInt},
};

constexpr std::string_view kProcessQuery =
    "SELECT measurement, process, samples, load_ns, first_call_ns, warmup_calls, warmup_ns, window_ns, "
    "completed, peak_memory, peak_device_memory, stop_reason, started_at_ns, started_realtime_ns "
    "FROM process WHERE measurement <= ? ORDER BY measurement DESC, process DESC";
// No call takes no time.
constexpr std::array kProcessRanges = {
    Range{1, "process", 0, kAnyInt},         Range{2, "samples", 0, kAnyInt},
    Range{3, "load_ns", 0, kAnyNumber},      Range{4, "first_call_ns", 1, kAnyNumber},
    Range{5, "warmup_calls", 0, kAnyNumber}, Range{6, "warmup_ns", 0, kAnyNumber},
    Range{7, "window_ns", 1, kAnyNumber},    Range{8, "completed", 0, kAnyNumber},
    Range{9, "peak_memory", 0, kAnyNumber},  Range{10, "peak_device_memory", 0, kAnyNumber},
};

Result<void> check_ranges(const Statement& row, std::span<const Range> ranges) {
  for (const Range& range : ranges) {
    if (row.is_null(range.column)) continue;
    const std::int64_t value = row.integer(range.column);
    if (value >= range.least && value <= range.most) continue;
    const std::string what =
        range.most == kAnyNumber
            ? fmt::format("column {} to be at least {}", range.name, range.least)
            : fmt::format("column {} to be from {} to {}", range.name, range.least, range.most);
    return damaged(what, std::to_string(value));
  }
  return {};
}

// What holds between the columns of a process.
Result<void> check_samples(const ProcessRun& run, Mode mode) {
  const std::vector<std::int64_t>& host = run.samples.host_ns;
  const auto no_time = std::find_if(host.begin(), host.end(), [](std::int64_t time) { return time <= 0; });
  if (no_time != host.end()) return damaged("times above 0 in column host_ns", std::to_string(*no_time));
  // Each call that ended in the window is a sample.
  if (mode == Mode::kThroughput && run.completed != static_cast<std::int64_t>(host.size())) {
    return damaged(
        fmt::format("column completed to be the number of samples, {}, in throughput mode", host.size()),
        std::to_string(run.completed));
  }
  return {};
}

std::string sample_query(SampleQuantity quantity) {
  return fmt::format(
      "SELECT measurement, process, data FROM samples WHERE quantity = {} AND measurement <= ? "
      "ORDER BY measurement DESC, process DESC",
      static_cast<int>(quantity));
}

Result<Children> prepare_children(Connection& connection) {
  DEEPGAP_ASSIGN(ChildRows processes, ChildRows::prepare(connection, kProcessQuery));
  DEEPGAP_ASSIGN(ChildRows host, ChildRows::prepare(connection, sample_query(SampleQuantity::kHost)));
  DEEPGAP_ASSIGN(ChildRows start, ChildRows::prepare(connection, sample_query(SampleQuantity::kStart)));
  DEEPGAP_ASSIGN(
      ChildRows diagnostics,
      ChildRows::prepare(connection,
                         "SELECT measurement, id, severity, place, text, count, process FROM diagnostic "
                         "WHERE measurement <= ? ORDER BY measurement DESC, key DESC"));
  return Children{std::move(processes), std::move(host), std::move(start), std::move(diagnostics)};
}

Result<void> read_process_row(const Statement& row, ProcessRun& run) {
  DEEPGAP_RETURN_IF_ERROR(check_ranges(row, kProcessRanges));
  run.index = static_cast<int>(row.integer(1));
  run.load_time = optional_duration(row, 3);
  run.first_call = optional_duration(row, 4);
  run.warmup_calls = row.integer(5);
  run.warmup_time = Nanoseconds(row.integer(6));
  run.window = optional_duration(row, 7);
  run.completed = row.integer(8);
  run.peak_memory = optional_bytes(row, 9);
  run.peak_device_memory = optional_bytes(row, 10);
  const std::optional<StopReason> reason = parse_stop_reason(row.text(11));
  if (!reason.has_value()) return damaged("a stop reason", row.text(11));
  run.stop_reason = *reason;
  run.started = {Nanoseconds(row.integer(12)), Nanoseconds(row.integer(13))};
  run.samples.host_ns.clear();
  run.samples.start_ns.clear();
  run.samples.enqueue_ns.clear();
  run.samples.device_ns.clear();
  return {};
}

Result<std::optional<int>> optional_process(const Statement& row, int column) {
  if (row.is_null(column)) return std::optional<int>();
  DEEPGAP_ASSIGN(const int index, as_int(row.integer(column), "a process index"));
  return std::optional(index);
}

}  // namespace

Error damaged(std::string_view what, std::string_view found) {
  return bad_input(
      fmt::format("expected {}, found '{}': the store is damaged, or was written by a newer deepgap", what,
                  printable(found, 60)));
}

Result<int> as_int(std::int64_t value, std::string_view what) {
  if (value < 0 || value > std::numeric_limits<int>::max()) return damaged(what, std::to_string(value));
  return static_cast<int>(value);
}

Result<const Device*> MeasurementReader::device(std::int64_t key, bool full) {
  const auto found = devices_.find(key);
  if (found != devices_.end()) return &found->second;
  DEEPGAP_ASSIGN(Device device, load_device(connection_, key, full));
  return &devices_.emplace(key, std::move(device)).first->second;
}

Result<void> MeasurementReader::read_row(const Statement& row, bool full_device, Measurement& measurement) {
  measurement.id = MeasurementId(std::string(row.text(1)));
  measurement.created_realtime_ns = row.integer(2);
  measurement.sweep = SweepId(std::string(row.text(3)));
  DEEPGAP_RETURN_IF_ERROR(check_ranges(row, kMeasurementRanges));
  Workload& workload = measurement.key.workload;
  workload.model = row.text(4);
  workload.model_hash = row.text(5);
  DEEPGAP_ASSIGN(workload.dims, dims_from_json(row.text(6)));
  workload.batch = row.integer(7);
  const std::optional<Precision> precision = parse_precision(row.text(8));
  if (!precision.has_value()) return damaged("a precision", row.text(8));
  workload.precision = *precision;
  const std::optional<Mode> mode = parse_mode(row.text(9));
  if (!mode.has_value()) return damaged("a mode", row.text(9));
  workload.mode = *mode;
  measurement.key.engine = row.text(10);
  measurement.engine_version = row.text(11);
  measurement.key.device = row.text(12);
  DEEPGAP_ASSIGN(const Device* cell_device, device(row.integer(13), full_device));
  measurement.device = *cell_device;
  measurement.planned_processes = static_cast<int>(row.integer(14));
  measurement.origin = row.text(15);
  measurement.target = row.is_null(19) ? std::nullopt : std::optional(row.real(19));
  measurement.failure.reset();
  if (!row.is_null(16)) {
    measurement.failure =
        CellFailure{std::string(row.text(16)), std::string(row.text(17)), optional_bytes(row, 18)};
  }
  return {};
}

Result<void> MeasurementReader::read_rest(std::int64_t key, LoadDepth depth, Measurement& measurement) {
  measurement.diagnostics.clear();
  measurement.settings.clear();
  measurement.telemetry.clear();
  measurement.accuracy.clear();
  measurement.reported.clear();
  if (depth == LoadDepth::kHeader) {
    measurement.processes.clear();
    return {};
  }
  DEEPGAP_RETURN_IF_ERROR(read_processes(key, measurement));
  DEEPGAP_RETURN_IF_ERROR(read_diagnostics(key, measurement));
  if (depth == LoadDepth::kListColumns) return {};
  DEEPGAP_RETURN_IF_ERROR(read_other_columns(key, measurement));
  DEEPGAP_RETURN_IF_ERROR(read_settings(key, measurement));
  DEEPGAP_RETURN_IF_ERROR(read_telemetry(key, measurement));
  DEEPGAP_RETURN_IF_ERROR(read_accuracy(key, measurement));
  return read_reported(key, measurement);
}

Result<void> MeasurementReader::read_processes(std::int64_t key, Measurement& measurement) {
  if (!children_.has_value()) {
    DEEPGAP_ASSIGN(Children children, prepare_children(connection_));
    children_.emplace(std::move(children));
  }
  std::vector<ProcessRun>& processes = measurement.processes;
  std::size_t count = 0;
  sample_counts_.clear();
  ChildRows& rows = children_->processes;
  DEEPGAP_ASSIGN(bool row, rows.seek(key));
  while (row) {
    // The vector's elements are used again for the next cell, and their memory with them.
    if (processes.size() == count) processes.emplace_back();
    Result<void> read = read_process_row(rows.row(), processes[count]);
    if (!read.ok()) return std::move(read).error().in(fmt::format("process {}", rows.row().integer(1)));
    sample_counts_.push_back(static_cast<std::size_t>(rows.row().integer(2)));
    ++count;
    DEEPGAP_ASSIGN(row, rows.next());
  }
  processes.resize(count);
  std::reverse(processes.begin(), processes.end());
  std::reverse(sample_counts_.begin(), sample_counts_.end());

  DEEPGAP_RETURN_IF_ERROR(read_column(children_->host, key, &SampleColumns::host_ns, "host_ns", measurement));
  for (std::size_t i = 0; i < count; ++i) {
    if (processes[i].samples.size() != sample_counts_[i]) {
      return bad_input(
          fmt::format("process {}: expected {} samples, found no column host_ns: the store is damaged",
                      processes[i].index, sample_counts_[i]));
    }
    Result<void> checked = check_samples(processes[i], measurement.key.workload.mode);
    if (!checked.ok()) return std::move(checked).error().in(fmt::format("process {}", processes[i].index));
  }
  return read_column(children_->start, key, &SampleColumns::start_ns, "start_ns", measurement);
}

Result<void> MeasurementReader::read_column(ChildRows& rows, std::int64_t key,
                                            std::vector<std::int64_t> SampleColumns::*column,
                                            std::string_view name, Measurement& measurement) {
  std::size_t position = measurement.processes.size();  // one past the process; both go down
  DEEPGAP_ASSIGN(bool row, rows.seek(key));
  while (row) {
    const std::int64_t index = rows.row().integer(1);
    while (position > 0 && measurement.processes[position - 1].index > index) --position;
    if (position == 0 || measurement.processes[position - 1].index != index) {
      return damaged("samples of a stored process", fmt::format("process {}", index));
    }
    SampleColumns& samples = measurement.processes[position - 1].samples;
    Result<void> decoded = decode_integers(rows.row().blob(2), sample_counts_[position - 1], samples.*column);
    if (!decoded.ok()) {
      return std::move(decoded).error().in(fmt::format("process {}: column {} is damaged", index, name));
    }
    DEEPGAP_ASSIGN(row, rows.next());
  }
  return {};
}

Result<void> MeasurementReader::read_other_columns(std::int64_t key, Measurement& measurement) {
  DEEPGAP_ASSIGN(ChildRows enqueue, ChildRows::prepare(connection_, sample_query(SampleQuantity::kEnqueue)));
  DEEPGAP_ASSIGN(ChildRows device, ChildRows::prepare(connection_, sample_query(SampleQuantity::kDevice)));
  DEEPGAP_RETURN_IF_ERROR(read_column(enqueue, key, &SampleColumns::enqueue_ns, "enqueue_ns", measurement));
  return read_column(device, key, &SampleColumns::device_ns, "device_ns", measurement);
}

Result<void> MeasurementReader::read_diagnostics(std::int64_t key, Measurement& measurement) {
  ChildRows& rows = children_->diagnostics;
  DEEPGAP_ASSIGN(bool more, rows.seek(key));
  while (more) {
    const Statement& row = rows.row();
    const std::optional<Severity> severity = parse_severity(row.text(2));
    if (!severity.has_value()) return damaged("a severity of a diagnostic", row.text(2));
    DEEPGAP_ASSIGN(const std::optional<int> process, optional_process(row, 6));
    measurement.diagnostics.push_back({std::string(row.text(1)), *severity, std::string(row.text(3)),
                                       std::string(row.text(4)), row.integer(5), process});
    DEEPGAP_ASSIGN(more, rows.next());
  }
  std::reverse(measurement.diagnostics.begin(), measurement.diagnostics.end());
  return {};
}

Result<void> MeasurementReader::read_settings(std::int64_t key, Measurement& measurement) {
  DEEPGAP_ASSIGN(Statement query,
                 connection_.statement("SELECT name, requested, effective, process FROM setting WHERE "
                                       "measurement = ? ORDER BY key"));
  query.bind(key);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return {};
    DEEPGAP_ASSIGN(const std::optional<int> process, optional_process(query, 3));
    measurement.settings.push_back(
        {std::string(query.text(0)), query.optional_text(1), query.optional_text(2), process});
  }
}

Result<void> MeasurementReader::read_telemetry(std::int64_t key, Measurement& measurement) {
  DEEPGAP_ASSIGN(Statement query,
                 connection_.statement("SELECT quantity, source, unit, at_ns, value, process FROM telemetry "
                                       "WHERE measurement = ? ORDER BY key"));
  query.bind(key);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return {};
    TelemetrySeries series;
    series.quantity = query.text(0);
    series.source = query.text(1);
    const std::optional<Unit> unit = parse_unit(query.text(2));
    if (!unit.has_value()) return damaged("a unit of telemetry", query.text(2));
    series.unit = *unit;
    DEEPGAP_ASSIGN(series.process, optional_process(query, 5));
    const std::string place = fmt::format("telemetry '{}'", printable(series.quantity));
    DEEPGAP_ASSIGN(const std::size_t count, encoded_count(query.blob(3)).in(place));
    DEEPGAP_RETURN_IF_ERROR(decode_integers(query.blob(3), count, series.at_ns).in(place));
    DEEPGAP_RETURN_IF_ERROR(decode_reals(query.blob(4), count, series.values).in(place));
    measurement.telemetry.push_back(std::move(series));
  }
}

Result<void> MeasurementReader::read_accuracy(std::int64_t key, Measurement& measurement) {
  DEEPGAP_ASSIGN(Statement query,
                 connection_.statement("SELECT reference, quantity, value, n, process FROM accuracy WHERE "
                                       "measurement = ? ORDER BY key"));
  query.bind(key);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return {};
    const double value = query.is_null(2) ? std::numeric_limits<double>::quiet_NaN() : query.real(2);
    DEEPGAP_ASSIGN(const std::optional<int> process, optional_process(query, 4));
    measurement.accuracy.push_back(
        {std::string(query.text(0)), std::string(query.text(1)), value, query.integer(3), process});
  }
}

Result<void> MeasurementReader::read_reported(std::int64_t key, Measurement& measurement) {
  DEEPGAP_ASSIGN(Statement query,
                 connection_.statement("SELECT run, metric, value, unit, n FROM reported WHERE "
                                       "measurement = ? ORDER BY key"));
  query.bind(key);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return {};
    const std::optional<Unit> unit = parse_unit(query.text(3));
    if (!unit) {
      return bad_input(
          fmt::format("measurement {}: expected a unit of this version beside a reported {}, found '{}'",
                      measurement.id.str(), printable(query.text(1)), printable(query.text(3))));
    }
    ReportedValue one{.metric = std::string(query.text(1)),
                      .value = query.is_null(2) ? std::numeric_limits<double>::quiet_NaN() : query.real(2),
                      .unit = *unit,
                      .process = static_cast<int>(query.integer(0))};
    if (!query.is_null(4)) one.n = query.integer(4);
    measurement.reported.push_back(std::move(one));
  }
}

}  // namespace deepgap::store
