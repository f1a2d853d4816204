// Units as types, and how they are read and written for people.
//
//   parse_duration("500ms") -> 500'000'000 ns        format_duration(40'400'000ns) -> "40.4 ms"
//   format_bytes(Bytes{25'600'000}) -> "25.6 MB"     format_count(4'090'000'000, "FLOP") -> "4.09 GFLOP"
//
// Inside, times are integer nanoseconds and sizes integer bytes. GB is 1e9 bytes, GiB is 2^30.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deepgap {

// A length of time; also a point on CLOCK_MONOTONIC counted from its own zero (names end in _at then).
using Nanoseconds = std::chrono::duration<std::int64_t, std::nano>;

// A whole number of one unit that does not mix with others.
template <typename Tag>
struct Amount {
  std::int64_t value = 0;

  constexpr auto operator<=>(const Amount&) const = default;
  constexpr Amount operator+(Amount other) const { return {value + other.value}; }
  constexpr Amount operator-(Amount other) const { return {value - other.value}; }
  constexpr Amount operator*(std::int64_t factor) const { return {value * factor}; }
  constexpr Amount& operator+=(Amount other) {
    value += other.value;
    return *this;
  }
};

using Bytes = Amount<struct BytesTag>;
using Flops = Amount<struct FlopsTag>;  // floating-point operations; a multiply-add counts as 2

// "250us", "500ms", "6s", "3m", "1h", "40.4ms", as format_duration writes it too ("40.4 ms", "3 min"); exact.
// A number without a unit, a negative one, one that is no whole number of nanoseconds or overflows is an
// error that says so.
Result<Nanoseconds> parse_duration(std::string_view text);

// Four significant digits in the unit that fits: "812 ns", "3.214 ms", "12.41 s", "2.5 min".
std::string format_duration(Nanoseconds duration);
// Decimal prefixes, four significant digits: "612 B", "97.49 MB", "1.207 GB".
std::string format_bytes(Bytes size);
// Any count with a decimal prefix: format_count(25.56e6, "") -> "25.56 M", (7.8e9, "FLOP") -> "7.8 GFLOP".
std::string format_count(double count, std::string_view unit);
// At most `digits` significant digits, no exponent between 1e-4 and 1e9, no trailing zeros.
std::string format_number(double value, int digits = 4);

}  // namespace deepgap
