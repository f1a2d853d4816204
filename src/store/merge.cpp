// Merging: what another store has and this one has not is copied row by row; ids say what is the same.
//
// A measurement that both have was split when a store was copied and its sweep resumed on both sides. Its
// processes are told apart by when they started, so that two different "process 2" are both kept, the
// newcomer under a free index.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "store/open.h"
#include "store/rows.h"

namespace deepgap::store {
namespace {

using ProcessMap =
    std::map<std::int64_t, std::int64_t>;  // index there -> index here, for processes that were copied

// A table whose rows hang from a measurement and perhaps a process, with its other columns.
struct ChildTable {
  std::string_view name;
  std::string_view columns;
  int column_count;
};

constexpr std::array kChildTables = {
    ChildTable{"setting", "name, requested, effective", 3},
    ChildTable{"diagnostic", "id, severity, place, text, count", 5},
    ChildTable{"telemetry", "quantity, source, unit, at_ns, value", 5},
    ChildTable{"accuracy", "reference, quantity, value, n", 4},
    ChildTable{"reported", "run, metric, value, unit, n", 5},
};

constexpr std::string_view kProcessColumns =
    "samples, load_ns, first_call_ns, warmup_calls, warmup_ns, window_ns, completed, peak_memory, "
    "peak_device_memory, "
    "stop_reason, started_at_ns, started_realtime_ns";
constexpr int kProcessColumnCount = 12;

struct Process {
  std::int64_t index;
  std::int64_t started_at_ns;
  std::int64_t started_realtime_ns;
};

std::string placeholders(int count) {
  std::string text = "?";
  for (int i = 1; i < count; ++i) text += ", ?";
  return text;
}

class Merger {
 public:
  Merger(Connection& here, Connection& there) : here_(here), there_(there) {}

  Result<MergeCount> run();

 private:
  // Which cells there cannot be read.
  Result<void> find_damage();
  Result<void> check_sweeps();
  Result<void> copy_sweeps();
  Result<void> copy_measurement(const Statement& row);
  Result<std::int64_t> insert_measurement(const Statement& row);
  Result<std::int64_t> device(std::int64_t key_there);
  // The processes that this store has not, under indices that are free here.
  Result<ProcessMap> new_processes(std::int64_t key_there, std::int64_t key_here);
  Result<void> copy_process(std::int64_t key_there, std::int64_t key_here, std::int64_t from,
                            std::int64_t to);
  Result<void> copy_samples(std::int64_t key_there, std::int64_t key_here, std::int64_t from,
                            std::int64_t to);
  // Rows of `from` (nothing: of the whole cell) that are not here yet; how many.
  Result<std::int64_t> copy_children(const ChildTable& table, std::int64_t key_there, std::int64_t key_here,
                                     std::optional<std::int64_t> from, std::optional<std::int64_t> to);
  Result<void> copy_failure(std::int64_t key_there, std::int64_t key_here);
  Result<void> copy_traces();
  Result<void> copy_op_records(std::int64_t trace_there, std::int64_t trace_here);

