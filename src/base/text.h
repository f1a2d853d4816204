// Text helpers: what comes from outside is made safe to print, names are matched with suggestions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deepgap {

// Control characters and invalid UTF-8 as \xNN, so that hostile text cannot steer a terminal; at most `limit` bytes.
std::string printable(std::string_view text, std::size_t limit = 400);
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);
std::string lower(std::string_view text);
// The name nearest to `word` by edit distance, or "" when none is near enough to be meant.
std::string nearest_name(std::string_view word, std::span<const std::string> names);
// "unknown engine 'opnvino': did you mean 'openvino'? known are: fake, openvino"
std::string unknown_name(std::string_view what, std::string_view word, std::span<const std::string> names);

}  // namespace deepgap
