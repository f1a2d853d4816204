// The version of the store's tables and how older ones are brought to it. Private to the module.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace deepgap::store {

class Connection;

// In the file's header, so that a store is told from any other SQLite file: "DGap" as a big-endian number.
inline constexpr std::int64_t kApplicationId = 0x44476170;

// SQL that leads from the version before to `version`. It may rebuild tables: references are checked after
// it.
struct Migration {
  int version;
  std::string_view sql;
};

struct Schema {
  int version;
  std::string_view sql;                   // makes the tables of `version` in an empty database
  std::span<const Migration> migrations;  // to versions 2, 3, ..., `version`
};

// What this program reads and writes.
const Schema& current_schema();
// The texts that CMake compiled in: schema.sql, migrations/*.sql.
std::string_view schema_sql();
std::span<const Migration> all_migrations();

// What a database is, by its header and its tables.
struct DatabaseState {
  bool is_store = false;
  bool is_empty = false;  // no tables, no marks: may become a store
  std::int64_t version = 0;
};
Result<DatabaseState> inspect(Connection& connection);

// Refuses, with one sentence, a database that is neither a store of this or an older version nor empty.
Result<void> check_usable(const Connection& connection, const DatabaseState& state, const Schema& schema);

// Refuses, with one sentence, a database of the schema's version that lacks a table or a column of it,
// because another program changed it.
Result<void> check_tables(Connection& connection, const Schema& schema);

// Makes the tables in an empty database, or applies the missing migrations, in one transaction; another
// process may try the same at the same time. Foreign keys must be off.
Result<void> bring_up_to_date(Connection& connection, const Schema& schema);

}  // namespace deepgap::store
