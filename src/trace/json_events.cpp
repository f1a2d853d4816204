#include "trace/json_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "trace/json_repair.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10;
constexpr std::string_view kEventsName = "traceEvents";
constexpr std::size_t kLargestName = 4096;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// So much must be seen to tell whether a line begins an event.
constexpr std::size_t kLookAhead = 64;

enum Class : unsigned char { kOther, kQuote, kOpen, kClose, kSeparator, kNewline, kNoJson };

constexpr std::array<unsigned char, 256> make_classes() {
  std::array<unsigned char, 256> classes{};
  classes['"'] = kQuote;
  classes['{'] = classes['['] = kOpen;
  classes['}'] = classes[']'] = kClose;
  classes[','] = classes[':'] = classes[' '] = classes['\t'] = classes['\r'] = kSeparator;
  classes['\n'] = kNewline;
  classes['N'] = classes['I'] = kNoJson;  // NaN, Infinity
  return classes;
}
constexpr std::array<unsigned char, 256> kClasses = make_classes();

// What ends a run of plain characters in a string.
constexpr std::array<bool, 256> make_string_stops() {
  std::array<bool, 256> stops{};
  for (std::size_t control = 0; control < ' '; ++control) stops[control] = true;
  stops['"'] = stops['\\'] = true;
  return stops;
}
constexpr std::array<bool, 256> kStringStops = make_string_stops();

// Within an object or a list: what neither opens nor closes anything.
constexpr std::array<bool, 256> make_inside() {
  std::array<bool, 256> inside{};
  for (std::size_t c = 0; c < inside.size(); ++c) {
    inside[c] = kClasses[c] == kOther || kClasses[c] == kSeparator || kClasses[c] == kNewline;
  }
  return inside;
}
constexpr std::array<bool, 256> kInside = make_inside();

// Past the plain characters of a string, eight at a time: half of a trace is such text.
const char* behind_plain(const char* p, const char* stop) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = kOnes << 7;
  // The high bit of each byte that is zero, and of some behind the first: only the first is looked for.
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighs; };
  while (stop - p >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, sizeof word);
    const std::uint64_t below_space = (word - kOnes * ' ') & ~word & kHighs;
    const std::uint64_t stops = zeros(word ^ (kOnes * '"')) | zeros(word ^ (kOnes * '\\')) | below_space;
    if (stops != 0) break;
    p += sizeof word;
  }
  while (p < stop && !kStringStops[static_cast<unsigned char>(*p)]) ++p;
  return p;
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Whether an event begins here, as the profilers write them: a bracket and one of its first names.
bool begins_event(std::string_view text) {
  const auto skip = [&text] {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  };
  skip();
  if (text.empty() || text.front() != '{') return false;
  text.remove_prefix(1);
  skip();
  return text.starts_with("\"ph\"") || text.starts_with("\"name\"") || text.starts_with("\"cat\"");
}

}  // namespace

JsonEvents::JsonEvents(ByteSource& source) : source_(&source) {
  buffer_.resize(2 * kChunk + kJsonPadding);
}

Result<bool> JsonEvents::fill() {
  if (source_ended_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    base_ += static_cast<std::int64_t>(at_);
    end_ -= at_;
    at_ = 0;
  }
  if (end_ + kChunk + kJsonPadding > buffer_.size()) buffer_.resize(2 * buffer_.size());
  DEEPGAP_ASSIGN(const std::size_t count, source_->read(std::span(buffer_).subspan(end_, kChunk)));
  if (count == 0) source_ended_ = true;
  end_ += count;
  return count > 0;
}

Result<bool> JsonEvents::to_text() {
  for (;;) {
    while (at_ < end_ && is_space(buffer_[at_])) ++at_;
    if (at_ < end_) return true;
    DEEPGAP_ASSIGN(const bool more, fill());
    if (!more) return false;
  }
}

Result<JsonEvents::Found> JsonEvents::to_end_of_value(std::size_t limit) {
  std::size_t seen = 0;  // bytes of the value behind at_
  std::size_t depth = 0;
  bool in_string = false;
  bool runs_on = false;  // a string went over the end of a line: its end was missed, or it is no string
  bool too_large = false;
  suspect_ = false;
  for (;;) {
    const char* const begin = buffer_.data() + at_;
    const char* const stop = buffer_.data() + end_;
    const char* p = begin + seen;
    const auto found = [&](const char* value_end) {
      value_end_ = static_cast<std::size_t>(value_end - buffer_.data());
      return too_large ? Found::kTooLarge : Found::kWhole;
    };
    while (p < stop) {
      const auto c = static_cast<unsigned char>(*p);
      if (in_string) {
        if (!kStringStops[c]) {
          p = behind_plain(p + 1, stop);
          continue;
        }
        if (c == '\\') {
          if (stop - p < 2 && !source_ended_) break;  // the next byte belongs to it
          if (p + 1 < stop && !is_escape(p[1])) suspect_ = true;
          p = std::min(p + 2, stop);
          continue;
        }
        if (c == '\n') {
          suspect_ = runs_on = true;
        } else if (c < ' ') {
          suspect_ = true;
        } else {
          in_string = false;
          if (depth == 0) return found(p + 1);
        }
      } else {
        if (depth > 0 && !runs_on && kInside[c]) {
          for (++p; p < stop && kInside[static_cast<unsigned char>(*p)];) ++p;
          continue;
        }
        switch (kClasses[c]) {
          case kQuote:
            in_string = true;
            break;
          case kOpen:
            ++depth;
            break;
          case kClose:
            if (depth == 0) return found(p);  // behind a number or a word
            if (--depth == 0) return found(p + 1);
            break;
          case kSeparator:
          case kNewline:
            if (depth == 0) return found(p);
            break;
          case kNoJson:
            suspect_ = true;
            break;
          default:
            break;
        }
      }
      if (c == '\n' && runs_on) {
        if (static_cast<std::size_t>(stop - p) < kLookAhead && !source_ended_) break;
        if (begins_event(std::string_view(p, static_cast<std::size_t>(stop - p)))) return found(p);
      }
      ++p;
    }
    seen = static_cast<std::size_t>(p - begin);
    if (seen > limit) {
      too_large = true;
      at_ += seen;
      seen = 0;
    }
    const bool all_seen = at_ + seen == end_;
    DEEPGAP_ASSIGN(const bool more, fill());
    if (more || !all_seen) continue;
    value_end_ = end_;
    if (in_string || depth > 0) return Found::kCut;
    return too_large ? Found::kTooLarge : Found::kWhole;  // a number or a word that ends the file
  }
}

