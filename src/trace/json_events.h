// A profiler's JSON, event by event, without the file ever being held: an object whose member `traceEvents`
// is the list of events, or the list alone.
//
//   JsonEvents events(source);
//   for (;;) {
//     DEEPGAP_ASSIGN(const std::optional<JsonText> event, events.next());
//     if (!event) break;
//     ...                                   // its text, from '{' to '}', with the room that simdjson wants
//   }
//   events.member("deviceProperties")       // what stands beside the list, as text
//   events.damage()                         // what was wrong with the file
//
// Only the nesting is looked at here, not what is nested: an event that is no JSON is given like another. A
// file that ends early ends the list; the event that was cut off is lost and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/byte_source.h"

namespace deepgap::trace {

// Behind the text at least kJsonPadding bytes may be read.
struct JsonText {
  std::string_view text;
  std::int64_t offset = 0;  // of its first byte in the (unpacked) file
  bool suspect = false;     // holds what JSON does not have: repaired() (json_repair.h) mends it
};

inline constexpr std::size_t kJsonPadding = 64;
// An event beyond this is passed over and counted as lost: what it holds is no event of any profiler.
inline constexpr std::size_t kLargestEvent = std::size_t{4} << 20;
// Of the members beside the list, in all.
inline constexpr std::size_t kLargestMembers = std::size_t{4} << 20;

struct JsonDamage {
  std::int64_t lost = 0;       // events that were cut off, ran into the next or were too large
  std::int64_t no_events = 0;  // values of the list that are no objects
  bool byte_order_mark = false;
  bool ended_early = false;  // within the list or an object around it
  std::int64_t trailing_commas = 0;
  std::int64_t trailing_bytes = 0;   // behind the end of the document, white space apart
  std::int64_t stray_bytes = 0;      // between members, where none belong
  std::int64_t members_suspect = 0;  // of those beside the list: for repaired()
  std::int64_t members_left_out = 0;
};

class JsonEvents {
 public:
  // `source` outlives it.
  explicit JsonEvents(ByteSource& source);

  // The next event; nothing at the end. The text lives until the next call.
  // Errors (bad input): the file is neither an object nor a list of objects; it cannot be read.
  Result<std::optional<JsonText>> next();

  // All of them are known only at the end. Absent: no such member, or it was too large.
  std::optional<std::string_view> member(std::string_view name) const;
  const JsonDamage& damage() const { return damage_; }
  // Whether there is a list of events; known at the end.
  bool has_list() const { return has_list_; }

 private:
  enum class Where { kStart, kObject, kList, kEnd };
  enum class Found { kWhole, kEnded, kCut, kTooLarge };

  // From at_ to value_end_; what is over `limit` bytes is passed over.
  // Moves what is left to the front and reads on; false at the end of the source.
  Result<bool> fill();
  // Skips white space; false at the end of the source.
  Result<bool> to_text();
  Result<Found> to_end_of_value(std::size_t limit);
  Result<void> start();
  Result<bool> take_member();

  ByteSource* source_;
  std::string buffer_;
  std::size_t at_ = 0;     // of the value that is looked at
  std::size_t end_ = 0;    // of what was read
  std::int64_t base_ = 0;  // the file's offset of buffer_[0]
  std::size_t value_end_ = 0;
  bool suspect_ = false;  // of the last value
  Where where_ = Where::kStart;
  bool in_object_ = false;
  bool has_list_ = false;
  bool source_ended_ = false;
  JsonDamage damage_;
  std::map<std::string, std::string, std::less<>> members_;
  std::size_t members_size_ = 0;
};

}  // namespace deepgap::trace
