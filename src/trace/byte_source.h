// A foreign file's bytes in their order, a piece at a time: such files have gigabytes and are never read
// whole.
//
//   DEEPGAP_ASSIGN(ByteSource source, ByteSource::open("study.csv"));
//   for (;;) { DEEPGAP_ASSIGN(std::size_t count, source.read(buffer)); if (count == 0) break; ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deepgap::trace {

class ByteSource {
 public:
  // Errors (bad input): what is no file or cannot be read, with the reason.
  static Result<ByteSource> open(const std::string& path);
  ByteSource(ByteSource&& other) noexcept;
  ByteSource& operator=(ByteSource&& other) noexcept;
  ~ByteSource();

  // Up to into.size() bytes; 0 at the end.
  Result<std::size_t> read(std::span<char> into);

  // The first bytes, some 64 KiB; they are still to be read.
  std::string_view head() const { return head_; }
  std::int64_t size() const { return size_; }
  const std::string& path() const { return path_; }

 private:
  ByteSource(std::string path, int descriptor, std::int64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  Result<std::size_t> read_file(std::span<char> into);

  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  std::string head_;
  std::size_t head_given_ = 0;
};

}  // namespace deepgap::trace
