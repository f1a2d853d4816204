// Reads on a thread of its own while what was read is worked on, some buffers ahead.
//
//   ReadAhead ahead([&](std::span<char> into) { return unpacker.read(into); });
//   DEEPGAP_ASSIGN(const std::size_t count, ahead.read(into));
//   if (ahead.ended()) ... unpacker.fault() ...                 // the thread no longer touches it
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "base/result.h"

namespace deepgap::trace {

class ReadAhead {
 public:
  // Up to into.size() bytes; 0 at the end.
  using Input = std::function<Result<std::size_t>(std::span<char> into)>;

  // `input`, and what it refers to, is the thread's until ended() or the destructor.
  explicit ReadAhead(Input input);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Up to into.size() bytes; 0 at the end. The input's error comes behind what was read before it.
  Result<std::size_t> read(std::span<char> into);
  // read() gave 0 or an error.
  bool ended() const { return ended_; }

 private:
  static constexpr std::size_t kBuffers = 4;
  static constexpr std::size_t kBufferSize = std::size_t{256} << 10;

  void fill();

  Input input_;
  std::array<std::string, kBuffers> buffers_;
  std::array<std::size_t, kBuffers> sizes_{};
  std::size_t at_ = 0;  // in the buffer that is given
  bool ended_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;      // buffers, since the beginning
  std::size_t given_ = 0;       // likewise
  bool stopped_ = false;        // nobody wants more
  bool complete_ = false;       // nothing more comes
  std::optional<Error> error_;  // why
  std::thread thread_;
};

}  // namespace deepgap::trace
