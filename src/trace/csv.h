// Comma-separated values as RFC 4180 has them, a record at a time.
//
//   CsvReader reader(source);
//   std::vector<std::string> fields;
//   for (;;) { DEEPGAP_ASSIGN(const bool more, reader.next(fields)); if (!more) break; ... reader.line() ...
//   }
//
// Lines end with LF or CRLF; a byte order mark and empty lines are left out. A quote inside an unquoted
// field, text behind a closing quote, a quote that is never closed, a NUL byte and a record beyond a megabyte
// are errors that name the line, as is a compressed file that is cut off. (Debian's libcsv streams too, but
// tells no line of an error.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/byte_source.h"

namespace deepgap::trace {

class CsvReader {
 public:
  // `source` outlives it.
  explicit CsvReader(ByteSource& source);

  // The next record's fields; false at the end.
  Result<bool> next(std::vector<std::string>& fields);
  // Where the last record began, from 1.
  std::int64_t line() const { return record_line_; }

 private:
  Result<std::optional<char>> take();
  Error fault(const std::string& what) const;

  ByteSource* source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::int64_t line_ = 1;
  std::int64_t record_line_ = 0;
  bool begun_ = false;
};

// The fields of one line, for tables that stand among other lines; nothing where quotes do not close or do
// not stand at a field's ends.
std::optional<std::vector<std::string>> csv_fields(std::string_view line);

}  // namespace deepgap::trace
