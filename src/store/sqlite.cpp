#include "store/sqlite.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "store/store.h"

namespace deepgap::store {

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      pool_(other.pool_),
      statement_(std::exchange(other.statement_, nullptr)),
      bound_(other.bound_),
      bind_error_(other.bind_error_) {}

Statement::~Statement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  pool_->push_back(statement_);
}

void Statement::note(int code) {
  if (code != SQLITE_OK && bind_error_ == SQLITE_OK) bind_error_ = code;
}

void Statement::bind_next(std::string_view value) {
  const char* data = value.data() == nullptr ? "" : value.data();
  note(sqlite3_bind_text64(statement_, ++bound_, data, value.size(), lifetime_, SQLITE_UTF8));
}

void Statement::bind_next(Blob value) {
  if (value.empty()) {
    note(sqlite3_bind_zeroblob(statement_, ++bound_, 0));
  } else {
    note(sqlite3_bind_blob64(statement_, ++bound_, value.data(), value.size(), lifetime_));
  }
}

void Statement::bind_texts(std::span<const std::string> values) {
  bind();
  for (const std::string& value : values) bind_next(value);
}

void Statement::bind_row(const Statement& source, int count) {
  for (int column = 0; column < count; ++column) {
    note(sqlite3_bind_value(statement_, ++bound_, sqlite3_column_value(source.statement_, column)));
  }
}

Result<bool> Statement::step() {
  if (bind_error_ != SQLITE_OK) return connection_.error_of(std::exchange(bind_error_, SQLITE_OK));
  errno = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error error = connection_.error();
  sqlite3_reset(statement_);
  return error;
}

