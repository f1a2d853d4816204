#include "trace/nsys_sqlite/foreign_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "base/text.h"

namespace deepgap::trace {
namespace {

constexpr int kLongestText = 1 << 20;  // a mangled name of a kernel may have 100 kB
constexpr std::size_t kMostTables = 10'000;

// A name of a table or column, which may hold anything.
std::string identifier(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

// "file:/a%20b?immutable=1"
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri + "?mode=ro&immutable=1";
}

}  // namespace

void ForeignRows::Close::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}
void ForeignDatabase::Close::operator()(sqlite3* connection) const {
  sqlite3_close(connection);
}

bool ForeignRows::next() {
  if (!statement_) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_->note_fault();
  statement_.reset();
  return false;
}

std::optional<std::int64_t> ForeignRows::whole(int column) const {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view ForeignRows::text(int column) const {
  if (sqlite3_column_type(statement_.get(), column) != SQLITE_TEXT) return {};
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<ForeignDatabase> ForeignDatabase::open(const std::string& path) {
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(uri_of(path).c_str(), &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  ForeignDatabase database(connection);
  if (code != SQLITE_OK) {
    return bad_input(fmt::format("cannot read {} as SQLite: {}", printable(path), sqlite3_errstr(code)));
  }
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, kLongestText);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  ForeignRows names(database, database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'"));
  while (database.tables_.size() < kMostTables && names.next()) database.tables_.emplace_back(names.text(0));
  return database;
}

sqlite3_stmt* ForeignDatabase::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(connection_.get(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) note_fault();
  return statement;
}

void ForeignDatabase::note_fault() {
  if (!fault_) fault_ = printable(sqlite3_errmsg(connection_.get()));
}

bool ForeignDatabase::has(std::string_view table) const {
  return std::find(tables_.begin(), tables_.end(), table) != tables_.end();
}

ForeignRows ForeignDatabase::rows(std::string_view table, std::initializer_list<std::string_view> columns) {
  if (!has(table)) return {*this, nullptr};
  std::vector<std::string> there;
  ForeignRows names(*this, prepare(fmt::format("PRAGMA table_info({})", identifier(table))));
  while (names.next()) there.emplace_back(names.text(1));
  std::string list;
  for (const std::string_view column : columns) {
    const bool known = std::find(there.begin(), there.end(), column) != there.end();
    list += (list.empty() ? "" : ", ") + (known ? identifier(column) : std::string("NULL"));
  }
  return {*this, prepare(fmt::format("SELECT {} FROM {}", list, identifier(table)))};
}

}  // namespace deepgap::trace
