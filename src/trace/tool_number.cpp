#include "trace/tool_number.h"

#include <charconv>
#include <cmath>
#include <string>

#include "base/text.h"

namespace deepgap::trace {

std::optional<double> tool_number(std::string_view text) {
  std::string digits;
  for (const char c : trim(text)) {
    if (c != ',') digits += c;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<double> nanoseconds_in(std::string_view unit) {
  struct Name {
    std::string_view name;
    double ns;
  };
  static constexpr Name kNames[] = {{"ns", 1},        {"nsecond", 1},       {"nanosecond", 1},
                                    {"us", 1e3},      {"usecond", 1e3},     {"\u03BCs", 1e3},
                                    {"\u00B5s", 1e3}, {"microsecond", 1e3}, {"ms", 1e6},
                                    {"msecond", 1e6}, {"millisecond", 1e6}, {"s", 1e9},
                                    {"sec", 1e9},     {"second", 1e9}};
  for (const Name& each : kNames) {
    if (unit == each.name) return each.ns;
  }
  return std::nullopt;
}

std::optional<std::int64_t> nanoseconds_of(std::string_view text, std::string_view unit) {
  const auto number = tool_number(text);
  const auto factor = nanoseconds_in(unit);
  if (!number || !factor) return std::nullopt;
  const double ns = *number * *factor;
  if (!(ns >= 0) || ns > 1e18) return std::nullopt;
  return std::llround(ns);
}

}  // namespace deepgap::trace