Result<void> JsonEvents::start() {
  DEEPGAP_ASSIGN(bool more, fill());
  if (std::string_view(buffer_).substr(0, end_).starts_with(kByteOrderMark)) {
    damage_.byte_order_mark = true;
    at_ = kByteOrderMark.size();
  }
  DEEPGAP_ASSIGN(more, to_text());
  const char first = more ? buffer_[at_] : '\0';
  if (first != '{' && first != '[') {
    return bad_input(fmt::format("{}: expected JSON, an object or a list of events, found {}",
                                 printable(source_->path()),
                                 more ? fmt::format("'{}'", printable(std::string_view(buffer_).substr(
                                                                at_, std::min<std::size_t>(end_ - at_, 40))))
                                      : "nothing"));
  }
  ++at_;
  in_object_ = first == '{';
  where_ = in_object_ ? Where::kObject : Where::kList;
  has_list_ = !in_object_;
  return {};
}

// A name, a colon and a value; false where the file ends within.
Result<bool> JsonEvents::take_member() {
  DEEPGAP_ASSIGN(Found found, to_end_of_value(kLargestName));
  if (found == Found::kCut) return false;
  std::string name;
  if (found == Found::kWhole) name.assign(buffer_, at_ + 1, value_end_ - at_ - 2);
  at_ = value_end_;
  DEEPGAP_ASSIGN(bool more, to_text());
  if (more && buffer_[at_] == ':') {
    ++at_;
    DEEPGAP_ASSIGN(more, to_text());
  }
  if (!more) return false;
  if (name == kEventsName && buffer_[at_] == '[') {
    ++at_;
    has_list_ = true;
    where_ = Where::kList;
    return true;
  }
  const std::size_t room = kLargestMembers - members_size_;
  DEEPGAP_ASSIGN(found, to_end_of_value(room));
  if (found == Found::kCut) return false;
  const std::size_t size = value_end_ - at_;
  if (found == Found::kTooLarge || size + name.size() > room) {
    ++damage_.members_left_out;
  } else if (size > 0) {
    if (suspect_) ++damage_.members_suspect;
    members_size_ += size + name.size();
    members_.insert_or_assign(std::move(name), buffer_.substr(at_, size));
  }
  at_ = value_end_;
  return true;
}

Result<std::optional<JsonText>> JsonEvents::next() {
  if (where_ == Where::kStart) DEEPGAP_RETURN_IF_ERROR(start());
  bool comma = false;
  while (where_ != Where::kEnd) {
    DEEPGAP_ASSIGN(const bool more, to_text());
    if (!more) {
      // A list alone may leave its closing bracket out: the format's description allows it.
      if (in_object_) damage_.ended_early = true;
      where_ = Where::kEnd;
      break;
    }
    const char c = buffer_[at_];
    if (where_ == Where::kObject) {
      if (c == '"') {
        DEEPGAP_ASSIGN(const bool whole, take_member());
        if (!whole) {
          damage_.ended_early = true;
          where_ = Where::kEnd;
          at_ = end_;
        }
        comma = false;
        continue;
      }
      if (c == '}') where_ = Where::kEnd;
      if (c != ',' && c != '}') ++damage_.stray_bytes;
      ++at_;
      continue;
    }
    if (c == ',') {
      ++at_;
      comma = true;
      continue;
    }
    if (c == ']') {
      ++at_;
      if (comma) ++damage_.trailing_commas;
      where_ = in_object_ ? Where::kObject : Where::kEnd;
      continue;
    }
    comma = false;
    DEEPGAP_ASSIGN(const Found found, to_end_of_value(kLargestEvent));
    const JsonText event{std::string_view(buffer_).substr(at_, value_end_ - at_),
                         base_ + static_cast<std::int64_t>(at_), suspect_};
    // A closing bracket that belongs to nothing ends no value: it is passed over.
    at_ = std::max(value_end_, at_ + (event.text.empty() ? 1 : 0));
    if (found == Found::kCut) {
      ++damage_.lost;
      damage_.ended_early = true;
      where_ = Where::kEnd;
    } else if (found == Found::kTooLarge) {
      ++damage_.lost;
    } else if (c != '{') {
      ++damage_.no_events;
    } else {
      return std::optional(event);
    }
  }
  for (;;) {
    DEEPGAP_ASSIGN(const bool more, to_text());
    if (!more) return std::optional<JsonText>();
    damage_.trailing_bytes += static_cast<std::int64_t>(end_ - at_);
    at_ = end_;
  }
}

std::optional<std::string_view> JsonEvents::member(std::string_view name) const {
  const auto found = members_.find(name);
  if (found == members_.end()) return std::nullopt;
  return found->second;
}

}  // namespace deepgap::trace
