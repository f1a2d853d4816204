// show and trace of a foreign file that is no trace: what a tool wrote of its results, ops or sensors.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/clock.h"
#include "base/text.h"
#include "report/views.h"
#include "report/views/reported.h"
#include "report/views/telemetry_table.h"

namespace deepgap::report {
namespace {

constexpr std::size_t kRowsShown = 20;    // of a table of ops, for people
constexpr std::size_t kFiguresShown = 3;  // columns of a tool's own figures, for people

std::string content_text(const FileFindings& findings) {
  std::vector<std::string> parts;
  if (!findings.measurements.empty()) parts.push_back(counted(std::ssize(findings.measurements), "cell"));
  std::size_t rows = 0;
  for (const OpTable& table : findings.op_tables) rows += table.rows.size();
  if (!findings.op_tables.empty()) {
    parts.push_back(fmt::format("{} of {}", counted(std::ssize(findings.op_tables), "table"),
                                counted(static_cast<std::int64_t>(rows), "op")));
  }
  if (findings.telemetry) {
    parts.push_back(fmt::format("{} series of telemetry", findings.telemetry->series.size()));
  }
  if (parts.empty()) return fmt::format("A file of the format {} with nothing to store.", findings.format);
  return fmt::format("A file of the format {} with {}. `deepgap import` stores {}.", findings.format,
                     join(parts, ", "), rows + findings.measurements.size() == 1 ? "it" : "them");
}

std::string verdict_text(const FileFindings& findings) {
  if (findings.verdict == "usable") return "Usable: nothing was lost or repaired.";
  if (findings.verdict == "usable_with_loss") return "Usable with loss: see what is said below.";
  return "Unusable: nothing of it can be used.";
}

// --- measurements

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

Table reported_cells(const FileFindings& findings) {
  Table table{.title = "Cells with reported figures"};
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
  for (const Measurement& measurement : findings.measurements) {
    if (measurement.reported.empty()) continue;
    auto [latency_least, latency_most] = range_of(measurement, "p50");
    auto [throughput_least, throughput_most] = range_of(measurement, "throughput");
    table.rows.push_back({measurement.key.selector(),
                          measurement.created_realtime_ns == 0
                              ? Cell{}
                              : Cell{format_utc(Nanoseconds{measurement.created_realtime_ns})},
                          std::int64_t{measurement.planned_processes}, std::move(latency_least),
                          std::move(latency_most), std::move(throughput_least), std::move(throughput_most)});
  }
  return table;
}

Table sampled_cells(const FileFindings& findings) {
  Table table{.title = "Cells with samples"};
  table.columns = {{.id = "cell", .title = "cell"},
                   {.id = "n", .title = "n", .align = Align::kRight},
                   {.id = "latency",
                    .title = "latency (median)",
                    .align = Align::kRight,
                    .scale = milliseconds(),
                    .bounds = Bounds::kAbsolute},
                   {.id = "p99",
                    .title = "p99",
                    .align = Align::kRight,
                    .scale = milliseconds(),
                    .bounds = Bounds::kAbsolute},
                   {.id = "throughput",
                    .title = "throughput",
                    .align = Align::kRight,
                    .scale = samples_per_second(),
                    .bounds = Bounds::kAbsolute}};
  const auto cell_of = [](const std::optional<Estimate>& estimate) {
    return estimate ? Cell{*estimate} : Cell{};
  };
  for (const CellSummary& cell : findings.summaries) {
    if (cell.samples == 0) continue;
    table.rows.push_back({cell.key.selector(), cell.samples, cell_of(cell.latency), cell_of(cell.p99),
                          cell_of(cell.throughput)});
  }
  return table;
}

Json json_of_cells(const FileFindings& findings) {
  Json cells = Json::array();
  for (std::size_t i = 0; i < findings.measurements.size(); ++i) {
    const Measurement& measurement = findings.measurements[i];
    const CellSummary& summary = findings.summaries[i];
    Json json = json_of(measurement.key);
    json["id"] = measurement.id.str();
    if (measurement.created_realtime_ns != 0) {
      json["created_utc"] = format_utc(Nanoseconds{measurement.created_realtime_ns});
    }
    json["runs"] = measurement.planned_processes;
    if (summary.samples > 0) {
      json["n"] = summary.samples;
      put(json, "latency", summary.latency);
      put(json, "p99", summary.p99);
      put(json, "throughput", summary.throughput);
      put(json, "enqueue_time", summary.enqueue_time);
      put(json, "device_time", summary.device_time);
    }
    json["device_name"] = measurement.device.name;
    json["context"] = json_of_settings(measurement.settings);
    json["reported"] = json_of_reported(measurement.reported);
    json["diagnostics"] = json_of(summary.diagnostics);
    cells.push_back(std::move(json));
  }
  return cells;
}

// --- tables of ops

double shown_time(const OpTable::Row& row) {
  return static_cast<double>(row.record.duration.count());
}

// The file's order where nothing has a time.
std::vector<const OpTable::Row*> largest_first(const OpTable& table) {
  std::vector<const OpTable::Row*> rows;
  for (const OpTable::Row& row : table.rows) rows.push_back(&row);
  if (!table.timed) return rows;
  const auto total = [&table](const OpTable::Row* row) {
    const double executions =
        table.per == OpTable::Per::kExecution ? static_cast<double>(row->count.value_or(1)) : 1;
    return shown_time(*row) * executions;
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto* a, const auto* b) { return total(a) > total(b); });
  return rows;
}

// A column and what a row has there.
struct OpColumn {
  Column column;
  std::function<Cell(const OpTable::Row&)> cell;
};

// A column of texts, where any row has one.
void add_texts(std::vector<OpColumn>& columns, const OpTable& ops, const char* name,
               const std::function<std::string(const OpTable::Row&)>& text) {
  const bool any = std::any_of(ops.rows.begin(), ops.rows.end(),
                               [&text](const OpTable::Row& row) { return !text(row).empty(); });
  if (any) columns.push_back({{.id = name, .title = name}, text});
}

std::string figure_text(const OpTable::Row& row, const std::string& name) {
  const auto figure = std::find_if(row.figures.begin(), row.figures.end(),
                                   [&name](const OpTable::Figure& each) { return each.name == name; });
  if (figure == row.figures.end()) return "";
  return figure->value + (figure->unit.empty() ? "" : " " + figure->unit);
}

std::vector<OpColumn> columns_of(const OpTable& ops) {
  std::vector<OpColumn> columns;
  add_texts(columns, ops, "op", [](const OpTable::Row& row) { return row.record.name; });
  add_texts(columns, ops, "kind", [](const OpTable::Row& row) { return row.kind; });
  if (std::any_of(ops.rows.begin(), ops.rows.end(),
                  [](const OpTable::Row& row) { return row.count.has_value(); })) {
    columns.push_back({{.id = "count", .title = "count", .align = Align::kRight},
                       [](const OpTable::Row& row) { return row.count ? Cell{*row.count} : Cell{}; }});
  }
  if (ops.timed) {
    columns.push_back({{.id = "time", .title = "time", .align = Align::kRight, .scale = milliseconds()},
                       [](const OpTable::Row& row) { return Cell{shown_time(row)}; }});
  }
  if (ops.timed && ops.per == OpTable::Per::kInference) {
    double total = 0;
    for (const OpTable::Row& row : ops.rows) total += shown_time(row);
    columns.push_back(
        {{.id = "share", .title = "share", .align = Align::kRight, .scale = percent()},
         [total](const OpTable::Row& row) { return total > 0 ? Cell{shown_time(row) / total} : Cell{}; }});
  }
  add_texts(columns, ops, "precision", [](const OpTable::Row& row) {
    return row.record.precision_path ? std::string(name_of(*row.record.precision_path)) : "";
  });
  add_texts(columns, ops, "implementation", [](const OpTable::Row& row) { return row.implementation; });
  if (ops.rows.empty()) return columns;
  std::size_t figures = 0;
  for (const OpTable::Figure& figure : ops.rows[0].figures) {
    if (++figures > kFiguresShown) break;
    columns.push_back(
        {{.id = figure.name, .title = figure.name, .align = Align::kRight},
         [name = figure.name](const OpTable::Row& row) { return Cell{figure_text(row, name)}; }});
  }
  return columns;
}

std::string title_of(const OpTable& ops, std::size_t shown) {
  std::string title = fmt::format("{}: ", ops.title.empty() ? "ops" : ops.title);
  if (shown < ops.rows.size()) title += fmt::format("{} of ", shown);
  title += std::to_string(ops.rows.size());
  if (!ops.timed) return title;
  return title +
         (ops.per == OpTable::Per::kInference ? ", mean of one inference" : ", mean of one execution");
}

Table table_of_ops(const OpTable& ops) {
  const std::vector<const OpTable::Row*> rows = largest_first(ops);
  const std::size_t shown = std::min(rows.size(), kRowsShown);
  const std::vector<OpColumn> columns = columns_of(ops);
  Table table{.title = title_of(ops, shown), .machine = false};
  for (const OpColumn& column : columns) table.columns.push_back(column.column);
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const OpColumn& column : columns) cells.push_back(column.cell(*rows[i]));
  }
  return table;
}

