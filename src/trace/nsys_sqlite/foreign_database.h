// A SQLite file that somebody sent, read without trusting it: never written, no views, no triggers, no
// functions of its schema, texts and work bounded. (The store's own connection, store/sqlite.h, is for a file
// of ours.)
//
//   DEEPGAP_ASSIGN(ForeignDatabase database, ForeignDatabase::open(path));
//   if (database.has("CUPTI_ACTIVITY_KIND_KERNEL")) {
//     ForeignRows rows = database.rows("CUPTI_ACTIVITY_KIND_KERNEL", {"start", "end", "streamId"});
//     while (rows.next()) use(rows.whole(0), rows.whole(1), rows.whole(2));        // absent columns are
//     absent values
//   }
//   database.fault()                       // "database disk image is malformed": reading ended there
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace deepgap::trace {

class ForeignDatabase;

class ForeignRows {
 public:
  // False at the end, and where the file is damaged.
  bool next();
  // Of the current row; absent: NULL, another type, or no such column.
  std::optional<std::int64_t> whole(int column) const;
  std::string_view text(int column) const;

 private:
  friend class ForeignDatabase;
  struct Close {
    void operator()(sqlite3_stmt* statement) const;
  };
  ForeignRows(ForeignDatabase& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  ForeignDatabase* database_;
  std::unique_ptr<sqlite3_stmt, Close> statement_;
};

class ForeignDatabase {
 public:
  // Errors (bad input): it cannot be opened. A damaged one is opened: see fault().
  static Result<ForeignDatabase> open(const std::string& path);

  // Tables alone: a view is none.
  const std::vector<std::string>& tables() const { return tables_; }
  bool has(std::string_view table) const;
  // The rows in the order of the file. Columns that the table lacks are NULL; of a table that is not there
  // there are none.
  ForeignRows rows(std::string_view table, std::initializer_list<std::string_view> columns);

  const std::optional<std::string>& fault() const { return fault_; }

 private:
  friend class ForeignRows;
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  explicit ForeignDatabase(sqlite3* connection) : connection_(connection) {}
  sqlite3_stmt* prepare(const std::string& sql);
  void note_fault();

  std::unique_ptr<sqlite3, Close> connection_;
  std::vector<std::string> tables_;
  std::optional<std::string> fault_;
};

}  // namespace deepgap::trace
