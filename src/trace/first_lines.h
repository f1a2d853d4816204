// A text file's first lines, to tell its format from.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace deepgap::trace {

// At most `most`, without a byte order mark, empty lines and white space at their ends; the last may be cut.
inline std::vector<std::string_view> first_lines(std::string_view head, std::size_t most) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  std::vector<std::string_view> lines;
  while (!head.empty() && lines.size() < most) {
    const std::size_t end = head.find('\n');
    const std::string_view line = trim(head.substr(0, end));
    if (!line.empty()) lines.push_back(line);
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace deepgap::trace
