// Text helpers: what comes from outside is made safe to print, names are matched with suggestions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deepgap {

// Control characters, marks that reorder or hide text (bidirectional overrides, zero width) and invalid UTF-8
// as \xNN, so that hostile text cannot steer a terminal; at most `limit` bytes, of which the last are "..."
// where it was cut.
std::string printable(std::string_view text, std::size_t limit = 400);
// Whether all of it is UTF-8 as RFC 3629 has it.
bool is_utf8(std::string_view text);
// "a,,b" -> "a", "", "b"; "" -> "".
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
// 1, "step" -> "1 step"; 3, "step" -> "3 steps".
std::string counted(std::int64_t count, std::string_view one);
// Without white space (ASCII) at its ends.
std::string_view trim(std::string_view text);
// ASCII letters only.
std::string lower(std::string_view text);
// The name nearest to `word` by edit distance without regard to case, the first of several; "" when none is
// within a third of the longer one's length.
std::string nearest_name(std::string_view word, std::span<const std::string> names);
// "unknown engine 'opnvino': did you mean 'openvino'? known are: fake, openvino"
std::string unknown_name(std::string_view what, std::string_view word, std::span<const std::string> names);

}  // namespace deepgap
