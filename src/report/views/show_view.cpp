// show: one measurement in full.

#include <fmt/format.h>

#include "report/views.h"
#include "report/views/cell_table.h"
#include "report/views/reported.h"
#include "report/views/telemetry_table.h"

namespace deepgap::report {
namespace {

Table estimates_table(const CellSummary& summary) {
  Table table{.title = "Estimates"};
  table.columns = {{.id = "quantity", .title = "quantity"},
                   {.id = "value", .title = "estimate"},
                   {.id = "n", .title = "n", .align = Align::kRight},
                   {.id = "method", .title = "method"}};
  const auto row = [&table](const char* name, const std::optional<Estimate>& estimate) {
    if (!estimate) return;
    table.rows.push_back(
        {std::string(name), format_estimate(*estimate), estimate->n, std::string(estimate->method)});
  };
  row("latency (median)", summary.latency);
  row("p90", summary.p90);
  row("p95", summary.p95);
  row("p99", summary.p99);
  row("throughput", summary.throughput);
  row("enqueue time (median)", summary.enqueue_time);
  row("device time (median)", summary.device_time);
  return table;
}

Table process_table(std::span<const ProcessSummary> processes) {
  Table table{.title = "Processes"};
  table.columns = {
      {.id = "process", .title = "process", .align = Align::kRight},
      {.id = "samples", .title = "n", .align = Align::kRight},
      {.id = "median",
       .title = "median",
       .align = Align::kRight,
       .scale = milliseconds(),
       .bounds = Bounds::kAbsolute},
      {.id = "load_time", .title = "load", .align = Align::kRight, .scale = milliseconds()},
      {.id = "first_call", .title = "first call", .align = Align::kRight, .scale = milliseconds()},
      {.id = "warmup_calls", .title = "warm-up calls", .align = Align::kRight},
      {.id = "peak_memory",
       .title = "peak memory",
       .align = Align::kRight,
       .scale = {.divisor = 1e6, .unit = "MB"}},
      {.id = "stop_reason", .title = "stopped by"}};
  for (const ProcessSummary& process : processes) {
    std::vector<Cell> row{std::int64_t{process.index},
                          process.samples,
                          Cell{},
                          Cell{},
                          Cell{},
                          process.warmup_calls,
                          Cell{},
                          std::string(name_of(process.stop_reason))};
    if (process.median) row[2] = *process.median;
    if (process.load_time) row[3] = static_cast<double>(process.load_time->count());
    if (process.first_call) row[4] = static_cast<double>(process.first_call->count());
    if (process.peak_memory) row[6] = static_cast<double>(process.peak_memory->value);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table settings_table(std::span<const Setting> settings) {
  Table table{.title = "Run context"};
  table.columns = {{.id = "name", .title = "setting"},
                   {.id = "requested", .title = "requested"},
                   {.id = "effective", .title = "effective"}};
  for (const Setting& setting : settings) {
    table.rows.push_back({setting.name, setting.requested.value_or(""), setting.effective.value_or("")});
  }
  return table;
}

Json json_of_process(const ProcessSummary& process) {
  Json json;
  json["process"] = process.index;
  json["n"] = process.samples;
  put(json, "median", process.median);
  if (process.load_time) json["load_ns"] = process.load_time->count();
  if (process.first_call) json["first_call_ns"] = process.first_call->count();
  json["warmup_calls"] = process.warmup_calls;
  if (process.peak_memory) json["peak_memory_bytes"] = process.peak_memory->value;
  json["stop_reason"] = name_of(process.stop_reason);
  return json;
}

}  // namespace

Document show_document(const ShowFindings& findings) {
  const Measurement& measurement = findings.measurement;
  const CellSummary& summary = findings.summary;
  Document document{.schema = "deepgap.show/1"};
  document.add(Heading{measurement.key.selector()});
  const std::string dims = dims_text(measurement.key.workload);
  document.add(
      Paragraph{fmt::format("Measurement {} of {}{} on {} ({}), engine {}{}, made {}.", measurement.id.str(),
                            measurement.key.workload.model, dims.empty() ? "" : " with " + dims,
                            measurement.key.device, measurement.device.name, measurement.key.engine,
                            measurement.engine_version.empty() ? "" : " " + measurement.engine_version,
                            format_utc(Nanoseconds{measurement.created_realtime_ns}))});
  if (summary.failure) document.add(DiagnosticList{{failure_of(summary)}});
  document.add(estimates_table(summary));
  if (Table reported = reported_table(measurement.reported); !reported.rows.empty())
    document.add(std::move(reported));
  if (!findings.processes.empty() || measurement.reported.empty())
    document.add(process_table(findings.processes));
  if (!findings.telemetry.empty()) document.add(telemetry_table(findings.telemetry, "Beside the calls"));
  const std::vector<Setting> settings = joined(measurement.settings);
  document.add(settings_table(settings));
  document.add(DiagnosticList{told_beside_failure(summary)});

  const std::span<const CellSummary> one(&summary, 1);
  Json data = json_of_cells(one).at(0);
  data.erase("device");
  data["context"] = json_of_settings(settings);
  data["device"] = json_of(measurement.device);
  data["engine"] = Json{{"name", measurement.key.engine}, {"version", measurement.engine_version}};
  data["samples"] = Json::array();
  for (const ProcessSummary& process : findings.processes)
    data["samples"].push_back(json_of_process(process));
  if (!measurement.reported.empty()) data["reported"] = json_of_reported(measurement.reported);
  if (!findings.telemetry.empty()) data["telemetry"] = json_of_telemetry(findings.telemetry);
  if (!measurement.accuracy.empty()) {
    data["accuracy"] = Json::array();
    for (const AccuracyRecord& record : measurement.accuracy) {
      data["accuracy"].push_back(Json{{"reference", record.reference},
                                      {"quantity", record.quantity},
                                      {"value", record.value},
                                      {"n", record.n}});
    }
  }
  document.data = ready(std::move(data));
  return document;
}

}  // namespace deepgap::report
