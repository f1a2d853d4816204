#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "base/text.h"

namespace deepgap {
namespace {

// A product of two 64-bit numbers must fit: all arithmetic here is exact.
__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr int kSignificantDigits = 4;

struct Step {
  std::string_view name;
  std::uint64_t size;  // in the smallest step
};

constexpr std::array<Step, 6> kTimeSteps{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"min", 60'000'000'000},
                                          {"h", 3'600'000'000'000}}};

constexpr std::array<Step, 7> kByteSteps{{{"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000},
                                          {"PB", 1'000'000'000'000'000},
                                          {"EB", 1'000'000'000'000'000'000}}};

constexpr std::array<std::string_view, 7> kPrefixes{"", "k", "M", "G", "T", "P", "E"};

constexpr std::uint64_t power_of_ten(std::size_t exponent) {
  std::uint64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

void drop_trailing_zeros(std::string& number) {
  if (number.find('.') == std::string::npos) return;
  while (number.back() == '0') number.pop_back();
  if (number.back() == '.') number.pop_back();
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::uint64_t> time_unit(std::string_view name) {
  if (name == "m") return kTimeSteps[4].size;
  for (const Step& step : kTimeSteps) {
    if (step.name == name) return step.size;
  }
  return std::nullopt;
}

// Exact: the value is rounded once, half away from zero, in the unit that is shown; what rounds up to the
// next unit is shown in that.
std::string format_in_steps(std::int64_t value, std::span<const Step> steps) {
  const std::uint64_t magnitude =
      value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  std::size_t index = 0;
  while (index + 1 < steps.size() && magnitude >= steps[index + 1].size) ++index;
  for (;; ++index) {
    const std::uint64_t size = steps[index].size;
    const std::size_t whole_digits = fmt::formatted_size("{}", magnitude / size);
    const std::size_t decimals =
        size == 1 || whole_digits >= kSignificantDigits ? 0 : kSignificantDigits - whole_digits;
    const std::uint64_t scale = power_of_ten(decimals);
    const auto rounded = static_cast<std::uint64_t>((Wide{magnitude} * scale * 2 + size) / (Wide{size} * 2));
    const bool fills_next =
        index + 1 < steps.size() && Wide{rounded} * size >= Wide{steps[index + 1].size} * scale;
    if (fills_next) continue;
    std::string number = fmt::format("{}{}", value < 0 ? "-" : "", rounded / scale);
    if (decimals > 0) number += fmt::format(".{:0{}}", rounded % scale, decimals);
    drop_trailing_zeros(number);
    return fmt::format("{} {}", number, steps[index].name);
  }
}

// |value| rounded once to `digits` significant digits: its digits and the power of ten of the first.
struct Rounded {
  std::string digits;
  int exponent = 0;
};

constexpr std::array<double, 23> powers_of_ten_as_doubles() {  // all of them exact
  std::array<double, 23> powers{};
  double power = 1;
  for (double& one : powers) {
    one = power;
    power *= 10;
  }
  return powers;
}

// round_to() by one multiplication or division, for the few digits of most numbers that are shown: a tenth of
// the time. Nothing where that might round otherwise than the exact value would, and for very large and small
// values.
std::optional<Rounded> round_quickly(double value, int digits) {
  constexpr int kMostDigits = 9;
  constexpr std::array kPowers = powers_of_ten_as_doubles();
  const double magnitude = std::fabs(value);
  if (digits > kMostDigits || !(magnitude >= 1e-9 && magnitude < 1e15)) return std::nullopt;
  int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
  const int steps = digits - 1 - exponent;  // at most 18
  const double scaled = steps >= 0 ? magnitude * kPowers[static_cast<std::size_t>(steps)]
                                   : magnitude / kPowers[static_cast<std::size_t>(-steps)];
  const double whole = std::floor(scaled);
  // `scaled` is off by at most 1e9 / 2^53, some 1e-7.
  if (std::fabs(scaled - whole - 0.5) < 1e-6) return std::nullopt;
  auto rounded = static_cast<std::uint64_t>(scaled - whole > 0.5 ? whole + 1 : whole);
  if (rounded >= power_of_ten(static_cast<std::size_t>(digits))) {  // 9.9996, or log10 just below a power
    rounded /= 10;
    ++exponent;
  }
  if (rounded < power_of_ten(static_cast<std::size_t>(digits - 1)))
    return std::nullopt;  // log10 just above one
  return Rounded{std::to_string(rounded), exponent};
}

Rounded round_to(double value, int digits) {
  if (std::optional<Rounded> rounded = round_quickly(value, digits)) return *std::move(rounded);
  // Enough for the exact value of any double.
  constexpr int kMostDigits = 800;
  std::array<char, kMostDigits + 16> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                          std::chars_format::scientific, std::min(digits, kMostDigits) - 1);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));  // "1.234e-05"
  const std::size_t e = text.find('e');
  Rounded rounded;
  for (const char c : text.substr(0, e)) {
    if (c != '.') rounded.digits += c;
  }
  int exponent = 0;
  for (const char c : text.substr(e + 2)) exponent = exponent * 10 + (c - '0');
  rounded.exponent = text[e + 1] == '-' ? -exponent : exponent;
  return rounded;
}

// The digits with the decimal point after the digit of 10^0, `exponent` being the power of the first one.
std::string place_point(std::string digits, int exponent) {
  if (exponent < 0) {
    digits.insert(0, static_cast<std::size_t>(-exponent), '0');
    exponent = 0;
  }
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  if (digits.size() > whole) digits.insert(whole, 1, '.');
  drop_trailing_zeros(digits);
  return digits;
}

std::string not_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

}  // namespace

Result<Nanoseconds> parse_duration(std::string_view text) {
  const auto fail = [&](std::string_view why) {
    return usage_error(
        fmt::format("expected a duration such as 500ms, 6s or 3m, found '{}': {}", printable(text, 40), why));
  };
  std::string_view rest = trim(text);
  if (rest.empty()) return fail("it is empty");
  if (rest.front() == '-') return fail("it is negative; write one that is not");
  const auto take_digits = [&rest] {
    std::size_t length = 0;
    while (length < rest.size() && is_digit(rest[length])) ++length;
    const std::string_view digits = rest.substr(0, length);
    rest.remove_prefix(length);
    return digits;
  };
  const std::string_view whole_digits = take_digits();
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = take_digits();
  }
  if (whole_digits.empty() && fraction.empty()) return fail("it does not begin with a number");
  const std::string_view unit_name = trim(rest);
  if (unit_name.empty()) return fail("it has no unit; add one of ns, us, ms, s, m, h");
  const std::optional<std::uint64_t> unit = time_unit(unit_name);
  if (!unit) {
    return fail(
        fmt::format("'{}' is no unit known here; use one of ns, us, ms, s, m, h", printable(unit_name, 20)));
  }

