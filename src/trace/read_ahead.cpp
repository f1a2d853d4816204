#include "trace/read_ahead.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace deepgap::trace {

ReadAhead::ReadAhead(Input input) : input_(std::move(input)) {
  for (std::string& buffer : buffers_) buffer.resize(kBufferSize);
  thread_ = std::thread([this] { fill(); });
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::fill() {
  for (;;) {
    std::size_t slot = 0;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || filled_ - given_ < kBuffers; });
      if (stopped_) return;
      slot = filled_ % kBuffers;
    }
    std::optional<Error> error;
    std::size_t count = 0;
    try {
      Result<std::size_t> got = input_(buffers_[slot]);
      if (got.ok()) {
        count = *got;
      } else {
        error = got.error();
      }
    } catch (const std::exception& exception) {  // no memory left
      error = internal_error(exception.what());
    }
    {
      const std::lock_guard lock(mutex_);
      sizes_[slot] = count;
      if (count > 0) ++filled_;
      complete_ = count == 0;
      error_ = std::move(error);
    }
    changed_.notify_all();
    if (count == 0) return;
  }
}

Result<std::size_t> ReadAhead::read(std::span<char> into) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return complete_ || filled_ > given_; });
    if (filled_ == given_) {
      ended_ = true;
      if (error_) return *error_;
      return std::size_t{0};
    }
  }
  const std::size_t slot = given_ % kBuffers;
  const std::size_t count = std::min(into.size(), sizes_[slot] - at_);
  std::copy_n(buffers_[slot].data() + at_, count, into.data());
  at_ += count;
  if (at_ == sizes_[slot]) {
    at_ = 0;
    const std::lock_guard lock(mutex_);
    ++given_;
    changed_.notify_all();
  }
  return count;
}

}  // namespace deepgap::trace
