#include "report/views/cell_table.h"

#include <algorithm>
#include <map>

#include "base/clock.h"

namespace deepgap::report {
namespace {

Cell cell_of(const std::optional<Estimate>& estimate) {
  if (estimate) return *estimate;
  return {};
}

std::string status_of(const CellSummary& cell) {
  if (cell.failure) return cell.failure->kind;
  if (cell.reported_only) return "reported only: `show` has the figures";
  if (cell.processes < cell.planned_processes) {
    return std::to_string(cell.processes) + " of " + std::to_string(cell.planned_processes) + " processes";
  }
  return "";
}

using Part = std::string_view (*)(const CellSummary&);

// Parts of the key that may be the same everywhere, with their column.
const std::vector<std::pair<Column, Part>>& key_parts() {
  static const std::vector<std::pair<Column, Part>> parts = {
      {{.id = "engine", .title = "engine"},
       [](const CellSummary& cell) { return std::string_view(cell.key.engine); }},
      {{.id = "device", .title = "device"},
       [](const CellSummary& cell) { return std::string_view(cell.key.device); }},
      {{.id = "device_name", .title = "device name"},
       [](const CellSummary& cell) { return std::string_view(cell.device_name); }},
      {{.id = "precision", .title = "precision"},
       [](const CellSummary& cell) { return name_of(cell.key.workload.precision); }},
  };
  return parts;
}

bool same_everywhere(std::span<const CellSummary> cells, Part part) {
  return std::all_of(cells.begin(), cells.end(),
                     [&](const CellSummary& cell) { return part(cell) == part(cells[0]); });
}

bool any_dims(std::span<const CellSummary> cells) {
  return std::any_of(cells.begin(), cells.end(),
                     [](const CellSummary& cell) { return !cell.key.workload.dims.empty(); });
}

// Whether the cell's failure says the same already.
bool repeats_failure(const CellSummary& cell, const Diagnostic& diagnostic) {
  return cell.failure && (diagnostic.id == cell.failure->kind || diagnostic.text == cell.failure->text);
}

// What is more than a note, each kind once.
std::string doubts_of(const CellSummary& cell) {
  std::string ids;
  const auto is_note = [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::kNote; };
  if (std::all_of(cell.diagnostics.begin(), cell.diagnostics.end(), is_note)) return ids;
  for (const Diagnostic& diagnostic : told_beside_failure(cell)) {
    if (is_note(diagnostic)) continue;
    if (!ids.empty()) ids += ", ";
    ids += diagnostic.id;
  }
  return ids;
}

}  // namespace

Diagnostic failure_of(const CellSummary& cell) {
  Diagnostic told{.id = cell.failure->kind,
                  .severity = Severity::kError,
                  .where = cell.key.selector(),
                  .text = cell.failure->text,
                  .count = 1};
  for (const Diagnostic& diagnostic : cell.diagnostics) {
    const std::string_view remedy = remedy_of(diagnostic.id);
    if (diagnostic.id == told.id || remedy.empty() || !repeats_failure(cell, diagnostic)) continue;
    told.text.append(told.text.ends_with('.') ? " " : ". ").append(remedy);
    break;
  }
  return told;
}

std::vector<Diagnostic> told_beside_failure(const CellSummary& cell) {
  std::vector<Diagnostic> told = gathered(cell.diagnostics);
  std::erase_if(told, [&](const Diagnostic& diagnostic) { return repeats_failure(cell, diagnostic); });
  return told;
}

std::string shared_key(std::span<const CellSummary> cells) {
  if (cells.empty()) return {};
  std::string out;
  for (const auto& [column, part] : key_parts()) {
    const std::string_view value = part(cells[0]);
    if (value.empty() || !same_everywhere(cells, part)) continue;
    if (!out.empty()) out += ", ";
    out.append(column.title).append(" ").append(value);
  }
  return out;
}

Table cell_table(std::span<const CellSummary> cells) {
  Table table;
  table.columns.push_back({.id = "id", .title = "id"});
  table.columns.push_back({.id = "model", .title = "model"});
  std::vector<Part> shown;
  for (const auto& [column, part] : key_parts()) {
    if (!cells.empty() && cells.size() > 1 && same_everywhere(cells, part)) continue;
    table.columns.push_back(column);
    shown.push_back(part);
  }
  const auto right = [&table](const char* id, const char* title, Scale scale = plain(),
                              Bounds bounds = Bounds::kNone) {
    table.columns.push_back(
        {.id = id, .title = title, .align = Align::kRight, .scale = std::move(scale), .bounds = bounds});
  };
  const bool with_dims = any_dims(cells);
  if (with_dims) table.columns.push_back({.id = "dims", .title = "dims"});
  right("batch", "batch");
  table.columns.push_back({.id = "mode", .title = "mode"});
  right("latency", "latency", milliseconds(), Bounds::kAbsolute);
  right("p90", "p90", milliseconds(), Bounds::kRelative);
  right("p95", "p95", milliseconds(), Bounds::kRelative);
  right("p99", "p99", milliseconds(), Bounds::kRelative);
  right("throughput", "throughput", samples_per_second(), Bounds::kAbsolute);
  right("samples", "n");
  table.columns.push_back({.id = "status", .title = "note"});

  table.rows.reserve(cells.size());
  for (const CellSummary& cell : cells) {
    std::vector<Cell> row;
    row.reserve(table.columns.size());
    row.emplace_back(cell.id.str().substr(0, 8));
    row.emplace_back(cell.key.workload.model);
    for (const Part part : shown) row.emplace_back(std::string(part(cell)));
    if (with_dims) row.emplace_back(dims_text(cell.key.workload));
    row.emplace_back(cell.key.workload.batch);
    row.emplace_back(std::string(name_of(cell.key.workload.mode)));
    row.push_back(cell_of(cell.latency));
    row.push_back(cell_of(cell.p90));
    row.push_back(cell_of(cell.p95));
    row.push_back(cell_of(cell.p99));
    row.push_back(cell_of(cell.throughput));
    row.emplace_back(cell.samples);
    std::string status = status_of(cell);
    const std::string doubts = doubts_of(cell);
    if (!status.empty() && !doubts.empty()) status += ", ";
    status += doubts;
    row.push_back(status.empty() ? Cell(std::string(kBlank)) : Cell(std::move(status)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json json_of_cells(std::span<const CellSummary> cells) {
  Json list = Json::array();
  for (const CellSummary& cell : cells) {
    Json json;
    json["id"] = cell.id.str();
    json.update(json_of(cell.key));
    json["device_name"] = cell.device_name;
    put(json, "latency", cell.latency);
    put(json, "throughput", cell.throughput);
    json["processes"] = cell.processes;
    json["planned_processes"] = cell.planned_processes;
    if (cell.reported_only) json["reported_only"] = true;
    put(json, "p50", cell.p50);
    put(json, "p90", cell.p90);
    put(json, "p95", cell.p95);
    put(json, "p99", cell.p99);
    put(json, "enqueue_time", cell.enqueue_time);
    put(json, "device_time", cell.device_time);
    json["diagnostics"] = json_of(std::span<const Diagnostic>(gathered(cell.diagnostics)));
    if (cell.failure) {
      Json failure{{"kind", cell.failure->kind}, {"text", cell.failure->text}};
      if (cell.failure->bytes_asked) failure["bytes_asked"] = cell.failure->bytes_asked->value;
      json["failure"] = std::move(failure);
    }
    json["sweep"] = cell.sweep.str();
    json["created_utc"] = format_utc(Nanoseconds{cell.created_realtime_ns});
    list.push_back(std::move(json));
  }
  return list;
}

DiagnosticList gathered_diagnostics(std::span<const CellSummary> cells) {
  struct Group {
    Diagnostic diagnostic;
    std::size_t cells = 0;
  };
  std::vector<std::string> order;
  std::map<std::string, Group> groups;
  for (const CellSummary& cell : cells) {
    for (const Diagnostic& diagnostic : told_beside_failure(cell)) {
      auto [found, fresh] = groups.try_emplace(diagnostic.id, Group{diagnostic, 0});
      if (fresh) {
        order.push_back(diagnostic.id);
        if (diagnostic.where.empty()) found->second.diagnostic.where = cell.key.selector();
      }
      ++found->second.cells;
      found->second.diagnostic.severity = std::max(found->second.diagnostic.severity, diagnostic.severity);
    }
  }
  DiagnosticList list;
  for (const std::string& id : order) {
    Group& group = groups.at(id);
    group.diagnostic.count = 1;
    if (group.cells > 1)
      group.diagnostic.text += " (and " + std::to_string(group.cells - 1) + " more such cells)";
    list.diagnostics.push_back(std::move(group.diagnostic));
  }
  std::stable_sort(list.diagnostics.begin(), list.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
  return list;
}

}  // namespace deepgap::report