  Wide total = 0;
  for (const char digit : whole_digits) {
    total = total * 10 + static_cast<unsigned>(digit - '0');
    if (total > kLargest) return fail("it is longer than 292 years; write a shorter one");
  }
  total *= *unit;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  // An hour has 3.6e12 ns, so more than 18 decimals never make whole nanoseconds.
  const std::string_view too_fine = "it is finer than a nanosecond; write fewer decimals";
  if (fraction.size() > 18) return fail(too_fine);
  std::uint64_t numerator = 0;
  for (const char digit : fraction) numerator = numerator * 10 + static_cast<std::uint64_t>(digit - '0');
  const Wide parts = Wide{numerator} * *unit;
  const std::uint64_t scale = power_of_ten(fraction.size());
  if (parts % scale != 0) return fail(too_fine);
  total += parts / scale;
  if (total > kLargest) return fail("it is longer than 292 years; write a shorter one");
  return Nanoseconds{static_cast<std::int64_t>(total)};
}

std::string format_duration(Nanoseconds duration) {
  return format_in_steps(duration.count(), kTimeSteps);
}

std::string format_bytes(Bytes size) {
  return format_in_steps(size.value, kByteSteps);
}

std::string format_count(double count, std::string_view unit) {
  std::string number = format_number(count, kSignificantDigits);
  std::string_view prefix;
  if (std::fabs(count) >= 1 && std::isfinite(count)) {
    const Rounded rounded = round_to(count, kSignificantDigits);
    const std::size_t index = std::min(static_cast<std::size_t>(rounded.exponent) / 3, kPrefixes.size() - 1);
    prefix = kPrefixes[index];
    const int shown_exponent = rounded.exponent - 3 * static_cast<int>(index);
    number = fmt::format("{}{}", count < 0 ? "-" : "", place_point(rounded.digits, shown_exponent));
  }
  if (prefix.empty() && unit.empty()) return number;
  return fmt::format("{} {}{}", number, prefix, unit);
}

std::string format_number(double value, int digits) {
  if (!std::isfinite(value)) return not_finite(value);
  if (value == 0) return "0";
  const Rounded rounded = round_to(value, std::max(digits, 1));
  const std::string_view sign = value < 0 ? "-" : "";
  if (rounded.exponent >= -4 && rounded.exponent < 9) {
    return std::string(sign).append(place_point(rounded.digits, rounded.exponent));
  }
  return fmt::format("{}{}e{}{:02}", sign, place_point(rounded.digits, 0), rounded.exponent < 0 ? '-' : '+',
                     std::abs(rounded.exponent));
}

}  // namespace deepgap