Result<void> Statement::finish() {
  while (true) {
    DEEPGAP_ASSIGN(const bool row, step());
    if (!row) break;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  return {};
}

std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Blob Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<std::int64_t> Statement::optional_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::optional<std::string> Statement::optional_text(int column) const {
  if (is_null(column)) return std::nullopt;
  return std::string(text(column));
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, const std::string& uri,
                                                     int flags) {
  sqlite3* handle = nullptr;
  errno = 0;
  // No mutex: a Store is used by one thread at a time.
  const int code =
      sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (handle == nullptr) return internal_error("expected memory for a connection to the store, found none");
  std::unique_ptr<Connection> connection(new Connection(path, handle));
  if (code != SQLITE_OK) return connection->error_of(code);
  using std::chrono::milliseconds;
  sqlite3_busy_timeout(handle,
                       static_cast<int>(std::chrono::duration_cast<milliseconds>(kBusyTimeout).count()));
  return connection;
}

Connection::~Connection() {
  for (auto& [sql, statements] : idle_statements_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  sqlite3_close_v2(handle_);
}

Result<Statement> Connection::statement(std::string_view sql) {
  auto found = idle_statements_.find(std::string(sql));
  if (found == idle_statements_.end()) found = idle_statements_.try_emplace(std::string(sql)).first;
  std::vector<sqlite3_stmt*>& pool = found->second;
  if (!pool.empty()) {
    sqlite3_stmt* statement = pool.back();
    pool.pop_back();
    return Statement(*this, pool, statement);
  }
  sqlite3_stmt* statement = nullptr;
  errno = 0;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error();
  return Statement(*this, pool, statement);
}

Result<void> Connection::execute(const std::string& sql) {
  errno = 0;
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<std::int64_t> Connection::query_integer(std::string_view sql) {
  DEEPGAP_ASSIGN(Statement query, statement(sql));
  DEEPGAP_ASSIGN(const bool row, query.step());
  if (!row) return internal_error(fmt::format("expected one row from '{}', found none", sql));
  return query.integer(0);
}

Error Connection::error_of(int code) const {
  const int recent_error = errno;
  const int kept_error = sqlite3_system_errno(handle_);
  const std::string store = fmt::format("the store '{}'", printable(path_));
  // SQLite keeps the system's error of some failures only; errno was cleared before the call.
  const int system_error = kept_error != 0 ? kept_error : recent_error;
  const bool no_room = system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
  const std::string reason = system_error != 0 ? std::strerror(system_error) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_FULL:
      return bad_input(
          fmt::format("expected room to write to {}, found a full disk: free some space and repeat; what was "
                      "stored before is kept",
                      store));
    case SQLITE_IOERR:
      if (no_room) {
        return bad_input(
            fmt::format("expected room to write to {}, found none ({}): free some space and repeat; what "
                        "was stored before is kept",
                        store, reason));
      }
      return bad_input(
          fmt::format("expected to read and write {}, found an input/output error ({}): check the disk and "
                      "the permissions of the "
                      "file and its folder",
                      store, reason));
    case SQLITE_READONLY:
      return bad_input(
          fmt::format("expected to write to {}, found it read-only: give write permission to the file and "
                      "its folder, or name "
                      "another store with --db",
                      store));
    case SQLITE_CANTOPEN:
      return bad_input(
          fmt::format("expected to open {} and its journal beside it, found that it cannot be done ({}): "
                      "check the path and the "
                      "permissions of the file and its folder, or name another store with --db",
                      store, reason));
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return bad_input(
          fmt::format("expected permission to use {}, found none: check the file's permissions", store));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return bad_input(fmt::format(
          "expected {} to become free within {} s, found it still locked by another process: wait for that "
          "one to end, or name another store with --db",
          store, std::chrono::duration_cast<std::chrono::seconds>(kBusyTimeout).count()));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return bad_input(
          fmt::format("expected {} to be whole, found it truncated or damaged ({}): restore it from a copy, "
                      "or save what is left "
                      "with `sqlite3 OLD .recover | sqlite3 NEW`",
                      store, printable(sqlite3_errmsg(handle_))));
    case SQLITE_NOMEM:
      return bad_input(
          fmt::format("expected memory to work on {}, found none: free some memory and repeat", store));
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      refused_a_row_ = true;
      [[fallthrough]];
    default:
      return internal_error(
          fmt::format("expected {} to accept a statement, found: {} (SQLite code {}); this is a bug "
                      "of deepgap, or the store was changed by another program",
                      store, printable(sqlite3_errmsg(handle_)), code));
  }
}

Result<Transaction> Transaction::begin_write(Connection& connection) {
  if (connection.read_depth_ > 0) {
    return internal_error("expected no writing to a store while its cells are being visited, found a write");
  }
  const bool nested = connection.write_depth_ > 0;
  // After a full disk SQLite may have rolled back the outer transaction by itself.
  if (nested && sqlite3_get_autocommit(connection.handle_) != 0) {
    return bad_input(
        fmt::format("expected the transaction on the store '{}' to be still open, found it rolled back "
                    "after an earlier error: see that error",
                    printable(connection.path_)));
  }
  DEEPGAP_RETURN_IF_ERROR(connection.execute(nested ? "SAVEPOINT part" : "BEGIN IMMEDIATE"));
  ++connection.write_depth_;
  return Transaction(connection, true, nested);
}

Result<Transaction> Transaction::begin_read(Connection& connection) {
  const bool nested = connection.write_depth_ > 0 || connection.read_depth_ > 0;
  if (!nested) DEEPGAP_RETURN_IF_ERROR(connection.execute("BEGIN DEFERRED"));
  ++connection.read_depth_;
  return Transaction(connection, false, nested);
}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)),
      writes_(other.writes_),
      nested_(other.nested_) {}

void Transaction::leave() {
  --(writes_ ? connection_->write_depth_ : connection_->read_depth_);
  connection_ = nullptr;
}

Transaction::~Transaction() {
  if (connection_ == nullptr) return;
  // Errors of a rollback are of no use: SQLite has rolled back by itself then.
  if (writes_ && nested_) {
    sqlite3_exec(connection_->handle_, "ROLLBACK TO part; RELEASE part", nullptr, nullptr, nullptr);
  } else if (!nested_ && sqlite3_get_autocommit(connection_->handle_) == 0) {
    sqlite3_exec(connection_->handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  leave();
}

Result<void> Transaction::commit() {
  if (sqlite3_get_autocommit(connection_->handle_) != 0) {
    return bad_input(
        fmt::format("expected the transaction on the store '{}' to be still open, found it rolled back "
                    "after an earlier error: see that error",
                    printable(connection_->path_)));
  }
  if (writes_ || !nested_) DEEPGAP_RETURN_IF_ERROR(connection_->execute(nested_ ? "RELEASE part" : "COMMIT"));
  leave();
  return {};
}

}  // namespace deepgap::store
