#include "store/schema.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>

#include "base/text.h"
#include "store/sqlite.h"

namespace deepgap::store {
namespace {

constexpr int kVersion = 2;

Result<void> set_marks(Connection& connection, int version) {
  return connection.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, version));
}

// The error of a store whose tables are not those that it should have.
Error other_tables(const Connection& connection, std::int64_t version, std::string_view found) {
  return bad_input(fmt::format(
      "expected the tables of version {} in the store '{}', found {}: another program changed it; "
      "restore it from a copy",
      version, printable(connection.path()), found));
}

Result<void> apply(Connection& connection, const Migration& migration) {
  const Result<void> applied = connection.execute(std::string(migration.sql));
  // The statements themselves are tested: that one does not fit is the store's doing.
  if (!applied.ok() && applied.error().kind() == ErrorKind::kInternal) {
    return other_tables(connection, migration.version - 1,
                        fmt::format("others ({})", printable(sqlite3_errmsg(connection.handle()))));
  }
  DEEPGAP_RETURN_IF_ERROR(applied);
  DEEPGAP_ASSIGN(Statement violations, connection.statement("PRAGMA foreign_key_check"));
  DEEPGAP_ASSIGN(const bool violated, violations.step());
  if (violated) {
    return bad_input(
        fmt::format("expected rows of table '{}' to refer to rows that exist, found one that does not",
                    violations.text(0)));
  }
  return {};
}

Result<std::set<std::string>> columns_of(Connection& connection, std::string_view table) {
  DEEPGAP_ASSIGN(Statement query,
                 connection.statement("SELECT c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c "
                                      "WHERE m.type = 'table' AND m.name = ?"));
  query.bind(table);
  std::set<std::string> columns;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, query.step());
    if (!row) return columns;
    columns.emplace(query.text(0));
  }
}

}  // namespace

const Schema& current_schema() {
  static const Schema kSchema{kVersion, schema_sql(), all_migrations()};
  return kSchema;
}

Result<DatabaseState> inspect(Connection& connection) {
  // In one statement, which sees one moment: another process may be making the tables.
  DEEPGAP_ASSIGN(Statement query,
                 connection.statement("SELECT (SELECT application_id FROM pragma_application_id), "
                                      "(SELECT user_version FROM pragma_user_version), "
                                      "(SELECT count(*) FROM sqlite_schema)"));
  DEEPGAP_ASSIGN([[maybe_unused]] const bool row, query.step());
  const std::int64_t application = query.integer(0);
  const std::int64_t version = query.integer(1);
  const std::int64_t objects = query.integer(2);
  DatabaseState state;
  state.is_store = application == kApplicationId;
  state.is_empty = application == 0 && version == 0 && objects == 0;
  state.version = version;
  return state;
}

Result<void> check_usable(const Connection& connection, const DatabaseState& state, const Schema& schema) {
  const std::string path = printable(connection.path());
  if (state.is_empty) return {};
  if (!state.is_store) {
    return bad_input(
        fmt::format("expected a deepgap store in '{}', found an SQLite database of another program: name "
                    "another file with --db",
                    path));
  }
  if (state.version > schema.version) {
    return bad_input(
        fmt::format("expected a store of version {} or older in '{}', found version {}, made by a newer "
                    "deepgap: update deepgap, or "
                    "name another store with --db",
                    schema.version, path, state.version));
  }
  if (state.version < 1) {
    return bad_input(fmt::format(
        "expected a store of version 1 to {} in '{}', found version {}: restore the file from a copy",
        schema.version, path, state.version));
  }
  return {};
}

Result<void> check_tables(Connection& connection, const Schema& schema) {
  DEEPGAP_ASSIGN(const auto model,
                 Connection::open("", ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY));
  DEEPGAP_RETURN_IF_ERROR(model->execute(std::string(schema.sql)));
  DEEPGAP_ASSIGN(
      Statement expected,
      model->statement("SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c "
                       "WHERE m.type = 'table' ORDER BY m.name, c.cid"));
  std::string table;
  std::set<std::string> columns;
  while (true) {
    DEEPGAP_ASSIGN(const bool row, expected.step());
    if (!row) return {};
    if (expected.text(0) != table) {
      table = expected.text(0);
      DEEPGAP_ASSIGN(columns, columns_of(connection, table));
      if (columns.empty())
        return other_tables(connection, schema.version, fmt::format("no table '{}'", table));
    }
    if (columns.contains(std::string(expected.text(1)))) continue;
    return other_tables(connection, schema.version,
                        fmt::format("no column '{}' in table '{}'", expected.text(1), table));
  }
}

Result<void> bring_up_to_date(Connection& connection, const Schema& schema) {
  DEEPGAP_ASSIGN(Transaction transaction, Transaction::begin_write(connection));
  // Read again inside: another process may have done it meanwhile.
  DEEPGAP_ASSIGN(const DatabaseState state, inspect(connection));
  DEEPGAP_RETURN_IF_ERROR(check_usable(connection, state, schema));
  if (state.is_empty) {
    DEEPGAP_RETURN_IF_ERROR(connection.execute(std::string(schema.sql)));
    DEEPGAP_RETURN_IF_ERROR(set_marks(connection, schema.version));
    return transaction.commit();
  }
  std::int64_t version = state.version;
  for (const Migration& migration : schema.migrations) {
    if (migration.version != version + 1) continue;
    DEEPGAP_RETURN_IF_ERROR(
        apply(connection, migration)
            .in(fmt::format("bringing the store from version {} to {}", version, version + 1)));
    version = migration.version;
  }
  if (version != schema.version) {
    return internal_error(
        fmt::format("expected migrations of the store from version {} to {}, found them only up to {}",
                    state.version, schema.version, version));
  }
  DEEPGAP_RETURN_IF_ERROR(check_tables(connection, schema));
  DEEPGAP_RETURN_IF_ERROR(set_marks(connection, schema.version));
  return transaction.commit();
}

}  // namespace deepgap::store