Json json_of_ops(const OpTable& ops) {
  Json rows = Json::array();
  for (const OpTable::Row& row : ops.rows) {
    const OpRecord& record = row.record;
    Json json{{"name", record.name}};
    if (!row.kind.empty()) json["kind"] = row.kind;
    if (!record.op_class.empty()) json["op_class"] = record.op_class;
    if (!record.shapes.empty()) json["shapes"] = record.shapes;
    if (!record.dtypes.empty()) json["dtypes"] = record.dtypes;
    put(json, "count", row.count);
    if (ops.timed) json["duration_ns"] = record.duration.count();
    if (record.flops) json["flops"] = record.flops->value;
    if (record.bytes) json["bytes"] = record.bytes->value;
    if (record.precision_path) json["precision_path"] = name_of(*record.precision_path);
    if (!row.implementation.empty()) json["implementation"] = row.implementation;
    for (const OpTable::Figure& figure : row.figures) {
      Json each{{"name", figure.name}, {"value", figure.value}};
      if (!figure.unit.empty()) each["unit"] = figure.unit;
      json["figures"].push_back(std::move(each));
    }
    rows.push_back(std::move(json));
  }
  Json facts = Json::object();
  for (const auto& [name, value] : ops.facts) facts[name] = value;
  Json json{{"title", ops.title},
            {"per", ops.per == OpTable::Per::kInference ? "inference" : "execution"},
            {"timed", ops.timed},
            {"facts", std::move(facts)},
            {"rows", std::move(rows)}};
  if (ops.measurement) json["cell"] = ops.measurement->str();
  return json;
}

