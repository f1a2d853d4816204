// The objects of JSON lists that stand one behind the other in a file, as programs leave them that append to
// it.
//
//   ObjectLists lists(source);
//   for (;;) { DEEPGAP_ASSIGN(const bool more, lines.next(text)); if (!more) break; ... lists.list() ... }
//
// Only the nesting is looked at; what stands in no list is passed over. The file is read as a stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "trace/byte_source.h"

namespace deepgap::trace {

class ObjectLists {
 public:
  // `source` outlives it.
  explicit ObjectLists(ByteSource& source) : source_(&source) {}

  // The next object's text, from '{' to '}'; false at the end. What else stands in a list is passed over.
  Result<bool> next(std::string& object);
  // Which list the last object is of, from 0.
  int list() const { return list_; }
  // Once next() gave false: an object or a list has no end, or an object beyond a megabyte was passed over.
  bool cut_off() const { return open_ || source_->fault().has_value(); }
  std::int64_t too_large() const { return too_large_; }

 private:
  Result<std::optional<char>> take();

  ByteSource* source_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  int depth_ = 0;         // of brackets
  bool in_list_ = false;  // the outermost bracket is a list's
  int list_ = -1;
  bool open_ = false;
  std::int64_t too_large_ = 0;
};

}  // namespace deepgap::trace
