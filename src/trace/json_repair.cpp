#include "trace/json_repair.h"

#include <algorithm>

#include "base/text.h"

namespace deepgap::trace {
namespace {

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

bool is_escape(char c) {
  return std::string_view("\"\\/bfnrtu").find(c) != std::string_view::npos;
}

std::string repaired(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  while (!text.empty()) {
    const char c = text.front();
    std::size_t taken = 1;
    if (in_string) {
      if (c == '"') {
        in_string = false;
        out += c;
      } else if (c == '\\') {
        const bool whole =
            text.size() > 1 && is_escape(text[1]) &&
            (text[1] != 'u' ||
             (text.size() > 5 && std::all_of(text.begin() + 2, text.begin() + 6, is_hexadecimal)));
        out += whole ? text.substr(0, 2) : std::string_view("\\\\");
        if (whole) taken = 2;
      } else if (static_cast<unsigned char>(c) < ' ') {
        out += ' ';
      } else if (static_cast<unsigned char>(c) < 0x80) {
        out += c;
      } else {
        taken = 0;
        for (std::size_t length = 2; length <= 4 && taken == 0; ++length) {
          if (text.size() >= length && is_utf8(text.substr(0, length))) taken = length;
        }
        out += taken > 0 ? text.substr(0, taken) : std::string_view("\xEF\xBF\xBD");
        taken = std::max<std::size_t>(taken, 1);
      }
    } else {
      if (c == '"') in_string = true;
      std::string_view word;
      for (const std::string_view each :
           {"NaN", "-NaN", "nan", "-nan", "Infinity", "-Infinity", "Inf", "-Inf", "inf", "-inf"}) {
        if (word.empty() && text.starts_with(each)) word = each;
      }
      if (c == '}' || c == ']') {
        const std::size_t last = out.find_last_not_of(" \n\r\t");
        if (last != std::string::npos && out[last] == ',') out.erase(last, 1);
      }
      if (word.empty()) {
        out += c;
      } else {
        out += "null";
        taken = word.size();
      }
    }
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace deepgap::trace