// --- telemetry

std::vector<TelemetrySummary> summaries_of(const TelemetryLog& log) {
  std::vector<TelemetrySummary> summaries;
  for (const TelemetryLog::Series& series : log.series) {
    summaries.push_back(summarise(TelemetrySeries{.quantity = series.quantity,
                                                  .source = series.source,
                                                  .unit = series.unit,
                                                  .at_ns = series.at_ns,
                                                  .values = series.values}));
  }
  return summaries;
}

// The first and the last moment of all series.
std::optional<std::pair<std::int64_t, std::int64_t>> span_of(const TelemetryLog& log) {
  std::optional<std::pair<std::int64_t, std::int64_t>> span;
  for (const TelemetryLog::Series& series : log.series) {
    for (const std::int64_t at : series.at_ns) {
      if (!span) span.emplace(at, at);
      span->first = std::min(span->first, at);
      span->second = std::max(span->second, at);
    }
  }
  return span;
}

std::string span_text(const TelemetryLog& log) {
  const auto span = span_of(log);
  if (!span) return "No values.";
  const std::string length = format_duration(Nanoseconds{span->second - span->first});
  if (!log.has_time_of_day) return fmt::format("Over {}, without times of day.", length);
  return fmt::format("From {} to {} ({}).", format_utc(Nanoseconds{span->first}),
                     format_utc(Nanoseconds{span->second}), length);
}

}  // namespace

Document file_document(const FileFindings& findings, const std::string& schema) {
  Document document{.schema = schema};
  document.add(Heading{findings.path});
  document.add(Paragraph{verdict_text(findings) + " " + content_text(findings)});
  Json data;
  data["quality"] = {{"verdict", findings.verdict},
                     {"diagnostics", json_of(std::span<const Diagnostic>(findings.diagnostics))}};
  data["format"] = findings.format;
  data["file"] = findings.path;

  std::vector<Diagnostic> doubts = findings.diagnostics;
  if (!findings.measurements.empty()) {
    for (Table table : {sampled_cells(findings), reported_cells(findings)}) {
      if (!table.rows.empty()) document.add(std::move(table));
    }
    if (findings.measurements.size() == 1 && !findings.measurements[0].reported.empty()) {
      document.add(reported_table(findings.measurements[0].reported));
    }
    for (const CellSummary& summary : findings.summaries) {
      for (Diagnostic diagnostic : summary.diagnostics) {
        diagnostic.where.clear();  // each kind once, whatever the cell
        doubts.push_back(std::move(diagnostic));
      }
    }
  }
  data["cells"] = json_of_cells(findings);
  for (const OpTable& table : findings.op_tables) {
    document.add(table_of_ops(table));
    data["op_tables"].push_back(json_of_ops(table));
  }
  if (findings.telemetry) {
    const TelemetryLog& log = *findings.telemetry;
    const std::vector<TelemetrySummary> summaries = summaries_of(log);
    document.add(telemetry_table(summaries, "Telemetry"));
    document.add(Paragraph{span_text(log)});
    data["telemetry"] = json_of_telemetry(summaries);
    for (const auto& [name, value] : log.facts) data["facts"][name] = value;
    if (const auto span = span_of(log); span && log.has_time_of_day) {
      data["from_utc"] = format_utc(Nanoseconds{span->first});
      data["to_utc"] = format_utc(Nanoseconds{span->second});
    }
  }
  document.add(DiagnosticList{gathered(doubts)});
  document.data = ready(std::move(data));
  return document;
}

}  // namespace deepgap::report
