#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace deepgap {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  // 0: the bytes are no UTF-8
};

// One code point as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  std::uint32_t value = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kSmallest[length] || surrogate || value > 0x10ffff) return {};
  return {value, length};
}

// Characters that a terminal or a reader does not show as themselves: C0, DEL and C1 controls, marks that
// reorder or hide text (Unicode Technical Report 36, section 2.5: bidirectional text; zero width; tags), line
// separators.
bool steers(std::uint32_t c) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr std::array kRanges{Range{0x00, 0x1f},     Range{0x7f, 0x9f},      Range{0xad, 0xad},
                               Range{0x61c, 0x61c},   Range{0x180e, 0x180e},  Range{0x200b, 0x200f},
                               Range{0x2028, 0x202e}, Range{0x2060, 0x206f},  Range{0xfeff, 0xfeff},
                               Range{0xfff9, 0xfffb}, Range{0xe0000, 0xe007f}};
  return std::any_of(kRanges.begin(), kRanges.end(), [c](Range r) { return c >= r.first && c <= r.last; });
}

// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost 1 each, and no
// part is edited twice (Damerau 1964, Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = decode(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text, std::size_t limit) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (text.size() <= limit && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  constexpr std::string_view kMark = "...";
  std::string shown;
  std::size_t cut = 0;  // where `shown` may end so that the mark still fits
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    const std::string_view bytes = text.substr(0, length);
    std::string piece;
    if (point.length == 0 || steers(point.value)) {
      for (const char c : bytes) piece += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      piece = bytes;
    }
    if (shown.size() + piece.size() > limit) {
      shown.resize(cut);
      shown += kMark.substr(0, limit - cut);
      return shown;
    }
    shown += piece;
    if (shown.size() + kMark.size() <= limit) cut = shown.size();
    text.remove_prefix(length);
  }
  return shown;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::string counted(std::int64_t count, std::string_view one) {
  std::string text = std::to_string(count) + " ";
  text += one;
  if (count != 1) text += 's';
  return text;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\n\r\v\f";
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

std::string nearest_name(std::string_view word, std::span<const std::string> names) {
  constexpr std::size_t kLongestWord = 200;  // nobody mistypes one longer, and the distance costs its square
  std::string nearest;
  if (word.empty() || word.size() > kLongestWord) return nearest;
  const std::string wanted = lower(word);
  std::size_t best = 0;
  for (const std::string& name : names) {
    const std::size_t longest = std::max(name.size(), wanted.size());
    if (longest > kLongestWord) continue;
    const std::size_t distance = edit_distance(wanted, lower(name));
    if (distance > longest / 3) continue;
    if (nearest.empty() || distance < best) {
      nearest = name;
      best = distance;
    }
  }
  return nearest;
}

std::string unknown_name(std::string_view what, std::string_view word, std::span<const std::string> names) {
  std::string message = fmt::format("unknown {} '{}':", what, printable(word, 80));
  if (names.empty()) return message + " none is known";
  if (const std::string nearest = nearest_name(word, names); !nearest.empty()) {
    message += fmt::format(" did you mean '{}'?", printable(nearest));
  }
  message += " known are: ";
  for (std::size_t i = 0; i < names.size(); ++i) message += (i > 0 ? ", " : "") + printable(names[i]);
  return message;
}

}  // namespace deepgap
