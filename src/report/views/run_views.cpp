// list, run and its dry run: tables of cells.

#include <fmt/format.h>

#include <memory>

#include "report/views.h"
#include "report/views/cell_table.h"

namespace deepgap::report {
namespace {

std::string saturation_note(const Saturation& saturation) {
  switch (saturation.state) {
    case SaturationState::kReached:
      return std::string(kBlank);
    case SaturationState::kStillGrowing:
      return "still grows at the largest batch measured";
    case SaturationState::kCannotTell:
      break;
  }
  const std::string to = saturation.at_most ? fmt::format("to {}", *saturation.at_most) : "or larger";
  return fmt::format("cannot tell, intervals too wide: batch {} {}, by the values alone {}", saturation.batch,
                     to, saturation.by_values);
}

Table saturation_table(const std::vector<SaturationRow>& rows) {
  Table table{.title = "Saturation: the batch beyond which throughput no longer grows", .machine = false};
  table.columns = {{.id = "model", .title = "model"},
                   {.id = "engine", .title = "engine"},
                   {.id = "precision", .title = "precision"},
                   {.id = "mode", .title = "mode"},
                   {.id = "saturation_batch", .title = "batch", .align = Align::kRight},
                   {.id = "throughput",
                    .title = "throughput",
                    .align = Align::kRight,
                    .scale = samples_per_second(),
                    .bounds = Bounds::kAbsolute},
                   {.id = "reached", .title = "note"}};
  for (const SaturationRow& row : rows) {
    if (!row.saturation) continue;
    const bool told = row.saturation->state != SaturationState::kCannotTell;
    const Cell batch = told ? Cell(row.saturation->batch) : Cell();
    const Cell throughput = row.saturation->throughput ? Cell(*row.saturation->throughput) : Cell();
    table.rows.push_back(
        {row.key.workload.model, row.key.engine, std::string(name_of(row.key.workload.precision)),
         std::string(name_of(row.key.workload.mode)), batch, throughput, saturation_note(*row.saturation)});
  }
  return table;
}

Json json_of_saturation(const std::vector<SaturationRow>& rows) {
  Json list = Json::array();
  for (const SaturationRow& row : rows) {
    if (!row.saturation) continue;
    Json json = json_of(row.key);
    json["state"] = name_of(row.saturation->state);
    json.erase("batch");  // of any of the cells
    if (row.saturation->state == SaturationState::kCannotTell) {
      json["batch_at_least"] = row.saturation->batch;
      if (row.saturation->at_most) json["batch_at_most"] = *row.saturation->at_most;
      json["batch_by_values"] = row.saturation->by_values;
    } else {
      json["batch"] = row.saturation->batch;
    }
    put(json, "throughput", row.saturation->throughput);
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

Document list_document(ListFindings given) {
  const auto shared_findings = std::make_shared<const ListFindings>(std::move(given));
  const ListFindings& findings = *shared_findings;
  Document document{.schema = "deepgap.list/1"};
  if (findings.cells.empty()) {
    document.add(
        Paragraph{"No cells match. `deepgap run` measures some; `deepgap list '*'` shows all there are."});
  } else {
    if (const std::string shared = shared_key(findings.cells); !shared.empty() && findings.cells.size() > 1) {
      document.add(Paragraph{fmt::format("{} cells: {}.", findings.cells.size(), shared)});
    }
    document.add(cell_table(findings.cells));
  }
  document.data = [shared_findings] { return Json{{"cells", json_of_cells(shared_findings->cells)}}; };
  return document;
}

Document run_document(const RunFindings& findings) {
  Document document{.schema = "deepgap.run/1"};
  std::size_t with_samples = 0;
  for (const CellSummary& cell : findings.cells) with_samples += cell.samples > 0 ? 1U : 0U;
  std::string line = fmt::format("Sweep {}: {} of {} cells measured", findings.sweep.str().substr(0, 8),
                                 with_samples, findings.planned_cells);
  if (findings.measured_time) line += fmt::format(" in {}", format_duration(*findings.measured_time));
  if (findings.failed_visits > 0) line += fmt::format(", {} visits gave no samples", findings.failed_visits);
  line += findings.cancelled
              ? fmt::format("; stopped by the user, what was finished is in {}.", findings.database)
              : fmt::format(", stored in {}.", findings.database);
  if (const std::string shared = shared_key(findings.cells); !shared.empty()) line += " All: " + shared + ".";
  document.add(Paragraph{line});
  if (!findings.cells.empty()) document.add(cell_table(findings.cells));
  document.add(
      Paragraph{"latency is the median time of a batch with its 95 % interval over processes; throughput is "
                "measured over the window. "
                "Percentiles stand with their bounds in percent of the value. A bound that the sample cannot "
                "give is \"-\" or \"?\"."});
  Table saturation = saturation_table(findings.saturation);
  if (!saturation.rows.empty()) document.add(std::move(saturation));
  std::vector<Diagnostic> failures;
  for (const CellSummary& cell : findings.cells) {
    if (cell.failure) failures.push_back(failure_of(cell));
  }
  if (!failures.empty()) document.add(DiagnosticList{std::move(failures)});
  document.add(gathered_diagnostics(findings.cells));
  if (!findings.next_commands.empty()) {
    document.add(Paragraph{"Next:"});
    document.add(Code{findings.next_commands});
  }
  Json data;
  data["sweep"] = findings.sweep.str();
  data["database"] = findings.database;
  data["planned_cells"] = findings.planned_cells;
  data["cancelled"] = findings.cancelled;
  data["failed_visits"] = findings.failed_visits;
  data["cells"] = json_of_cells(findings.cells);
  data["saturation"] = json_of_saturation(findings.saturation);
  document.data = ready(std::move(data));
  return document;
}

Document plan_document(const PlanFindings& findings) {
  Document document{.schema = "deepgap.plan/1"};
  std::string line = fmt::format("{} cells, {} visits in {} fresh processes, order by seed {}",
                                 findings.cells.size(), findings.visits, findings.processes, findings.seed);
  if (findings.most_processes)
    line += fmt::format("; up to {} processes a cell where they differ", *findings.most_processes);
  if (findings.time) {
    line += fmt::format("; about {} in all", format_duration(*findings.time));
    if (findings.most_time)
      line += fmt::format(" if the machine is quiet, at most {}", format_duration(*findings.most_time));
  }
  if (findings.available_memory)
    line += fmt::format("; {} of memory to use", format_bytes(*findings.available_memory));
  document.add(Paragraph{line + ". Nothing was run."});
  Table table;
  table.columns = {
      {.id = "cell", .title = "cell"},
      {.id = "repeats", .title = "processes", .align = Align::kRight},
      {.id = "memory", .title = "memory", .align = Align::kRight, .scale = {.divisor = 1e6, .unit = "MB"}},
      {.id = "time", .title = "time", .align = Align::kRight, .scale = {.divisor = 1e9, .unit = "s"}},
      {.id = "most_time", .title = "at most", .align = Align::kRight, .scale = {.divisor = 1e9, .unit = "s"}},
      {.id = "note", .title = "note"}};
  Json cells = Json::array();
  for (const ForecastRow& row : findings.cells) {
    Json json = json_of(row.key);
    json["repeats"] = row.repeats;
    std::vector<Cell> cell{
        row.key.selector(),
        std::int64_t{row.repeats},
        Cell{},
        Cell{},
        Cell{},
        row.refusal.empty() ? (row.note.empty() ? std::string(kBlank) : row.note) : row.refusal};
    if (row.memory) {
      cell[2] = static_cast<double>(row.memory->value);
      json["forecast_memory_bytes"] = row.memory->value;
    }
    if (row.time) {
      cell[3] = static_cast<double>(row.time->count());
      json["forecast_time_ns"] = row.time->count();
    }
    if (row.most_time) {
      cell[4] = static_cast<double>(row.most_time->count());
      json["forecast_most_ns"] = row.most_time->count();
    }
    if (!row.refusal.empty()) json["refused"] = Json{{"reason", row.refusal}};
    if (!row.note.empty()) json["note"] = row.note;
    cells.push_back(std::move(json));
    table.rows.push_back(std::move(cell));
  }
  document.add(std::move(table));
  Json data;
  data["seed"] = findings.seed;
  data["visits"] = findings.visits;
  data["processes"] = findings.processes;
  if (findings.time) data["forecast_time_ns"] = findings.time->count();
  if (findings.most_time) data["forecast_most_ns"] = findings.most_time->count();
  data["cells"] = std::move(cells);
  document.data = ready(std::move(data));
  return document;
}

}  // namespace deepgap::report
