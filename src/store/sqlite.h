// SQLite in the terms of this project: a connection, prepared statements, transactions, errors as Result.
// Private to the module: nothing outside src/store includes this.
//
//   DEEPGAP_ASSIGN(Statement rows, connection.statement("SELECT id, batch FROM measurement WHERE model =
//   ?")); rows.bind(model); while (true) {
//     DEEPGAP_ASSIGN(bool row, rows.step());
//     if (!row) break;
//     use(rows.text(0), rows.integer(1));
//   }
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace deepgap::store {

class Connection;
using Blob = std::span<const std::byte>;

// One use of a prepared statement. The statement itself stays with the connection for the next use, so texts
// of SQL should be constant. Must not outlive its connection.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds parameters 1, 2, ... and starts from the beginning. Texts and blobs are copied.
  template <typename... Values>
  void bind(const Values&... values) {
    sqlite3_reset(statement_);
    bound_ = 0;
    (bind_next(values), ...);
  }
  void bind_texts(std::span<const std::string> values);
  // Binds, runs to the end, and lets go of the parameters: for statements that give no rows.
  template <typename... Values>
  Result<void> run(const Values&... values) {
    lifetime_ = SQLITE_STATIC;  // they outlive this call: no copy
    bind(values...);
    lifetime_ = SQLITE_TRANSIENT;
    return finish();
  }

  // True: a row is there. False: there is no further one.
  Result<bool> step();

  // Columns of the current row, from 0. Views are valid until the next step.
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double real(int column) const { return sqlite3_column_double(statement_, column); }
  std::string_view text(int column) const;
  Blob blob(int column) const;
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<std::string> optional_text(int column) const;

  // Binds the current row's columns [0, count) of `source` as the next parameters of this statement.
  void bind_row(const Statement& source, int count);
  template <typename Value>
  void bind_more(const Value& value) {
    bind_next(value);
  }

 private:
  friend class Connection;
  Statement(Connection& connection, std::vector<sqlite3_stmt*>& pool, sqlite3_stmt* statement)
      : connection_(connection), pool_(&pool), statement_(statement) {}

  Result<void> finish();
  void note(int code);
  void bind_next(std::nullopt_t) { note(sqlite3_bind_null(statement_, ++bound_)); }
  void bind_next(double value) { note(sqlite3_bind_double(statement_, ++bound_, value)); }
  void bind_next(std::string_view value);
  void bind_next(Blob value);
  void bind_next(const std::string& value) { bind_next(std::string_view(value)); }
  void bind_next(const char* value) { bind_next(std::string_view(value)); }
  template <std::integral Integer>
  void bind_next(Integer value) {
    note(sqlite3_bind_int64(statement_, ++bound_, static_cast<sqlite3_int64>(value)));
  }
  template <typename Value>
  void bind_next(const std::optional<Value>& value) {
    if (value.has_value()) {
      bind_next(*value);
    } else {
      bind_next(std::nullopt);
    }
  }

  Connection& connection_;
  std::vector<sqlite3_stmt*>* pool_;  // where it goes back to
  sqlite3_stmt* statement_;
  sqlite3_destructor_type lifetime_ = SQLITE_TRANSIENT;
  int bound_ = 0;
  int bind_error_ = SQLITE_OK;
};

class Connection {
 public:
  // `path` is for messages; `uri` is what SQLite opens, with SQLITE_OPEN_* flags.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, const std::string& uri, int flags);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_; }

  Result<Statement> statement(std::string_view sql);
  // Any number of statements without parameters and results.
  Result<void> execute(const std::string& sql);
  // The first column of the first row of a query that has one.
  Result<std::int64_t> query_integer(std::string_view sql);

  // One sentence for SQLite's last error on this connection.
  Error error() const { return error_of(sqlite3_extended_errcode(handle_)); }
  Error error_of(int code) const;
  // Whether an error since forget_refusals() was a row that the tables do not take.
  bool refused_a_row() const { return refused_a_row_; }
  void forget_refusals() { refused_a_row_ = false; }

 private:
  friend class Transaction;
  Connection(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  std::string path_;
  sqlite3* handle_;
  std::unordered_map<std::string, std::vector<sqlite3_stmt*>> idle_statements_;
  int write_depth_ = 0;
  int read_depth_ = 0;
  mutable bool refused_a_row_ = false;
};

// Rolls back unless committed. A write transaction within a write transaction is a part of it (a savepoint).
class Transaction {
 public:
  static Result<Transaction> begin_write(Connection& connection);
  // A fixed view of the data; ends with the object. No write transaction may begin inside.
  static Result<Transaction> begin_read(Connection& connection);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  Transaction(Connection& connection, bool writes, bool nested)
      : connection_(&connection), writes_(writes), nested_(nested) {}
  void leave();

  Connection* connection_;  // nullptr: over
  bool writes_;
  bool nested_;
};

}  // namespace deepgap::store
