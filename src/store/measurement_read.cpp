// Reading measurements: one walk over the rows, newest first, serves `load`, `for_each` and `headers` alike.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "store/measurement_reader.h"
#include "store/rows.h"
#include "store/store.h"

namespace deepgap::store {
namespace {

constexpr std::size_t kProblemsShown = 20;

// Selector parts without wildcards become SQL, so that SQLite passes over most rows; Selector::matches has
// the last word.
struct Condition {
  std::string sql;
  std::vector<std::string> values;

  void add(std::string_view column, std::string_view value) {
    sql += fmt::format("{} {} = ? ", sql.empty() ? "WHERE" : "AND", column);
    values.emplace_back(value);
  }
};

Condition condition_of(const Filter& filter) {
  Condition condition;
  const auto narrow = [&condition](std::string_view column, const std::string& pattern) {
    if (pattern.find_first_of("*?") == std::string::npos) condition.add(column, pattern);
  };
  if (filter.sweep.has_value()) condition.add("m.sweep", filter.sweep->str());
  if (filter.selector.has_value()) {
    narrow("m.model", filter.selector->model);
    narrow("m.engine", filter.selector->engine);
    narrow("m.precision", filter.selector->precision);
    narrow("m.mode", filter.selector->mode);
  }
  return condition;
}

std::string place_of(const Statement& row, const std::string& path) {
  return fmt::format("measurement {} ({}/{}/{}/{}/b{}) of the store '{}'", printable(row.text(1)),
                     printable(row.text(4)), printable(row.text(10)), printable(row.text(12)),
                     printable(row.text(8)), row.integer(7), printable(path));
}

bool matches(const Filter& filter, const Measurement& measurement) {
  return !filter.selector.has_value() ||
         filter.selector->matches(measurement.key, measurement.device.name, measurement.device.aliases);
}

// The rows of measurements that meet `condition`, newest first.
Result<Statement> select(Connection& connection, const Condition& condition) {
  DEEPGAP_ASSIGN(Statement rows,
                 connection.statement(fmt::format("{}{}ORDER BY m.created_realtime_ns DESC, m.key DESC",
                                                  kMeasurementColumns, condition.sql)));
  rows.bind_texts(condition.values);
  return rows;
}

// Fills `measurement` from the current row; false, and only the header filled in, where the filter does not
// match.
Result<bool> read_cell(MeasurementReader& reader, const Statement& row, const Filter& filter, LoadDepth depth,
                       Measurement& measurement) {
  DEEPGAP_RETURN_IF_ERROR(reader.read_row(row, depth == LoadDepth::kAll, measurement));
  if (!matches(filter, measurement)) return false;
  DEEPGAP_RETURN_IF_ERROR(reader.read_rest(row.integer(0), depth, measurement));
  return true;
}

Result<void> read_process_list(ChildRows& rows, std::int64_t key, MeasurementHeader& header) {
  DEEPGAP_ASSIGN(bool row, rows.seek(key));
  while (row) {
    DEEPGAP_ASSIGN(const int index, as_int(rows.row().integer(1), "a process index"));
    header.processes.push_back(index);
    header.samples += rows.row().integer(2);
    DEEPGAP_ASSIGN(row, rows.next());
  }
  std::reverse(header.processes.begin(), header.processes.end());
  return {};
}

MeasurementHeader header_of(Measurement& measurement) {
  MeasurementHeader header;
  header.id = std::move(measurement.id);
  header.sweep = std::move(measurement.sweep);
  header.key = std::move(measurement.key);
  header.device_name = std::move(measurement.device.name);
  header.device_aliases = std::move(measurement.device.aliases);
  header.created_realtime_ns = measurement.created_realtime_ns;
  header.planned_processes = measurement.planned_processes;
  header.failure = std::move(measurement.failure);
  header.origin = std::move(measurement.origin);
  return header;
}

}  // namespace

Result<Measurement> Store::load(const MeasurementId& id) {
  DEEPGAP_ASSIGN(Transaction view, Transaction::begin_read(*connection_));
  DEEPGAP_RETURN_IF_ERROR(require_measurement(*connection_, id));
  Condition condition;
  condition.add("m.id", id.str());
  DEEPGAP_ASSIGN(Statement rows, select(*connection_, condition));
  DEEPGAP_ASSIGN(const bool row, rows.step());
  if (!row) return internal_error(fmt::format("expected measurement {}, found it gone", id.str()));
  MeasurementReader reader(*connection_);
  Measurement measurement;
  const Result<bool> read = read_cell(reader, rows, {}, LoadDepth::kAll, measurement);
  if (!read.ok()) return Error(read.error()).in(place_of(rows, path_));
  return measurement;
}

Result<Visited> walk_cells(Connection& connection, const Filter& filter, LoadDepth depth,
                           const Visitor& visitor, const std::function<void(std::int64_t)>& on_damaged) {
  DEEPGAP_ASSIGN(Transaction view, Transaction::begin_read(connection));
  DEEPGAP_ASSIGN(Statement rows, select(connection, condition_of(filter)));
  MeasurementReader reader(connection);
  Measurement measurement;
  Visited visited;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, rows.step());
    if (!row) return visited;
    Result<bool> matched = read_cell(reader, rows, filter, depth, measurement);
    if (!matched.ok()) {
      ++visited.damaged;
      if (on_damaged) on_damaged(rows.integer(0));
      if (visited.problems.size() < kProblemsShown) {
        visited.problems.push_back(
            std::move(matched).error().in(place_of(rows, connection.path())).message());
      }
      continue;
    }
    if (!*matched) continue;
    ++visited.cells;
    if (!visitor(measurement)) return visited;
  }
}

Result<Visited> Store::for_each(const Filter& filter, LoadDepth depth, const Visitor& visitor) {
  return walk_cells(*connection_, filter, depth, visitor);
}

Result<std::vector<MeasurementHeader>> Store::headers(const Filter& filter) {
  DEEPGAP_ASSIGN(Transaction view, Transaction::begin_read(*connection_));
  DEEPGAP_ASSIGN(Statement rows, select(*connection_, condition_of(filter)));
  DEEPGAP_ASSIGN(ChildRows processes,
                 ChildRows::prepare(*connection_,
                                    "SELECT measurement, process, samples FROM process WHERE measurement "
                                    "<= ? ORDER BY measurement DESC, process DESC"));
  MeasurementReader reader(*connection_);
  Measurement measurement;
  std::vector<MeasurementHeader> headers;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, rows.step());
    if (!row) return headers;
    Result<bool> matched = read_cell(reader, rows, filter, LoadDepth::kHeader, measurement);
    if (!matched.ok()) return std::move(matched).error().in(place_of(rows, path_));
    if (!*matched) continue;
    headers.push_back(header_of(measurement));
    DEEPGAP_RETURN_IF_ERROR(read_process_list(processes, rows.integer(0), headers.back()));
  }
}

Result<std::optional<MeasurementId>> Store::newest(const Filter& filter) {
  std::optional<MeasurementId> found;
  DEEPGAP_RETURN_IF_ERROR(for_each(filter, LoadDepth::kHeader, [&found](Measurement& measurement) {
    found = measurement.id;
    return false;
  }));
  return found;
}

}  // namespace deepgap::store
