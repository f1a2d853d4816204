// Traces and their op records.
#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "base/text.h"
#include "store/json_columns.h"
#include "store/rows.h"
#include "store/store.h"

namespace deepgap::store {
namespace {

struct RoleName {
  OpRole role;
  std::string_view name;
};

constexpr std::array kRoles = {
    RoleName{OpRole::kOp, "op"},
    RoleName{OpRole::kRuntimeCall, "runtime_call"},
    RoleName{OpRole::kKernel, "kernel"},
    RoleName{OpRole::kCopy, "copy"},
    RoleName{OpRole::kMemset, "memset"},
    RoleName{OpRole::kSynchronisation, "synchronisation"},
    RoleName{OpRole::kAnnotation, "annotation"},
};

std::string_view name_of_role(OpRole role) {
  for (const RoleName& one : kRoles) {
    if (one.role == role) return one.name;
  }
  return "op";
}

std::optional<OpRole> parse_role(std::string_view name) {
  for (const RoleName& one : kRoles) {
    if (one.name == name) return one.role;
  }
  return std::nullopt;
}

using TextKey = std::optional<std::int64_t>;

// Keys of texts in op_text, each asked for once.
class TextKeys {
 public:
  explicit TextKeys(Connection& connection) : connection_(connection) {}

  // Nothing for an empty text.
  Result<TextKey> key(const std::string& text) {
    if (text.empty()) return TextKey();
    const auto found = keys_.find(text);
    if (found != keys_.end()) return TextKey(found->second);
    DEEPGAP_ASSIGN(const std::int64_t key, insert(text));
    keys_.emplace(text, key);
    return TextKey(key);
  }
  // An empty text is a text too.
  Result<std::int64_t> insert(const std::string& text) {
    DEEPGAP_ASSIGN(Statement add, connection_.statement("INSERT OR IGNORE INTO op_text (text) VALUES (?)"));
    DEEPGAP_RETURN_IF_ERROR(add.run(text));
    DEEPGAP_ASSIGN(Statement query, connection_.statement("SELECT key FROM op_text WHERE text = ?"));
    query.bind(text);
    DEEPGAP_ASSIGN(const bool found, query.step());
    if (!found)
      return internal_error(
          fmt::format("expected the text '{}' to be stored, found it missing", printable(text)));
    return query.integer(0);
  }

 private:
  Connection& connection_;
  std::unordered_map<std::string, std::int64_t> keys_;
};

template <typename Tag>
std::optional<std::int64_t> value_of(const std::optional<Amount<Tag>>& amount) {
  if (!amount.has_value()) return std::nullopt;
  return amount->value;
}

Result<void> insert_record(Connection& connection, TextKeys& texts, std::int64_t trace, std::size_t position,
                           const OpRecord& record) {
  DEEPGAP_ASSIGN(TextKey name, texts.key(record.name));
  if (!name.has_value()) {
    DEEPGAP_ASSIGN(name, texts.insert(""));
  }
  DEEPGAP_ASSIGN(const TextKey op_class, texts.key(record.op_class));
  DEEPGAP_ASSIGN(const TextKey shapes, texts.key(shapes_to_json(record.shapes)));
  DEEPGAP_ASSIGN(const TextKey dtypes, texts.key(texts_to_json(record.dtypes)));
  DEEPGAP_ASSIGN(const TextKey module_path, texts.key(record.module_path));
  DEEPGAP_ASSIGN(const TextKey lane, texts.key(record.lane));
  std::optional<std::string_view> precision;
  if (record.precision_path.has_value()) precision = name_of(*record.precision_path);
  DEEPGAP_ASSIGN(
      Statement insert,
      connection.statement("INSERT INTO op_record (trace, position, name, role, op_class, shapes, dtypes, "
                           "module_path, start_at_ns, duration_ns, lane, parent, correlation, flops, bytes, "
                           "precision_path) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  return insert.run(trace, position, name, name_of_role(record.role), op_class, shapes, dtypes, module_path,
                    record.start_at.count(), record.duration.count(), lane, record.parent, record.correlation,
                    value_of(record.flops), value_of(record.bytes), precision);
}

Result<std::int64_t> insert_trace(Connection& connection, const Trace& trace) {
  std::optional<std::int64_t> measurement;
  if (trace.measurement.has_value()) {
    DEEPGAP_ASSIGN(measurement, require_measurement(connection, *trace.measurement));
  }
  std::optional<std::int64_t> clock_at;
  std::optional<std::int64_t> clock_realtime;
  if (trace.clocks.has_value()) {
    clock_at = trace.clocks->monotonic_at.count();
    clock_realtime = trace.clocks->realtime_at.count();
  }
  DEEPGAP_ASSIGN(
      Statement insert,
      connection.statement("INSERT INTO trace (id, measurement, process, format, source, content_hash, "
                           "created_realtime_ns, clock_at_ns, clock_realtime_ns) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  DEEPGAP_RETURN_IF_ERROR(insert.run(trace.id.str(), measurement, trace.process, trace.format, trace.source,
                                     trace.content_hash, trace.created_realtime_ns, clock_at,
                                     clock_realtime));
  return sqlite3_last_insert_rowid(connection.handle());
}

Trace read_trace(const Statement& row) {
  Trace trace;
  trace.id = TraceId(std::string(row.text(0)));
  if (!row.is_null(1)) trace.measurement = MeasurementId(std::string(row.text(1)));
  if (!row.is_null(2)) trace.process = static_cast<int>(row.integer(2));
  trace.format = row.text(3);
  trace.source = row.text(4);
  trace.content_hash = row.text(5);
  trace.created_realtime_ns = row.integer(6);
  if (!row.is_null(7) && !row.is_null(8)) {
    trace.clocks = ClockPair{Nanoseconds(row.integer(7)), Nanoseconds(row.integer(8))};
  }
  return trace;
}

// The row has the columns of op_records() below.
Result<OpRecord> read_record(const Statement& row) {
  OpRecord record;
  record.name = row.text(0);
  const std::optional<OpRole> role = parse_role(row.text(1));
  if (!role.has_value()) return bad_input(fmt::format("expected a role, found '{}'", printable(row.text(1))));
  record.role = *role;
  record.op_class = row.text(2);
  DEEPGAP_ASSIGN(record.shapes, shapes_from_json(row.text(3)));
  DEEPGAP_ASSIGN(record.dtypes, texts_from_json(row.text(4)));
  record.module_path = row.text(5);
  record.start_at = Nanoseconds(row.integer(6));
  record.duration = Nanoseconds(row.integer(7));
  record.lane = row.text(8);
  record.parent = row.optional_integer(9);
  record.correlation = row.optional_integer(10);
  if (!row.is_null(11)) record.flops = Flops{row.integer(11)};
  if (!row.is_null(12)) record.bytes = Bytes{row.integer(12)};
  if (!row.is_null(13)) {
    record.precision_path = parse_precision(row.text(13));
    if (!record.precision_path.has_value()) {
      return bad_input(fmt::format("expected a precision, found '{}'", printable(row.text(13))));
    }
  }
  return record;
}

}  // namespace

Result<void> Store::put_trace(const Trace& trace, std::span<const OpRecord> records) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(*connection_));
  DEEPGAP_ASSIGN(const std::int64_t key, insert_trace(*connection_, trace));
  TextKeys texts(*connection_);
  for (std::size_t i = 0; i < records.size(); ++i) {
    DEEPGAP_RETURN_IF_ERROR(insert_record(*connection_, texts, key, i, records[i]));
  }
  return transaction.commit();
}

