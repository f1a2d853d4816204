#include "run/message_stream.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace deepgap::run {
namespace {

struct ElementTypeName {
  ElementType type;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<ElementTypeName, 6> kElementTypes{{{ElementType::kI64, "i64", 8},
                                                        {ElementType::kI32, "i32", 4},
                                                        {ElementType::kU8, "u8", 1},
                                                        {ElementType::kF32, "f32", 4},
                                                        {ElementType::kF64, "f64", 8},
                                                        {ElementType::kBytes, "bytes", 1}}};

constexpr std::size_t kReadSize = std::size_t{64} * 1024;  // what a Linux pipe holds
constexpr std::size_t kBlobStep = std::size_t{1} << 20;
constexpr std::size_t kShown = 60;  // bytes of a broken line that its error quotes

Nanoseconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Nanoseconds(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}

std::optional<Nanoseconds> deadline_of(const std::optional<Nanoseconds>& timeout) {
  if (!timeout) return std::nullopt;
  return now() + *timeout;
}

void make_non_blocking(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0) fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

enum class Wait { kReady, kTimedOut };

// Until the descriptor can be read or written (or its other end is closed, which the next call on it tells).
Wait wait_for(int descriptor, short events, const std::optional<Nanoseconds>& deadline_at) {
  int timeout_ms = -1;
  if (deadline_at) {
    // Rounded up, so that the last part of a millisecond is not spent spinning.
    const std::int64_t left_ms = ((*deadline_at - now()).count() + 999'999) / 1'000'000;
    timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 1 << 30));
  }
  pollfd entry{descriptor, events, 0};
  return ::poll(&entry, 1, timeout_ms) > 0 ? Wait::kReady : Wait::kTimedOut;
}

std::string reason_of(int error) {
  return std::string(std::strerror(error));
}

// A write to a pipe without a reader raises SIGPIPE, and pipes know no flag against it. This thread blocks
// the signal meanwhile and takes back the one that its own write made.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    if (!was_pending_) {
      const timespec at_once{};
      while (sigtimedwait(&sigpipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

// The JSON library goes through values recursively when it writes or copies them: a line of brackets would
// take the whole stack.
bool is_nested_too_deeply(std::string_view json) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kNestingLimit) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

// The blobs that a header lists, still empty, with their sizes in bytes.
struct ListedBlobs {
  std::vector<Blob> blobs;
  std::vector<std::size_t> sizes;
};
Result<ListedBlobs> listed_blobs(const nlohmann::json& header) {
  ListedBlobs blobs;
  const auto list = header.find("blobs");
  if (list == header.end()) return blobs;
  if (!list->is_array()) return bad_input("expected 'blobs' to be a list, found another type");
  if (list->size() > kBlobCountLimit)
    return bad_input(fmt::format("expected at most {} blobs, found {}", kBlobCountLimit, list->size()));
  std::int64_t left = kBlobLimit;
  for (const auto& entry : *list) {
    const auto name = entry.is_object() ? entry.find("name") : entry.end();
    const auto type = entry.is_object() ? entry.find("type") : entry.end();
    const auto count = entry.is_object() ? entry.find("count") : entry.end();
    if (!entry.is_object() || name == entry.end() || !name->is_string() || type == entry.end() ||
        !type->is_string() || count == entry.end() || !count->is_number_integer())
      return bad_input(
          "expected a blob to have a name, a type and a whole count, found '" +
          printable(entry.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), kShown) + "'");
    const auto element = parse_element_type(type->get_ref<const std::string&>());
    if (!element)
      return bad_input("expected a blob's type to be i64, i32, u8, f32, f64 or bytes, found '" +
                       printable(type->get_ref<const std::string&>(), kShown) + "'");
    const auto size = static_cast<std::int64_t>(element_size(*element));
    // A count above what fits int64 is unsigned in JSON and negative here.
    const auto elements = count->get<std::int64_t>();
    if (elements < 0 || elements > left / size)
      return bad_input(fmt::format("expected blobs of at most {} bytes in all, found '{}' with the count {}",
                                   kBlobLimit, printable(name->get_ref<const std::string&>(), kShown),
                                   count->dump()));
    left -= elements * size;
    blobs.blobs.push_back({name->get<std::string>(), *element, {}});
    blobs.sizes.push_back(static_cast<std::size_t>(elements * size));
  }
  return blobs;
}

}  // namespace