  Connection& here_;
  Connection& there_;
  MergeCount count_;
  std::set<std::int64_t> damaged_;                // keys there
  std::map<std::int64_t, std::int64_t> devices_;  // key there -> key here
  std::map<std::string, ProcessMap>
      process_maps_;  // of measurements some of whose processes got another index
};

// Each cell is read as for a report before it is copied blindly.
Result<void> Merger::find_damage() {
  DEEPGAP_ASSIGN(Visited visited, walk_cells(
                                      there_, {}, LoadDepth::kAll, [](Measurement&) { return true; },
                                      [this](std::int64_t key) { damaged_.insert(key); }));
  count_.measurements_damaged = visited.damaged;
  count_.problems = std::move(visited.problems);
  return {};
}

Result<void> Merger::check_sweeps() {
  DEEPGAP_ASSIGN(Statement lost,
                 there_.statement("SELECT id, sweep FROM measurement WHERE sweep IS NOT NULL AND sweep NOT "
                                  "IN (SELECT id FROM sweep) ORDER BY key LIMIT 1"));
  DEEPGAP_ASSIGN(const bool found, lost.step());
  if (!found) return {};
  return bad_input(
      fmt::format("expected sweep '{}' of measurement {}, found no such sweep: the store is damaged, and "
                  "none of it was merged; restore it from a copy",
                  printable(lost.text(1)), printable(lost.text(0))));
}

Result<void> Merger::copy_sweeps() {
  DEEPGAP_ASSIGN(Statement rows,
                 there_.statement("SELECT id, created_realtime_ns, finished_realtime_ns, seed, "
                                  "command_line, plan FROM sweep ORDER BY rowid"));
  DEEPGAP_ASSIGN(Statement insert, here_.statement("INSERT OR IGNORE INTO sweep (id, created_realtime_ns, "
                                                   "finished_realtime_ns, seed, command_line, plan) "
                                                   "VALUES (?, ?, ?, ?, ?, ?)"));
  DEEPGAP_ASSIGN(Statement finish,
                 here_.statement("UPDATE sweep SET finished_realtime_ns = ? WHERE id = ? AND "
                                 "finished_realtime_ns IS NULL"));
  while (true) {
    DEEPGAP_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    insert.bind();
    insert.bind_row(rows, 6);
    DEEPGAP_RETURN_IF_ERROR(insert.step());
    count_.sweeps_added += sqlite3_changes(here_.handle());
    if (!rows.is_null(2)) DEEPGAP_RETURN_IF_ERROR(finish.run(rows.integer(2), rows.text(0)));
  }
}

Result<std::int64_t> Merger::device(std::int64_t key_there) {
  const auto found = devices_.find(key_there);
  if (found != devices_.end()) return found->second;
  DEEPGAP_ASSIGN(Device device, load_device(there_, key_there, true));
  DEEPGAP_ASSIGN(const std::int64_t key, upsert_device(here_, device, CeilingPolicy::kAddUnknownOnly));
  devices_.emplace(key_there, key);
  return key;
}

constexpr std::string_view kMeasurementColumns =
    "id, created_realtime_ns, sweep, model, model_hash, dims, batch, precision, mode, engine, "
    "engine_version, "
    "device_address, planned_processes, origin, target";
constexpr int kMeasurementColumnCount = 15;

Result<std::int64_t> Merger::insert_measurement(const Statement& row) {
  DEEPGAP_ASSIGN(const std::int64_t device_here, device(row.integer(kMeasurementColumnCount)));
  DEEPGAP_ASSIGN(Statement insert, here_.statement(fmt::format(
                                       "INSERT INTO measurement ({}, device) VALUES ({})",
                                       kMeasurementColumns, placeholders(kMeasurementColumnCount + 1))));
  insert.bind();
  insert.bind_row(row, kMeasurementColumnCount);
  insert.bind_more(device_here);
  DEEPGAP_RETURN_IF_ERROR(insert.step());
  return sqlite3_last_insert_rowid(here_.handle());
}

Result<std::vector<Process>> processes_of(Connection& connection, std::int64_t key) {
  DEEPGAP_ASSIGN(Statement query,
                 connection.statement("SELECT process, started_at_ns, started_realtime_ns FROM process "
                                      "WHERE measurement = ? ORDER BY process"));
  query.bind(key);
  std::vector<Process> processes;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return processes;
    processes.push_back({query.integer(0), query.integer(1), query.integer(2)});
  }
}

Result<ProcessMap> Merger::new_processes(std::int64_t key_there, std::int64_t key_here) {
  DEEPGAP_ASSIGN(std::vector<Process> here, processes_of(here_, key_here));
  DEEPGAP_ASSIGN(const std::vector<Process> there, processes_of(there_, key_there));
  ProcessMap map;
  const std::size_t stored = here.size();
  for (const Process& candidate : there) {
    const auto same = [&candidate](const Process& process) {
      if (process.started_at_ns != candidate.started_at_ns) return false;
      if (process.started_realtime_ns != candidate.started_realtime_ns) return false;
      // An import may know no start; then the index decides.
      return candidate.started_realtime_ns != 0 || process.index == candidate.index;
    };
    const auto end_of_stored = here.begin() + static_cast<std::ptrdiff_t>(stored);
    if (std::any_of(here.begin(), end_of_stored, same)) continue;
    std::int64_t index = candidate.index;
    const auto taken = [&index](const Process& process) { return process.index == index; };
    while (std::any_of(here.begin(), here.end(), taken)) ++index;
    here.push_back({index, candidate.started_at_ns, candidate.started_realtime_ns});
    map.emplace(candidate.index, index);
  }
  return map;
}

Result<void> Merger::copy_process(std::int64_t key_there, std::int64_t key_here, std::int64_t from,
                                  std::int64_t to) {
  DEEPGAP_ASSIGN(Statement row,
                 there_.statement(fmt::format("SELECT {} FROM process WHERE measurement = ? AND process = ?",
                                              kProcessColumns)));
  DEEPGAP_ASSIGN(Statement insert,
                 here_.statement(fmt::format("INSERT INTO process (measurement, process, {}) VALUES ({})",
                                             kProcessColumns, placeholders(kProcessColumnCount + 2))));
  row.bind(key_there, from);
  DEEPGAP_ASSIGN(const bool found, row.step());
  if (!found) return internal_error(fmt::format("expected process {}, found it gone", from));
  insert.bind(key_here, to);
  insert.bind_row(row, kProcessColumnCount);
  DEEPGAP_RETURN_IF_ERROR(insert.step());
  DEEPGAP_RETURN_IF_ERROR(copy_samples(key_there, key_here, from, to));
  for (const ChildTable& table : kChildTables) {
    DEEPGAP_RETURN_IF_ERROR(copy_children(table, key_there, key_here, from, to));
  }
  ++count_.processes_added;
  return {};
}

Result<void> Merger::copy_samples(std::int64_t key_there, std::int64_t key_here, std::int64_t from,
                                  std::int64_t to) {
  DEEPGAP_ASSIGN(Statement rows,
                 there_.statement("SELECT quantity, data FROM samples WHERE quantity IN (1, 2, 3, 4) AND "
                                  "measurement = ? AND process = ?"));
  DEEPGAP_ASSIGN(Statement insert,
                 here_.statement("INSERT INTO samples (measurement, process, quantity, data) "
                                 "VALUES (?, ?, ?, ?)"));
  rows.bind(key_there, from);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    insert.bind(key_here, to);
    insert.bind_row(rows, 2);
    DEEPGAP_RETURN_IF_ERROR(insert.step());
  }
}