Result<std::vector<Trace>> Store::traces(const std::optional<MeasurementId>& measurement) {
  DEEPGAP_ASSIGN(
      Statement query,
      connection_->statement("SELECT t.id, m.id, t.process, t.format, t.source, t.content_hash, "
                             "t.created_realtime_ns, t.clock_at_ns, t.clock_realtime_ns FROM trace t "
                             "LEFT JOIN measurement m ON m.key = t.measurement WHERE ?1 IS NULL OR m.id = ?1 "
                             "ORDER BY t.created_realtime_ns DESC, t.key DESC"));
  std::optional<std::string> id;
  if (measurement.has_value()) id = measurement->str();
  query.bind(id);
  std::vector<Trace> traces;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return traces;
    traces.push_back(read_trace(query));
  }
}

Result<std::vector<OpRecord>> Store::op_records(const TraceId& id) {
  DEEPGAP_ASSIGN(Transaction view, Transaction::begin_read(*connection_));
  DEEPGAP_ASSIGN(Statement trace, connection_->statement("SELECT key FROM trace WHERE id = ?"));
  trace.bind(id.str());
  DEEPGAP_ASSIGN(const bool found, trace.step());
  if (!found) {
    return usage_error(fmt::format("expected a trace of the store '{}', found none with id '{}'",
                                   printable(path_), printable(id.str())));
  }
  DEEPGAP_ASSIGN(Statement query,
                 connection_->statement(
                     "SELECT n.text, r.role, c.text, s.text, d.text, m.text, r.start_at_ns, r.duration_ns, "
                     "l.text, r.parent, r.correlation, r.flops, r.bytes, r.precision_path FROM op_record r "
                     "JOIN op_text n ON n.key = r.name LEFT JOIN op_text c ON c.key = r.op_class "
                     "LEFT JOIN op_text s ON s.key = r.shapes LEFT JOIN op_text d ON d.key = r.dtypes "
                     "LEFT JOIN op_text m ON m.key = r.module_path LEFT JOIN op_text l ON l.key = r.lane "
                     "WHERE r.trace = ? ORDER BY r.position"));
  query.bind(trace.integer(0));
  std::vector<OpRecord> records;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return records;
    Result<OpRecord> record = read_record(query);
    if (!record.ok()) {
      return std::move(record).error().in(fmt::format("op record {} of trace {} of the store '{}'",
                                                      records.size(), printable(id.str()), printable(path_)));
    }
    records.push_back(std::move(record).value());
  }
}

}  // namespace deepgap::store
