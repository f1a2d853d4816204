// Times of day as logs write them, to nanoseconds since 1970.
//
//   parse_time("2025-09-08T17:26:50+08:00")        its own zone
//   parse_time("2025/06/13 00:27:52.195", offset)  none: the clock was `offset` before UTC
//   parse_time("20250613 00:27:52")                as `nvidia-smi dmon -o DT` writes it
//   parse_time("1749774472.195")                   seconds since 1970; of 13 digits and more, milliseconds
//   and so on
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace deepgap {

// Exact; nothing for what is none of these forms, for a day or an hour that does not exist, for years outside
// 1970 to 2199. `utc_offset_ns` is added to UTC by the clock: +02:00 is 7'200'000'000'000.
std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t utc_offset_ns = 0);

// "+02:00", "-05:30", "+0530", "+2", "Z": nanoseconds; at most 15 hours either way.
std::optional<std::int64_t> parse_utc_offset(std::string_view text);

}  // namespace deepgap
