#include "store/child_rows.h"

namespace deepgap::store {
namespace {

// A new start costs about as much as some tens of steps.
constexpr int kStepsBeforeRestart = 16;

}  // namespace

Result<ChildRows> ChildRows::prepare(Connection& connection, std::string_view sql) {
  DEEPGAP_ASSIGN(Statement statement, connection.statement(sql));
  return ChildRows(std::move(statement));
}

Result<void> ChildRows::step() {
  DEEPGAP_ASSIGN(const bool row, statement_.step());
  if (row) {
    current_ = statement_.integer(0);
  } else {
    current_.reset();
  }
  return {};
}

Result<void> ChildRows::restart(std::int64_t parent) {
  statement_.bind(parent);
  return step();
}

Result<bool> ChildRows::seek(std::int64_t parent) {
  const bool is_ahead = sought_.has_value() && parent < *sought_;
  sought_ = parent;
  if (!is_ahead) {
    DEEPGAP_RETURN_IF_ERROR(restart(parent));
  } else {
    for (int i = 0; i < kStepsBeforeRestart && current_.has_value() && *current_ > parent; ++i) {
      DEEPGAP_RETURN_IF_ERROR(step());
    }
    if (current_.has_value() && *current_ > parent) DEEPGAP_RETURN_IF_ERROR(restart(parent));
  }
  return current_ == sought_;
}

Result<bool> ChildRows::next() {
  DEEPGAP_RETURN_IF_ERROR(step());
  return current_.has_value() && current_ == sought_;
}

}  // namespace deepgap::store
