// Numbers as profilers' tables write them: with commas between thousands, beside their unit.
//
//   tool_number("10,195,552")               -> 10195552
//   nanoseconds_of("10.2", "usecond")       -> 10200
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace deepgap::trace {

// Nothing for what is no finite number.
std::optional<double> tool_number(std::string_view text);

// "ns", "nsecond", "us", "usecond", "msecond", "s", ...: how many ns one is; nothing for what is no unit of
// time.
std::optional<double> nanoseconds_in(std::string_view unit);

// A length of time, from 0 to 30 years, in whole ns.
std::optional<std::int64_t> nanoseconds_of(std::string_view text, std::string_view unit);

}  // namespace deepgap::trace