Result<std::int64_t> Merger::copy_children(const ChildTable& table, std::int64_t key_there,
                                           std::int64_t key_here, std::optional<std::int64_t> from,
                                           std::optional<std::int64_t> to) {
  std::string same;
  const std::vector<std::string> columns = split(table.columns, ',');
  for (std::size_t i = 0; i < columns.size(); ++i)
    same += fmt::format(" AND {} IS ?{}", trim(columns[i]), i + 3);
  DEEPGAP_ASSIGN(Statement rows, there_.statement(fmt::format(
                                     "SELECT {} FROM {} WHERE measurement = ? AND process IS ? ORDER BY key",
                                     table.columns, table.name)));
  // A row that is here already, with the same measurement and process, is the same fact.
  DEEPGAP_ASSIGN(Statement known,
                 here_.statement(fmt::format("SELECT 1 FROM {} WHERE measurement = ?1 AND process IS ?2{}",
                                             table.name, same)));
  DEEPGAP_ASSIGN(Statement insert, here_.statement(fmt::format(
                                       "INSERT INTO {} (measurement, process, {}) VALUES ({})", table.name,
                                       table.columns, placeholders(table.column_count + 2))));
  rows.bind(key_there, from);
  std::int64_t copied = 0;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, rows.step());
    if (!row) return copied;
    known.bind(key_here, to);
    known.bind_row(rows, table.column_count);
    DEEPGAP_ASSIGN(const bool is_known, known.step());
    if (is_known) continue;
    insert.bind(key_here, to);
    insert.bind_row(rows, table.column_count);
    DEEPGAP_RETURN_IF_ERROR(insert.step());
    ++copied;
  }
}

