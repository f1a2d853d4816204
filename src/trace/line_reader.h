// The lines of a text file, one at a time.
//
//   LineReader lines(source);
//   for (std::string line;;) { DEEPGAP_ASSIGN(const bool more, lines.next(line)); if (!more) break; ... }
//
// Lines end with LF or CRLF; a byte order mark is left out. Of a line beyond a megabyte the rest is dropped.
// A compressed file that is cut off gives what it has: cut_off() then says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/byte_source.h"

namespace deepgap::trace {

class LineReader {
 public:
  // `source` outlives it.
  explicit LineReader(ByteSource& source);

  // The next line without its end; false at the end of the file.
  Result<bool> next(std::string& line);
  // Of the last line, from 1.
  std::int64_t number() const { return number_; }
  // Whether the last line has its end; where the file's last has not, it may be a part of one.
  bool ended() const { return ended_; }
  // Why the file ended early, once next() gave false.
  std::optional<std::string> cut_off() const { return source_->fault(); }

 private:
  ByteSource* source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::int64_t number_ = 0;
  bool ended_ = true;
};

}  // namespace deepgap::trace
