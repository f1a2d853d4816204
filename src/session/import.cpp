#include "session/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/views.h"
#include "session/telemetry_join.h"
#include "session/trace_measurement.h"
#include "store/store.h"
#include "trace/op_records.h"

namespace deepgap::session {
namespace {

struct Log {
  std::size_t file = 0;  // index of its row in the findings
  TelemetryLog log;
};

class Import {
 public:
  Import(store::Store& store, const trace::ImportOptions& options, report::ImportFindings& findings)
      : store_(store), options_(options), findings_(findings) {}

  // Before anything is added.
  Result<void> begin() {
    DEEPGAP_ASSIGN(stored_traces_, store_.traces());
    return {};
  }

  Result<void> add(const std::string& path) {
    DEEPGAP_ASSIGN(trace::FileContent content, trace::read_file(path, options_));
    findings_.files.push_back({.path = path, .format = content.format});
    report::ImportFindings::File& file = findings_.files.back();
    file.diagnostics = content.diagnostics;
    if (content.measurements.empty() && content.op_tables.empty() && !content.timeline &&
        !content.telemetry) {
      return bad_input(
          fmt::format("{}: expected something to store, found a file of the format {} without any: "
                      "`deepgap show` says what is in it",
                      printable(path), content.format));
    }
    for (const Measurement& measurement : content.measurements) {
      DEEPGAP_RETURN_IF_ERROR(put(measurement, file));
    }
    if (content.timeline) DEEPGAP_RETURN_IF_ERROR(put_timeline(*content.timeline, path, file));
    for (std::size_t i = 0; i < content.op_tables.size(); ++i) {
      DEEPGAP_RETURN_IF_ERROR(put_ops(content.op_tables[i], i, path, file));
    }
    if (content.telemetry) {
      logs_.push_back({.file = findings_.files.size() - 1, .log = std::move(*content.telemetry)});
    }
    return {};
  }

  // Once all files are read, in whatever order they were named.
  Result<void> join_logs() {
    for (const Log& log : logs_) {
      report::ImportFindings::File& file = findings_.files[log.file];
      if (!log.log.has_time_of_day) {
        return bad_input(
            fmt::format("{}: expected telemetry with times of day, by which it is joined to what ran "
                        "meanwhile, found none (log them with -o DT)",
                        printable(file.path)));
      }
      bool any = false;
      for (const MeasurementId& id : imported_) {
        DEEPGAP_ASSIGN(const Measurement measurement, store_.load(id));
        DEEPGAP_ASSIGN(const bool joined, join(log.log, measurement, file));
        any = any || joined;
      }
      if (!any) {
        DEEPGAP_ASSIGN(any, join_to_stored(log.log, file));
      }
      if (!any) {
        return bad_input(fmt::format(
            "{}: expected measurements on its device while it was logged, found none among these files and "
            "in {}; "
            "import it together with what ran then, and name the machine's time zone with --utc-offset",
            printable(file.path), printable(store_.path())));
      }
    }
    return {};
  }

 private:
  Result<void> put(const Measurement& measurement, report::ImportFindings::File& file) {
    imported_.push_back(measurement.id);
    if (store_.resolve_prefix(measurement.id.str()).ok()) {
      ++file.present;
      return {};
    }
    ++file.added;
    file.reported += static_cast<std::int64_t>(measurement.reported.size());
    file.samples += measurement.sample_count();
    return store_.put_measurement(measurement);
  }

  Result<void> put_timeline(const trace::Timeline& timeline, const std::string& path,
                            report::ImportFindings::File& file) {
    const trace::Steps steps = trace::find_steps(timeline);
    const trace::Attribution attribution = trace::attribute(timeline, steps);
    const trace::Quality quality = trace::judge(timeline, steps, attribution);
    DEEPGAP_ASSIGN(const trace::TracedOps traced, trace::trace_ops(timeline, steps, attribution));
    DEEPGAP_ASSIGN(const Measurement measurement,
                   measurement_of(timeline, steps, quality, traced, path, options_));
    file.diagnostics = measurement.diagnostics;
    DEEPGAP_RETURN_IF_ERROR(put(measurement, file));
    return put_records(trace::op_records(timeline, traced, steps),
                       fmt::format("ops of {}", measurement.id.str()),
                       store::Trace{.measurement = measurement.id,
                                    .process = 0,
                                    .source = printable(path),
                                    .created_realtime_ns = measurement.created_realtime_ns,
                                    .clocks = measurement.processes[0].started},
                       file);
  }