Result<void> Merger::copy_failure(std::int64_t key_there, std::int64_t key_here) {
  DEEPGAP_ASSIGN(Statement row,
                 there_.statement("SELECT kind, text, bytes_asked FROM failure WHERE measurement = ?"));
  row.bind(key_there);
  DEEPGAP_ASSIGN(const bool found, row.step());
  if (!found) return {};
  DEEPGAP_ASSIGN(Statement insert,
                 here_.statement("INSERT INTO failure (measurement, kind, text, bytes_asked) "
                                 "VALUES (?, ?, ?, ?)"));
  insert.bind(key_here);
  insert.bind_row(row, 3);
  DEEPGAP_RETURN_IF_ERROR(insert.step());
  return {};
}

Result<void> Merger::copy_measurement(const Statement& row) {
  const MeasurementId id{std::string(row.text(0))};
  const std::int64_t key_there = row.integer(kMeasurementColumnCount + 1);
  DEEPGAP_ASSIGN(std::optional<std::int64_t> key_here, find_measurement(here_, id));
  const bool is_new = !key_here.has_value();
  if (is_new) {
    DEEPGAP_ASSIGN(key_here, insert_measurement(row));
    DEEPGAP_RETURN_IF_ERROR(copy_failure(key_there, *key_here));
  }
  DEEPGAP_ASSIGN(const ProcessMap map, new_processes(key_there, *key_here));
  // Rows of the whole cell come before those of its processes, as they were written.
  std::int64_t rows_copied = 0;
  for (const ChildTable& table : kChildTables) {
    DEEPGAP_ASSIGN(const std::int64_t copied,
                   copy_children(table, key_there, *key_here, std::nullopt, std::nullopt));
    rows_copied += copied;
  }
  for (const auto& [from, to] : map) DEEPGAP_RETURN_IF_ERROR(copy_process(key_there, *key_here, from, to));
  if (std::any_of(map.begin(), map.end(), [](const auto& entry) { return entry.first != entry.second; })) {
    process_maps_.emplace(id.str(), map);
  }
  if (is_new) {
    ++count_.measurements_added;
  } else if (!map.empty() || rows_copied > 0) {
    ++count_.measurements_extended;
  } else {
    ++count_.measurements_skipped;
  }
  return {};
}

Result<void> Merger::copy_op_records(std::int64_t trace_there, std::int64_t trace_here) {
  // The last six columns are texts: by value there, by key here.
  DEEPGAP_ASSIGN(
      Statement rows,
      there_.statement(
          "SELECT r.position, r.role, r.start_at_ns, r.duration_ns, r.parent, r.correlation, r.flops, "
          "r.bytes, r.precision_path, n.text, c.text, s.text, d.text, m.text, l.text FROM op_record r "
          "JOIN op_text n ON n.key = r.name LEFT JOIN op_text c ON c.key = r.op_class "
          "LEFT JOIN op_text s ON s.key = r.shapes LEFT JOIN op_text d ON d.key = r.dtypes "
          "LEFT JOIN op_text m ON m.key = r.module_path LEFT JOIN op_text l ON l.key = r.lane "
          "WHERE r.trace = ? ORDER BY r.position"));
  constexpr int kFirstText = 9;
  constexpr int kEnd = 15;
  DEEPGAP_ASSIGN(Statement add_text, here_.statement("INSERT OR IGNORE INTO op_text (text) VALUES (?)"));
  DEEPGAP_ASSIGN(
      Statement insert,
      here_.statement(
          "INSERT INTO op_record (trace, position, role, start_at_ns, duration_ns, parent, correlation, "
          "flops, bytes, precision_path, name, op_class, shapes, dtypes, module_path, lane) VALUES "
          "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT key FROM op_text WHERE text = ?), "
          "(SELECT key FROM op_text WHERE text = ?), (SELECT key FROM op_text WHERE text = ?), "
          "(SELECT key FROM op_text WHERE text = ?), (SELECT key FROM op_text WHERE text = ?), "
          "(SELECT key FROM op_text WHERE text = ?))"));
  rows.bind(trace_there);
  while (true) {
    DEEPGAP_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    for (int column = kFirstText; column < kEnd; ++column) {
      if (!rows.is_null(column)) DEEPGAP_RETURN_IF_ERROR(add_text.run(rows.text(column)));
    }
    insert.bind(trace_here);
    insert.bind_row(rows, kEnd);
    DEEPGAP_RETURN_IF_ERROR(insert.step());
  }
}