std::string_view name_of(ElementType type) {
  for (const auto& entry : kElementTypes)
    if (entry.type == type) return entry.name;
  return {};
}

std::optional<ElementType> parse_element_type(std::string_view name) {
  for (const auto& entry : kElementTypes)
    if (entry.name == name) return entry.type;
  return std::nullopt;
}

std::size_t element_size(ElementType type) {
  for (const auto& entry : kElementTypes)
    if (entry.type == type) return entry.size;
  return 1;
}

Blob blob_of(std::string name, std::span<const std::int64_t> values) {
  const auto bytes = std::as_bytes(values);
  return {std::move(name), ElementType::kI64, {bytes.begin(), bytes.end()}};
}

std::vector<std::int64_t> int64_values(const Blob& blob) {
  std::vector<std::int64_t> values(blob.bytes.size() / sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(values.data(), blob.bytes.data(), values.size() * sizeof(std::int64_t));
  return values;
}

Message make_message(nlohmann::json header, std::vector<Blob> blobs) {
  if (!blobs.empty()) {
    auto& list = header["blobs"] = nlohmann::json::array();
    for (const auto& blob : blobs)
      list.push_back({{"name", blob.name},
                      {"type", std::string(name_of(blob.type))},
                      {"count", blob.bytes.size() / element_size(blob.type)}});
  }
  return {header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), std::move(blobs)};
}

MessageReader::MessageReader(int descriptor) : descriptor_(descriptor) {
  make_non_blocking(descriptor);
}

Result<ReadOutcome> MessageReader::read(std::optional<Nanoseconds> timeout) {
  const auto deadline_at = deadline_of(timeout);
  for (;;) {
    if (lost_)
      return bad_input("expected a message, found what follows a broken blob: nothing more can be read here");
    if (pending_) {
      while (blob_index_ < pending_->blobs.size()) {
        auto& bytes = pending_->blobs[blob_index_].bytes;
        const std::size_t size = blob_sizes_[blob_index_];
        const std::size_t taken = std::min(end_ - begin_, size - blob_filled_);
        if (bytes.size() < blob_filled_ + taken) bytes.resize(blob_filled_ + taken);
        if (taken > 0) std::memcpy(bytes.data() + blob_filled_, buffer_.data() + begin_, taken);
        begin_ += taken;
        blob_filled_ += taken;
        if (blob_filled_ < size) break;
        bytes.resize(size);
        ++blob_index_;
        blob_filled_ = 0;
      }
      if (blob_index_ == pending_->blobs.size()) {
        ReadOutcome outcome{ReadStatus::kMessage, std::move(*pending_)};
        pending_.reset();
        return outcome;
      }
    } else {
      scanned_ = std::max(scanned_, begin_);
      const auto* line_end = static_cast<const char*>(
          end_ > scanned_ ? std::memchr(buffer_.data() + scanned_, '\n', end_ - scanned_) : nullptr);
      if (line_end != nullptr) {
        const auto length = static_cast<std::size_t>(line_end - buffer_.data()) - begin_;
        const std::string_view line(buffer_.data() + begin_, length);
        begin_ += length + 1;
        scanned_ = begin_;
        if (std::exchange(skipping_, false)) continue;
        DEEPGAP_RETURN_IF_ERROR(take_line(line));
        continue;
      }
      scanned_ = end_;
      if (end_ - begin_ >= kLineLimit) {
        begin_ = scanned_ = end_ = 0;
        if (!std::exchange(skipping_, true))
          return bad_input(fmt::format("expected lines of at most {} bytes, found a longer one", kLineLimit));
        continue;
      }
    }
    DEEPGAP_ASSIGN(const Fill filled, fill(deadline_at));
    if (filled == Fill::kTimedOut) return ReadOutcome{ReadStatus::kTimedOut, {}};
    if (filled == Fill::kEnded) {
      if (pending_) {
        lost_ = true;
        const Blob& blob = pending_->blobs[blob_index_];
        return bad_input(fmt::format("expected {} bytes of the blob '{}', found the end after {}",
                                     blob_sizes_[blob_index_], printable(blob.name, kShown), blob_filled_));
      }
      if (end_ > begin_) {
        const std::string rest = printable(std::string_view(buffer_.data() + begin_, end_ - begin_), kShown);
        begin_ = scanned_ = end_ = 0;
        return bad_input("expected a line with its end, found the end of the pipe after '" + rest + "'");
      }
      return ReadOutcome{ReadStatus::kEnded, {}};
    }
  }
}

