// JSON as known producers get it wrong.
#pragma once

#include <string>
#include <string_view>

namespace deepgap::trace {

// What known producers get wrong, put right: control characters in strings become spaces, a backslash that
// escapes nothing stands for itself, bytes that are no UTF-8 become U+FFFD, NaN and Infinity null, commas
// before a closing bracket go. What else is wrong stays.
std::string repaired(std::string_view text);

// Whether a backslash before it is an escape of JSON.
bool is_escape(char c);

}  // namespace deepgap::trace