Result<void> Merger::copy_traces() {
  DEEPGAP_ASSIGN(Statement rows,
                 there_.statement(
                     "SELECT t.id, t.format, t.source, t.content_hash, t.created_realtime_ns, t.clock_at_ns, "
                     "t.clock_realtime_ns, m.id, t.process, t.key, t.measurement FROM trace t "
                     "LEFT JOIN measurement m ON m.key = t.measurement ORDER BY t.key"));
  DEEPGAP_ASSIGN(
      Statement insert,
      here_.statement("INSERT OR IGNORE INTO trace (id, format, source, content_hash, created_realtime_ns, "
                      "clock_at_ns, clock_realtime_ns, measurement, process) VALUES "
                      "(?, ?, ?, ?, ?, ?, ?, (SELECT key FROM measurement WHERE id = ?), ?)"));
  while (true) {
    DEEPGAP_ASSIGN(const bool row, rows.step());
    if (!row) return {};
    if (!rows.is_null(10) && damaged_.contains(rows.integer(10))) continue;
    std::optional<std::int64_t> process = rows.optional_integer(8);
    const auto renumbered = process_maps_.find(std::string(rows.text(7)));
    if (process.has_value() && renumbered != process_maps_.end()) {
      const auto index = renumbered->second.find(*process);
      if (index != renumbered->second.end()) process = index->second;
    }
    insert.bind();
    insert.bind_row(rows, 8);
    insert.bind_more(process);
    DEEPGAP_RETURN_IF_ERROR(insert.step());
    if (sqlite3_changes(here_.handle()) == 0) continue;
    ++count_.traces_added;
    DEEPGAP_RETURN_IF_ERROR(copy_op_records(rows.integer(9), sqlite3_last_insert_rowid(here_.handle())));
  }
}

Result<MergeCount> Merger::run() {
  DEEPGAP_RETURN_IF_ERROR(find_damage());
  DEEPGAP_RETURN_IF_ERROR(check_sweeps());
  DEEPGAP_RETURN_IF_ERROR(copy_sweeps());
  {
    DEEPGAP_ASSIGN(Statement devices, there_.statement("SELECT key FROM device ORDER BY key"));
    while (true) {
      DEEPGAP_ASSIGN(const bool row, devices.step());
      if (!row) break;
      DEEPGAP_RETURN_IF_ERROR(device(devices.integer(0)));
    }
  }
  DEEPGAP_ASSIGN(Statement rows,
                 there_.statement(fmt::format("SELECT {}, device, key FROM measurement ORDER BY key",
                                              kMeasurementColumns)));
  while (true) {
    DEEPGAP_ASSIGN(const bool row, rows.step());
    if (!row) break;
    if (damaged_.contains(rows.integer(kMeasurementColumnCount + 1))) continue;
    DEEPGAP_RETURN_IF_ERROR(copy_measurement(rows));
  }
  DEEPGAP_RETURN_IF_ERROR(copy_traces());
  return count_;
}

}  // namespace

Result<MergeCount> Store::merge(const std::string& other_path) {
  DEEPGAP_ASSIGN(const auto other, open_connection(other_path, OpenMode::kRead, current_schema()));
  DEEPGAP_ASSIGN(Transaction view, Transaction::begin_read(*other));
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  connection_->forget_refusals();
  Result<MergeCount> count = Merger(*connection_, *other).run();
  if (!count.ok() && connection_->refused_a_row()) {
    return bad_input(fmt::format(
        "merging '{}': expected rows that a store takes, found ones that contradict each other: it was "
        "damaged or changed by another program, and nothing of it was merged; save what is left "
        "with `sqlite3 OLD .recover | sqlite3 NEW` and merge that",
        printable(other_path)));
  }
  if (!count.ok()) return Error(count.error()).in(fmt::format("merging '{}'", printable(other_path)));
  DEEPGAP_RETURN_IF_ERROR(transaction.commit());
  return count;
}

}  // namespace deepgap::store
