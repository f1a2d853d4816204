// The rows of a child table in step with a walk over its parents: one query for the whole walk instead of one
// a parent. Private to the module.
//
//   ChildRows rows(connection, "SELECT measurement, ... WHERE measurement <= ? ORDER BY measurement DESC,
//   ..."); DEEPGAP_ASSIGN(bool row, rows.seek(key));      // the first row of this measurement while (row) {
//   use(rows.row()); DEEPGAP_ASSIGN(row, rows.next()); }
//
// As parents are walked newest first, their keys mostly fall, and the child query is read on from where it
// stands. A key that rises (merged stores), or one that lies far ahead (most parents passed over by a
// filter), starts it again there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "store/sqlite.h"

namespace deepgap::store {

class ChildRows {
 public:
  // `sql` selects the parent's key as its first column and takes the greatest key as its parameter.
  static Result<ChildRows> prepare(Connection& connection, std::string_view sql);

  // True: row() is the first row of that parent. False: it has none.
  Result<bool> seek(std::int64_t parent);
  // True: row() is a further row of the same parent.
  Result<bool> next();
  const Statement& row() const { return statement_; }

 private:
  explicit ChildRows(Statement statement) : statement_(std::move(statement)) {}
  Result<void> step();
  Result<void> restart(std::int64_t parent);

  Statement statement_;
  std::optional<std::int64_t> sought_;   // the last parent asked for
  std::optional<std::int64_t> current_;  // the parent of the row; nothing: past the end
};

}  // namespace deepgap::store
