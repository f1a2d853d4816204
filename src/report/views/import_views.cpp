// import, and show of a foreign file.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "core/metric.h"
#include "report/views.h"
#include "report/views/reported.h"

namespace deepgap::report {
namespace {

Scale scale_of(Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return milliseconds();
    case Unit::kSamplesPerSecond:
      return samples_per_second();
    case Unit::kBytes:
      return {.divisor = 1e6, .unit = "MB"};
    default:
      return plain();
  }
}

std::string heading_of(const std::string& id) {
  for (const Metric* metric : all_metrics()) {
    if (metric->id == id)
      return std::string(metric->unit == Unit::kSamplesPerSecond ? metric->id : metric->heading);
  }
  return id;
}

// The least and the largest of a metric over the runs; empty cells where it was not reported.
std::pair<Cell, Cell> range_of(const Measurement& measurement, std::string_view metric) {
  std::optional<double> least;
  std::optional<double> most;
  for (const ReportedValue& value : measurement.reported) {
    if (value.metric != metric) continue;
    least = std::min(least.value_or(value.value), value.value);
    most = std::max(most.value_or(value.value), value.value);
  }
  if (!least) return {Cell{}, Cell{}};
  return {Cell{*least}, Cell{*most}};
}

}  // namespace

Table reported_table(std::span<const ReportedValue> values) {
  Table table{.title = "Reported, without samples behind it"};
  table.columns = {{.id = "run", .title = "run", .align = Align::kRight},
                   {.id = "n", .title = "n", .align = Align::kRight}};
  std::vector<std::string> metrics;  // in the order of their first values
  std::map<int, std::vector<const ReportedValue*>> runs;
  for (const ReportedValue& value : values) {
    runs[value.process].push_back(&value);
    if (std::find(metrics.begin(), metrics.end(), value.metric) != metrics.end()) continue;
    metrics.push_back(value.metric);
    table.columns.push_back({.id = value.metric,
                             .title = heading_of(value.metric),
                             .align = Align::kRight,
                             .scale = scale_of(value.unit)});
  }
  for (const auto& [run, figures] : runs) {
    std::vector<Cell> row(table.columns.size());
    row[0] = std::int64_t{run};
    for (const ReportedValue* figure : figures) {
      if (figure->n) row[1] = *figure->n;
      const auto column = std::find(metrics.begin(), metrics.end(), figure->metric) - metrics.begin();
      row[static_cast<std::size_t>(column) + 2] = figure->value;
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json json_of_reported(std::span<const ReportedValue> values) {
  Json list = Json::array();
  for (const ReportedValue& value : values) {
    Json json{{"run", value.process},
              {"metric", value.metric},
              {"value", json_number(value.value)},
              {"unit", name_of(value.unit)}};
    if (value.n) json["n"] = *value.n;
    list.push_back(std::move(json));
  }
  return list;
}

Document import_document(const ImportFindings& findings) {
  Table table;
  table.columns = {{.id = "file", .title = "file"},
                   {.id = "format", .title = "format"},
                   {.id = "added", .title = "cells added", .align = Align::kRight},
                   {.id = "present", .title = "already there", .align = Align::kRight},
                   {.id = "reported", .title = "reported figures", .align = Align::kRight}};
  Json list = Json::array();
  for (const ImportFindings::File& file : findings.files) {
    table.rows.push_back({file.path, file.format, file.added, file.present, file.reported});
    list.push_back(Json{{"path", file.path},
                        {"format", file.format},
                        {"added", file.added},
                        {"present", file.present},
                        {"reported", file.reported}});
  }
  Document document{.schema = "deepgap.import/1"};
  document.data = ready(Json{{"database", findings.database}, {"files", std::move(list)}});
  document.add(Paragraph{"Imported into " + findings.database + "."});
  document.add(std::move(table));
  return document;
}

Document file_document(const FileFindings& findings) {
  Document document{.schema = "deepgap.show/1"};
  document.add(Heading{findings.path});
  document.add(Paragraph{fmt::format("A file of the format {} with {} cells. `deepgap import` stores them.",
                                     findings.format, findings.measurements.size())});
  Table table;
  table.columns = {
      {.id = "cell", .title = "cell"},
      {.id = "created", .title = "made"},
      {.id = "runs", .title = "runs", .align = Align::kRight},
      {.id = "p50_least", .title = "p50 from", .align = Align::kRight, .scale = milliseconds()},
      {.id = "p50_most", .title = "to", .align = Align::kRight, .scale = milliseconds()},
      {.id = "throughput_least",
       .title = "throughput from",
       .align = Align::kRight,
       .scale = samples_per_second()},
      {.id = "throughput_most", .title = "to", .align = Align::kRight, .scale = samples_per_second()}};
  Json cells = Json::array();
  std::vector<Diagnostic> doubts;
  for (const Measurement& measurement : findings.measurements) {
    const std::string created = format_utc(Nanoseconds{measurement.created_realtime_ns});
    auto [latency_least, latency_most] = range_of(measurement, "p50");
    auto [throughput_least, throughput_most] = range_of(measurement, "throughput");
    table.rows.push_back({measurement.key.selector(), created, std::int64_t{measurement.planned_processes},
                          std::move(latency_least), std::move(latency_most), std::move(throughput_least),
                          std::move(throughput_most)});
    Json json = json_of(measurement.key);
    json["id"] = measurement.id.str();
    json["created_utc"] = created;
    json["runs"] = measurement.planned_processes;
    json["context"] = json_of_settings(measurement.settings);
    json["reported"] = json_of_reported(measurement.reported);
    json["diagnostics"] = json_of(measurement.diagnostics);
    cells.push_back(std::move(json));
    for (Diagnostic diagnostic : measurement.diagnostics) {
      diagnostic.where.clear();  // each kind once, whatever the cell
      doubts.push_back(std::move(diagnostic));
    }
  }
  document.add(std::move(table));
  document.add(DiagnosticList{gathered(doubts)});
  document.data =
      ready(Json{{"file", findings.path}, {"format", findings.format}, {"cells", std::move(cells)}});
  return document;
}

}  // namespace deepgap::report
