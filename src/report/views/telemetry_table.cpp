#include "report/views/telemetry_table.h"

namespace deepgap::report {

Table telemetry_table(std::span<const TelemetrySummary> telemetry, const std::string& title) {
  Table table{.title = title, .machine = false};
  table.columns = {{.id = "quantity", .title = "quantity"},
                   {.id = "source", .title = "source"},
                   {.id = "process", .title = "process", .align = Align::kRight},
                   {.id = "values", .title = "n", .align = Align::kRight},
                   {.id = "minimum", .title = "minimum", .align = Align::kRight},
                   {.id = "median", .title = "median", .align = Align::kRight},
                   {.id = "maximum", .title = "maximum", .align = Align::kRight}};
  for (const TelemetrySummary& series : telemetry) {
    const auto cell = [&series](const std::optional<double>& value) {
      return value ? Cell(format_value(*value, series.unit)) : Cell();
    };
    table.rows.push_back({series.quantity, series.source,
                          series.process ? Cell(std::int64_t{*series.process}) : Cell(), series.n,
                          cell(series.minimum), cell(series.median), cell(series.maximum)});
  }
  return table;
}

Json json_of_telemetry(std::span<const TelemetrySummary> telemetry) {
  Json list = Json::array();
  for (const TelemetrySummary& series : telemetry) {
    Json entry{{"quantity", series.quantity}, {"source", series.source}, {"unit", name_of(series.unit)}};
    if (series.process) entry["process"] = *series.process;
    entry["n"] = series.n;
    if (series.minimum) entry["min"] = json_number(*series.minimum);
    if (series.median) entry["median"] = json_number(*series.median);
    if (series.maximum) entry["max"] = json_number(*series.maximum);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace deepgap::report
