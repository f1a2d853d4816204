// A foreign file's bytes in their order, a piece at a time: such files have gigabytes and are never read
// whole. Files that gzip or zstd compressed give what they hold, texts in UTF-16 the same text in UTF-8; what
// they are is seen from their first bytes, never from the name.
//
//   DEEPGAP_ASSIGN(ByteSource source, ByteSource::open("study.csv"));
//   for (;;) { DEEPGAP_ASSIGN(std::size_t count, source.read(buffer)); if (count == 0) break; ... }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/read_ahead.h"
#include "trace/unpack.h"
#include "trace/utf16.h"

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
  // Of the file as it lies there, and how.
  std::int64_t size() const { return size_; }
  Packing packing() const { return packing_; }
  // Why what a compressed file holds ended early ("the gzip stream is cut off"): known once read() gave 0.
  std::optional<std::string> fault() const;
  const std::string& path() const { return path_; }

 private:
  ByteSource(std::string path, int descriptor, std::int64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
  // Fills head_, from where it is filled already.
  Result<void> read_head();
  Result<std::size_t> read_behind_head(std::span<char> into);
  Result<std::size_t> read_unpacked(std::span<char> into);
  // From here on the file is text in UTF-16.
  void decode_from(ByteOrder order);

  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
  Packing packing_ = Packing::kNone;
  std::unique_ptr<Unpacker> unpacker_;
  bool reads_ahead_ = false;  // a compressed file, behind the head, where it has more than that
  std::unique_ptr<ReadAhead> ahead_;
  std::unique_ptr<Utf16Decoder> decoder_;
  std::string decoded_;  // behind the head, from decoded_given_ on still to be given
  std::size_t decoded_given_ = 0;
  std::string head_;
  std::size_t head_given_ = 0;
};

}  // namespace deepgap::trace