Result<void> MessageReader::take_line(std::string_view line) {
  if (line.size() >= kLineLimit)
    return bad_input(fmt::format("expected lines of at most {} bytes, found a longer one", kLineLimit));
  if (is_nested_too_deeply(line))
    return bad_input(fmt::format("expected a line nested at most {} deep, found a deeper one in '{}'",
                                 kNestingLimit, printable(line, kShown)));
  const auto header = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return bad_input("expected a line with one JSON object, found '" + printable(line, kShown) + "'");
  auto blobs = listed_blobs(header);
  if (!blobs.ok()) {
    lost_ = true;  // how many bytes follow is not known
    return std::move(blobs).error();
  }
  pending_.emplace(Message{std::string(line), std::move(blobs->blobs)});
  blob_sizes_ = std::move(blobs->sizes);
  blob_index_ = 0;
  blob_filled_ = 0;
  return {};
}

// Waits for bytes and reads them: straight into a large blob, else into the buffer.
Result<MessageReader::Fill> MessageReader::fill(const std::optional<Nanoseconds>& deadline_at) {
  if (begin_ == end_) begin_ = end_ = scanned_ = 0;
  char* target = nullptr;
  std::size_t room = 0;
  const bool into_blob = pending_.has_value();  // then the buffer is empty
  if (into_blob) {
    // Room grows with what has come: a header that lists gigabytes is not believed before.
    auto& bytes = pending_->blobs[blob_index_].bytes;
    const std::size_t size = blob_sizes_[blob_index_];
    if (bytes.size() == blob_filled_) bytes.resize(std::min(size, std::max(kBlobStep, 2 * blob_filled_)));
    target = reinterpret_cast<char*>(bytes.data() + blob_filled_);
    room = bytes.size() - blob_filled_;
  } else {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      scanned_ -= begin_;
      begin_ = 0;
    }
    if (buffer_.size() - end_ < kReadSize) buffer_.resize(end_ + kReadSize);
    target = buffer_.data() + end_;
    room = kReadSize;
  }
  for (;;) {
    const ssize_t count = ::read(descriptor_, target, room);
    if (count > 0) {
      (into_blob ? blob_filled_ : end_) += static_cast<std::size_t>(count);
      return Fill::kBytes;
    }
    if (count == 0) return Fill::kEnded;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
      return internal_error("expected to read a message, found: " + reason_of(errno));
    if (wait_for(descriptor_, POLLIN, deadline_at) == Wait::kTimedOut) return Fill::kTimedOut;
  }
}

MessageWriter::MessageWriter(int descriptor) : descriptor_(descriptor) {
  make_non_blocking(descriptor);
}

Result<void> MessageWriter::write(const Message& message, std::optional<Nanoseconds> timeout) {
  if (message.header.size() >= kLineLimit)
    return internal_error(
        fmt::format("expected a message of at most {} bytes, found {}: send its lists as blobs", kLineLimit,
                    message.header.size() + 1));
  const auto deadline_at = deadline_of(timeout);
  const SigpipeBlocked sigpipe_blocked;
  const auto write_all = [&](const char* data, std::size_t size) -> Result<void> {
    while (size > 0) {
      const ssize_t count = ::write(descriptor_, data, size);
      if (count >= 0) {
        data += count;
        size -= static_cast<std::size_t>(count);
      } else if (errno == EPIPE) {
        return bad_input("expected the other side to read this message, found that it has closed its pipe");
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (wait_for(descriptor_, POLLOUT, deadline_at) == Wait::kTimedOut && deadline_at &&
            now() >= *deadline_at)
          return bad_input("expected the other side to read this message within " +
                           format_duration(*timeout) + ", found that it did not");
      } else if (errno != EINTR) {
        return internal_error("expected to write a message, found: " + reason_of(errno));
      }
    }
    return {};
  };
  const std::string line = message.header + '\n';
  DEEPGAP_RETURN_IF_ERROR(write_all(line.data(), line.size()));
  for (const auto& blob : message.blobs)
    DEEPGAP_RETURN_IF_ERROR(write_all(reinterpret_cast<const char*>(blob.bytes.data()), blob.bytes.size()));
  return {};
}

}  // namespace deepgap::run
