#include "store/schema.h"

#include <fmt/format.h>

#include "base/text.h"
#include "store/sqlite.h"

namespace deepgap::store {
namespace {

constexpr int kVersion = 2;

Result<void> set_marks(Connection& connection, int version) {
  return connection.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, version));
}

Result<void> apply(Connection& connection, const Migration& migration) {
  DEEPGAP_RETURN_IF_ERROR(connection.execute(std::string(migration.sql)));
  DEEPGAP_ASSIGN(Statement violations, connection.statement("PRAGMA foreign_key_check"));
  DEEPGAP_ASSIGN(const bool violated, violations.step());
  if (violated) {
    return internal_error(
        fmt::format("expected rows of table '{}' to refer to rows that exist, found one that does not",
                    violations.text(0)));
  }
  return {};
}

}  // namespace

const Schema& current_schema() {
  static const Schema kSchema{kVersion, schema_sql(), all_migrations()};
  return kSchema;
}

Result<DatabaseState> inspect(Connection& connection) {
  DEEPGAP_ASSIGN(const std::int64_t application, connection.query_integer("PRAGMA application_id"));
  DEEPGAP_ASSIGN(const std::int64_t version, connection.query_integer("PRAGMA user_version"));
  DEEPGAP_ASSIGN(const std::int64_t objects, connection.query_integer("SELECT count(*) FROM sqlite_schema"));
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
  DEEPGAP_RETURN_IF_ERROR(set_marks(connection, schema.version));
  return transaction.commit();
}

}  // namespace deepgap::store
