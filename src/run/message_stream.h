// Messages of the worker protocol on a pipe: one JSON object on a line, then the blobs that it lists.
//
//   {"id":3,"ok":true,...,"blobs":[{"name":"host_ns","type":"i64","count":412}]}\n<3296 bytes>
//
// Both ends use it. What a message says is in protocol.h; here it is only cut out of the bytes and checked
// for its form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace deepgap::run {

inline constexpr std::size_t kLineLimit = std::size_t{1} << 20;    // bytes of a line with its end
inline constexpr std::size_t kNestingLimit = 64;                   // objects and lists within each other
inline constexpr std::size_t kBlobCountLimit = 4096;               // blobs of a message
inline constexpr std::int64_t kBlobLimit = std::int64_t{1} << 32;  // bytes of all blobs of a message together

enum class ElementType { kI64, kI32, kU8, kF32, kF64, kBytes };  // "i64", "i32", "u8", "f32", "f64", "bytes"
std::string_view name_of(ElementType type);
std::optional<ElementType> parse_element_type(std::string_view name);
std::size_t element_size(ElementType type);

struct Blob {
  std::string name;
  ElementType type = ElementType::kBytes;
  std::vector<std::byte> bytes;  // little-endian; a multiple of the element's size
};

Blob blob_of(std::string name, std::span<const std::int64_t> values);
// Only for a blob of type i64.
std::vector<std::int64_t> int64_values(const Blob& blob);

struct Message {
  std::string header;  // the JSON object as text, without the line's end; its member "blobs" lists the blobs
  std::vector<Blob> blobs;
};

// The one way to a message that is well formed: adds the list of the blobs to the object.
Message make_message(nlohmann::json header, std::vector<Blob> blobs = {});

// What a read ended with. kTimedOut: nothing whole arrived in time; what came so far is kept for the next
// read. kEnded: the other side closed the pipe between two messages.
enum class ReadStatus { kMessage, kTimedOut, kEnded };
struct ReadOutcome {
  ReadStatus status = ReadStatus::kTimedOut;
  Message message;
};

// Reads messages from a descriptor, which it does not own and makes non-blocking.
// An error is a breach of the form: a line too long, too deeply nested or no JSON object, a blob that ends
// early. After a broken line the next read goes on behind it (so that a program can look at what else comes);
// after a broken blob nothing more is read.
class MessageReader {
 public:
  explicit MessageReader(int descriptor);
  // Without a timeout it waits for ever; zero only takes what is there. A signal that this thread handles
  // ends the wait early, as kTimedOut.
  Result<ReadOutcome> read(std::optional<Nanoseconds> timeout = std::nullopt);

 private:
  enum class Fill { kBytes, kTimedOut, kEnded };
  Result<Fill> fill(const std::optional<Nanoseconds>& deadline_at);
  Result<void> take_line(std::string_view line);

  int descriptor_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;           // first byte in the buffer that is not taken yet
  std::size_t end_ = 0;             // behind the last byte read
  std::size_t scanned_ = 0;         // there is no line end before this
  bool skipping_ = false;           // inside a line that was too long
  bool lost_ = false;               // a blob was broken: what follows it has no known meaning
  std::optional<Message> pending_;  // its header has come, its blobs not all
  std::vector<std::size_t> blob_sizes_;
  std::size_t blob_index_ = 0;   // of the blob that is being filled
  std::size_t blob_filled_ = 0;  // bytes of it that have come
};

// Writes messages to a descriptor, which it does not own and makes non-blocking. SIGPIPE is not raised.
class MessageWriter {
 public:
  explicit MessageWriter(int descriptor);
  // The whole message, or an error: the other side is gone, or did not read for `timeout`, or the message
  // breaks a limit.
  Result<void> write(const Message& message, std::optional<Nanoseconds> timeout = std::nullopt);

 private:
  int descriptor_;
};

}  // namespace deepgap::run
