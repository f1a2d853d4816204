// Writing measurements: the row, and everything that hangs from it.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "store/encoding.h"
#include "store/json_columns.h"
#include "store/rows.h"
#include "store/store.h"

namespace deepgap::store {
namespace {

// A row's process column: rows of the whole cell have none.
using ProcessIndex = std::optional<int>;

// Of a row that came with a visit of `visited`.
template <typename Row>
ProcessIndex process_of(const Row& row, ProcessIndex visited) {
  return row.process ? row.process : visited;
}

Blob bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::optional<std::int64_t> count_of(const std::optional<Nanoseconds>& duration) {
  if (!duration.has_value()) return std::nullopt;
  return duration->count();
}

std::optional<std::int64_t> count_of(const std::optional<Bytes>& size) {
  if (!size.has_value()) return std::nullopt;
  return size->value;
}

class Writer {
 public:
  Writer(Connection& connection, std::int64_t measurement)
      : connection_(connection), measurement_(measurement) {}

  Result<void> process(const ProcessRun& run);
  // Only rows that say something else than the cell's rows do.
  Result<void> settings(ProcessIndex visited, std::span<const Setting> settings);
  Result<void> diagnostics(ProcessIndex visited, std::span<const Diagnostic> diagnostics);
  Result<void> telemetry(ProcessIndex visited, std::span<const TelemetrySeries> series);
  Result<void> accuracy(ProcessIndex visited, std::span<const AccuracyRecord> records);
  Result<void> reported(std::span<const ReportedValue> values);
  Result<void> failure(const std::optional<CellFailure>& failure);

 private:
  Result<void> column(SampleQuantity quantity, const ProcessRun& run,
                      const std::vector<std::int64_t>& values);
  Result<bool> is_stored(int process);

