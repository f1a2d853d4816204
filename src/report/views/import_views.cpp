// import, and the figures that foreign tools reported.

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
                   {.id = "samples", .title = "samples", .align = Align::kRight},
                   {.id = "reported", .title = "reported figures", .align = Align::kRight},
                   {.id = "ops", .title = "op records", .align = Align::kRight},
                   {.id = "series", .title = "telemetry series", .align = Align::kRight}};
  Json list = Json::array();
  std::vector<Diagnostic> doubts;
  for (const ImportFindings::File& file : findings.files) {
    table.rows.push_back({file.path, file.format, file.added, file.present, file.samples, file.reported,
                          file.ops, file.series});
    list.push_back(Json{{"path", file.path},
                        {"format", file.format},
                        {"added", file.added},
                        {"present", file.present},
                        {"samples", file.samples},
                        {"reported", file.reported},
                        {"ops", file.ops},
                        {"series", file.series},
                        {"diagnostics", json_of(std::span<const Diagnostic>(file.diagnostics))}});
    doubts.insert(doubts.end(), file.diagnostics.begin(), file.diagnostics.end());
  }
  // Columns in which no file has anything are in the way.
  for (std::size_t column = table.columns.size(); column-- > 4;) {
    const bool empty = std::all_of(
        table.rows.begin(), table.rows.end(),
        [column](const std::vector<Cell>& row) { return std::get<std::int64_t>(row[column]) == 0; });
    if (!empty) continue;
    const auto at = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + at);
    for (std::vector<Cell>& row : table.rows) row.erase(row.begin() + at);
  }
  Document document{.schema = "deepgap.import/1"};
  document.data = ready(Json{{"database", findings.database}, {"files", std::move(list)}});
  document.add(Paragraph{"Imported into " + findings.database + "."});
  document.add(std::move(table));
  document.add(DiagnosticList{gathered(doubts)});
  return document;
}

}  // namespace deepgap::report
