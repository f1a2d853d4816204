// The bytes of a compressed file, a piece at a time.
//
//   Unpacker unpacker(packing_of(head), [](std::span<char> into) { return read_more(into); });
//   DEEPGAP_ASSIGN(const std::size_t count, unpacker.read(buffer));     // 0 at the end
//   unpacker.fault()                                                    // why it ended early, if it did
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deepgap::trace {

enum class Packing { kNone, kGzip, kZstd };

// By the file's first bytes.
Packing packing_of(std::string_view head);

class Unpacker {
 public:
  // Up to into.size() bytes of the compressed file; 0 at its end.
  using Input = std::function<Result<std::size_t>(std::span<char> into)>;

  // Not kNone. Several members (gzip) or frames (zstd) after one another are one text.
  Unpacker(Packing packing, Input input);
  ~Unpacker();

  // Up to into.size() bytes; 0 at the end, which is also where the stream is cut off or damaged.
  Result<std::size_t> read(std::span<char> into);
  // "the gzip stream is cut off": what it ended with; absent where it is whole, and before its end.
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  struct Gzip;
  struct Zstd;

  Result<bool> refill();
  Result<std::size_t> read_gzip(std::span<char> into);
  Result<std::size_t> read_zstd(std::span<char> into);

  Input input_;
  std::string packed_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  std::unique_ptr<Gzip> gzip_;
  std::unique_ptr<Zstd> zstd_;
  std::optional<std::string> fault_;
};

}  // namespace deepgap::trace