  Connection& connection_;
  std::int64_t measurement_;
};

Result<bool> Writer::is_stored(int process) {
  DEEPGAP_ASSIGN(Statement query,
                 connection_.statement("SELECT 1 FROM process WHERE measurement = ? AND process = ?"));
  query.bind(measurement_, process);
  return query.step();
}

Result<void> Writer::column(SampleQuantity quantity, const ProcessRun& run,
                            const std::vector<std::int64_t>& values) {
  if (values.empty()) return {};
  if (values.size() != run.samples.size()) {
    return internal_error(
        fmt::format("expected sample columns of equal length in process {}, found {} and {} entries",
                    run.index, run.samples.size(), values.size()));
  }
  const std::string data = encode_integers(values);
  DEEPGAP_ASSIGN(Statement insert,
                 connection_.statement("INSERT INTO samples (quantity, measurement, process, data) "
                                       "VALUES (?, ?, ?, ?)"));
  return insert.run(static_cast<int>(quantity), measurement_, run.index, bytes_of(data));
}

Result<void> Writer::process(const ProcessRun& run) {
  if (run.index < 0)
    return internal_error(fmt::format("expected a process index from 0, found {}", run.index));
  DEEPGAP_ASSIGN(const bool stored, is_stored(run.index));
  if (stored) {
    return internal_error(
        fmt::format("expected a process that is not stored yet, found process {} stored", run.index));
  }
  DEEPGAP_ASSIGN(
      Statement insert,
      connection_.statement(
          "INSERT INTO process (measurement, process, samples, load_ns, first_call_ns, warmup_calls, "
          "warmup_ns, window_ns, completed, peak_memory, peak_device_memory, stop_reason, "
          "started_at_ns, started_realtime_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  DEEPGAP_RETURN_IF_ERROR(insert.run(measurement_, run.index, run.samples.size(), count_of(run.load_time),
                                     count_of(run.first_call), run.warmup_calls, run.warmup_time.count(),
                                     count_of(run.window), run.completed, count_of(run.peak_memory),
                                     count_of(run.peak_device_memory), name_of(run.stop_reason),
                                     run.started.monotonic_at.count(), run.started.realtime_at.count()));
  DEEPGAP_RETURN_IF_ERROR(column(SampleQuantity::kHost, run, run.samples.host_ns));
  DEEPGAP_RETURN_IF_ERROR(column(SampleQuantity::kStart, run, run.samples.start_ns));
  DEEPGAP_RETURN_IF_ERROR(column(SampleQuantity::kEnqueue, run, run.samples.enqueue_ns));
  return column(SampleQuantity::kDevice, run, run.samples.device_ns);
}

Result<void> Writer::settings(ProcessIndex visited, std::span<const Setting> settings) {
  DEEPGAP_ASSIGN(Statement same,
                 connection_.statement("SELECT 1 FROM setting WHERE measurement = ? AND process IS NULL "
                                       "AND name = ? AND requested IS ? AND effective IS ?"));
  DEEPGAP_ASSIGN(Statement insert,
                 connection_.statement("INSERT INTO setting (measurement, process, name, requested, "
                                       "effective) VALUES (?, ?, ?, ?, ?)"));
  for (const Setting& setting : settings) {
    same.bind(measurement_, setting.name, setting.requested, setting.effective);
    DEEPGAP_ASSIGN(const bool known, same.step());
    if (known) continue;
    DEEPGAP_RETURN_IF_ERROR(insert.run(measurement_, process_of(setting, visited), setting.name,
                                       setting.requested, setting.effective));
  }
  return {};
}

Result<void> Writer::diagnostics(ProcessIndex visited, std::span<const Diagnostic> diagnostics) {
  DEEPGAP_ASSIGN(Statement insert,
                 connection_.statement("INSERT INTO diagnostic (measurement, process, id, severity, "
                                       "place, text, count) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  for (const Diagnostic& one : diagnostics) {
    DEEPGAP_RETURN_IF_ERROR(insert.run(measurement_, process_of(one, visited), one.id, name_of(one.severity),
                                       one.where, one.text, one.count));
  }
  return {};
}

Result<void> Writer::telemetry(ProcessIndex visited, std::span<const TelemetrySeries> series) {
  DEEPGAP_ASSIGN(Statement insert,
                 connection_.statement("INSERT INTO telemetry (measurement, process, quantity, source, "
                                       "unit, at_ns, value) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  for (const TelemetrySeries& one : series) {
    if (one.at_ns.size() != one.values.size()) {
      return internal_error(
          fmt::format("expected as many times as values in the series '{}', found {} and {}", one.quantity,
                      one.at_ns.size(), one.values.size()));
    }
    const std::string times = encode_integers(one.at_ns);
    const std::string values = encode_reals(one.values);
    DEEPGAP_RETURN_IF_ERROR(insert.run(measurement_, process_of(one, visited), one.quantity, one.source,
                                       name_of(one.unit), bytes_of(times), bytes_of(values)));
  }
  return {};
}

Result<void> Writer::accuracy(ProcessIndex visited, std::span<const AccuracyRecord> records) {
  DEEPGAP_ASSIGN(Statement insert,
                 connection_.statement("INSERT INTO accuracy (measurement, process, reference, "
                                       "quantity, value, n) VALUES (?, ?, ?, ?, ?, ?)"));
  for (const AccuracyRecord& one : records) {
    DEEPGAP_RETURN_IF_ERROR(
        insert.run(measurement_, process_of(one, visited), one.reference, one.quantity, one.value, one.n));
  }
  return {};
}

Result<void> Writer::reported(std::span<const ReportedValue> values) {
  DEEPGAP_ASSIGN(Statement insert,
                 connection_.statement("INSERT INTO reported (measurement, run, metric, value, unit, n) "
                                       "VALUES (?, ?, ?, ?, ?, ?)"));
  for (const ReportedValue& one : values) {
    DEEPGAP_RETURN_IF_ERROR(
        insert.run(measurement_, std::int64_t{one.process}, one.metric, one.value, name_of(one.unit), one.n));
  }
  return {};
}

Result<void> Writer::failure(const std::optional<CellFailure>& failure) {
  if (!failure.has_value()) {
    DEEPGAP_ASSIGN(Statement remove, connection_.statement("DELETE FROM failure WHERE measurement = ?"));
    return remove.run(measurement_);
  }
  DEEPGAP_ASSIGN(Statement replace,
                 connection_.statement("INSERT OR REPLACE INTO failure (measurement, kind, text, "
                                       "bytes_asked) VALUES (?, ?, ?, ?)"));
  return replace.run(measurement_, failure->kind, failure->text, count_of(failure->bytes_asked));
}

Result<std::int64_t> insert_measurement(Connection& connection, const Measurement& measurement) {
  const Workload& workload = measurement.key.workload;
  DEEPGAP_ASSIGN(const std::int64_t device,
                 upsert_device(connection, measurement.device, CeilingPolicy::kAddUnknownOnly));
  DEEPGAP_ASSIGN(
      Statement insert,
      connection.statement(
          "INSERT INTO measurement (id, created_realtime_ns, sweep, model, model_hash, dims, batch, "
          "precision, mode, engine, engine_version, device_address, device, planned_processes, origin, "
          "target) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  DEEPGAP_RETURN_IF_ERROR(insert.run(
      measurement.id.str(), measurement.created_realtime_ns, null_if_empty(measurement.sweep.str()),
      workload.model, workload.model_hash, null_if_empty(dims_to_json(workload.dims)), workload.batch,
      name_of(workload.precision), name_of(workload.mode), measurement.key.engine, measurement.engine_version,
      measurement.key.device, device, measurement.planned_processes, measurement.origin, measurement.target));
  return sqlite3_last_insert_rowid(connection.handle());
}

Result<void> check_new(Connection& connection, const Measurement& measurement) {
  if (measurement.id.empty()) return internal_error("expected a measurement with an id, found one without");
  DEEPGAP_ASSIGN(const std::optional<std::int64_t> key, find_measurement(connection, measurement.id));
  if (key.has_value()) {
    return internal_error(
        fmt::format("expected a new measurement, found '{}' stored already", measurement.id.str()));
  }
  if (measurement.sweep.empty()) return {};
  DEEPGAP_ASSIGN(Statement sweep, connection.statement("SELECT 1 FROM sweep WHERE id = ?"));
  sweep.bind(measurement.sweep.str());
  DEEPGAP_ASSIGN(const bool known, sweep.step());
  if (!known) {
    return internal_error(
        fmt::format("expected sweep '{}' of measurement '{}' to be stored before it, found no such sweep",
                    measurement.sweep.str(), measurement.id.str()));
  }
  return {};
}

}  // namespace

Result<void> Store::put_measurement(const Measurement& measurement) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  DEEPGAP_RETURN_IF_ERROR(check_new(*connection_, measurement));
  DEEPGAP_ASSIGN(const std::int64_t key, insert_measurement(*connection_, measurement));
  Writer writer(*connection_, key);
  for (const ProcessRun& run : measurement.processes) DEEPGAP_RETURN_IF_ERROR(writer.process(run));
  DEEPGAP_RETURN_IF_ERROR(writer.settings(std::nullopt, measurement.settings));
  DEEPGAP_RETURN_IF_ERROR(writer.diagnostics(std::nullopt, measurement.diagnostics));
  DEEPGAP_RETURN_IF_ERROR(writer.telemetry(std::nullopt, measurement.telemetry));
  DEEPGAP_RETURN_IF_ERROR(writer.accuracy(std::nullopt, measurement.accuracy));
  DEEPGAP_RETURN_IF_ERROR(writer.reported(measurement.reported));
  if (measurement.failure.has_value()) DEEPGAP_RETURN_IF_ERROR(writer.failure(measurement.failure));
  return transaction.commit();
}

Result<void> Store::append_visit(const MeasurementId& id, const CellVisit& visit) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  DEEPGAP_ASSIGN(const std::int64_t key, require_measurement(*connection_, id));
  Writer writer(*connection_, key);
  ProcessIndex process;
  if (visit.process.has_value()) {
    process = visit.process->index;
    DEEPGAP_RETURN_IF_ERROR(writer.process(*visit.process).in(fmt::format("measurement {}", id.str())));
  }
  DEEPGAP_RETURN_IF_ERROR(writer.settings(process, visit.settings));
  DEEPGAP_RETURN_IF_ERROR(writer.diagnostics(process, visit.diagnostics));
  DEEPGAP_RETURN_IF_ERROR(writer.telemetry(process, visit.telemetry));
  DEEPGAP_RETURN_IF_ERROR(writer.accuracy(process, visit.accuracy));
  if (visit.failure.has_value()) DEEPGAP_RETURN_IF_ERROR(writer.failure(visit.failure));
  return transaction.commit();
}

Result<void> Store::set_failure(const MeasurementId& id, const std::optional<CellFailure>& failure) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  DEEPGAP_ASSIGN(const std::int64_t key, require_measurement(*connection_, id));
  DEEPGAP_RETURN_IF_ERROR(Writer(*connection_, key).failure(failure));
  return transaction.commit();
}

}  // namespace deepgap::store