  Result<void> put_ops(const OpTable& table, std::size_t index, const std::string& path,
                       report::ImportFindings::File& file) {
    std::vector<OpRecord> records;
    std::string content = fmt::format("{}|{}|{}|{}", file.format, index, table.title,
                                      table.measurement ? table.measurement->str() : "");
    for (const OpTable::Row& row : table.rows) {
      content += fmt::format("|{}:{}:{}", row.record.name, row.record.duration.count(), row.implementation);
      records.push_back(row.record);
    }
    return put_records(records, content,
                       store::Trace{.measurement = table.measurement, .source = printable(path)}, file);
  }

  // Under an id that follows from `content`, so that the same ones are stored once.
  Result<void> put_records(const std::vector<OpRecord>& records, const std::string& content,
                           store::Trace trace, report::ImportFindings::File& file) {
    trace.id = store::TraceId(content_hash(content).substr(0, 16));
    trace.format = file.format;
    for (const store::Trace& there : stored_traces_) {
      if (there.id == trace.id) return {};
    }
    DEEPGAP_RETURN_IF_ERROR(store_.put_trace(trace, records));
    file.ops += static_cast<std::int64_t>(records.size());
    stored_traces_.push_back(std::move(trace));
    return {};
  }

  // Whether the log has anything of the measurement, new or stored already.
  Result<bool> join(const TelemetryLog& log, const Measurement& measurement,
                    report::ImportFindings::File& file) {
    std::vector<TelemetrySeries> all = join_telemetry(log, measurement);
    store::CellVisit visit;
    for (TelemetrySeries& series : all) {
      const auto is_it = [&series](const TelemetrySeries& there) {
        return there.quantity == series.quantity && there.source == series.source &&
               there.process == series.process && there.at_ns == series.at_ns;
      };
      if (std::any_of(measurement.telemetry.begin(), measurement.telemetry.end(), is_it)) continue;
      ++file.series;
      visit.telemetry.push_back(std::move(series));
    }
    if (!visit.telemetry.empty()) DEEPGAP_RETURN_IF_ERROR(store_.append_visit(measurement.id, visit));
    return !all.empty();
  }

  Result<bool> join_to_stored(const TelemetryLog& log, report::ImportFindings::File& file) {
    std::vector<Measurement> meanwhile;  // nothing is written to a store that is being read
    DEEPGAP_ASSIGN([[maybe_unused]] const store::Visited visited,
                   store_.for_each({}, store::LoadDepth::kAll, [&](Measurement& measurement) {
                     if (!join_telemetry(log, measurement).empty())
                       meanwhile.push_back(std::move(measurement));
                     return true;
                   }));
    for (const Measurement& measurement : meanwhile) {
      DEEPGAP_ASSIGN([[maybe_unused]] const bool joined, join(log, measurement, file));
    }
    return !meanwhile.empty();
  }

  store::Store& store_;
  const trace::ImportOptions& options_;
  report::ImportFindings& findings_;
  std::vector<store::Trace> stored_traces_;
  std::vector<MeasurementId> imported_;
  std::vector<Log> logs_;
};

}  // namespace

Result<Answer> import_files(const std::string& database, const std::vector<std::string>& files,
                            const trace::ImportOptions& options) {
  // Before a store is made: what is no file of ours is the likeliest mistake.
  for (const std::string& file : files) {
    DEEPGAP_ASSIGN(const trace::ByteSource source, trace::ByteSource::open(file));
    DEEPGAP_RETURN_IF_ERROR(trace::importer_of(source));
  }
  DEEPGAP_ASSIGN(store::Store store, store::Store::open(database, store::OpenMode::kWrite));
  report::ImportFindings findings{.database = database};
  Import import(store, options, findings);
  Result<void> stored = store.in_one_transaction([&]() -> Result<void> {
    DEEPGAP_RETURN_IF_ERROR(import.begin());
    for (const std::string& path : files) DEEPGAP_RETURN_IF_ERROR(import.add(path));
    return import.join_logs();
  });
  if (!stored.ok()) return std::move(stored).error().in("nothing was imported");
  return Answer{.document = report::import_document(findings)};
}

}  // namespace deepgap::session
