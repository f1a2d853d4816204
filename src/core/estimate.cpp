#include "core/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "stats/interval.h"

namespace deepgap {
namespace {

constexpr std::array<std::string_view, 12> kUnitNames{"ns",   "samples/s", "ratio", "count", "B", "B/s",
                                                      "FLOP", "FLOP/s",    "Hz",    "W",     "J", "degC"};
constexpr int kSignificantDigits = 4;

// A multiple of a unit that values are shown in: "ms" of nanoseconds, "GB" of bytes.
struct Scale {
  double size;
  std::string_view prefix;
};
constexpr std::array<Scale, 6> kTimes{
    {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {60e9, "min"}, {3600e9, "h"}}};
constexpr std::array<Scale, 6> kDecimal{
    {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}}};
constexpr std::array<Scale, 1> kPlain{{{1, ""}}};

// How values of a unit are shown: 1.2e9 bytes as "1.2" + " " + "G" + "B".
struct Style {
  std::span<const Scale> scales;
  std::string_view unit;
};

Style style_of(Unit unit) {
  switch (unit) {
    case Unit::kNanoseconds:
      return {kTimes, ""};
    // Headings say samples/s; ratios and counts have no unit.
    case Unit::kSamplesPerSecond:
    case Unit::kRatio:
    case Unit::kCount:
      return {kPlain, ""};
    case Unit::kCelsius:
      return {kPlain, name_of(unit)};
    default:
      return {kDecimal, name_of(unit)};
  }
}

// Digits after the point that leave four significant ones; of 9.99996 two, because it is shown as 10.00.
int decimals_for(double value) {
  const double size = std::abs(value);
  if (size == 0) return 0;
  int decimals = kSignificantDigits - 1 - static_cast<int>(std::floor(std::log10(size)));
  const double shown = std::round(size * std::pow(10, decimals));
  if (shown >= std::pow(10, kSignificantDigits)) --decimals;
  return std::clamp(decimals, 0, 12);
}

// The largest scale in which the value, as shown, is at least 1.
const Scale& scale_for(double value, std::span<const Scale> scales) {
  std::size_t chosen = 0;
  while (chosen + 1 < scales.size() && std::abs(value) >= 0.99995 * scales[chosen + 1].size) ++chosen;
  return scales[chosen];
}

std::string fixed(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  // "-0.00" is no number that anyone wants to read.
  return text.find_first_not_of("-0.") == std::string::npos ? fmt::format("{:.{}f}", 0.0, decimals) : text;
}

std::string without_trailing_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string with_unit(std::string number, const Scale& scale, std::string_view unit) {
  if (scale.prefix.empty() && unit.empty()) return number;
  return number.append(" ").append(scale.prefix).append(unit);
}

}  // namespace

std::string_view name_of(Unit unit) {
  return kUnitNames[static_cast<std::size_t>(unit)];
}

std::optional<Unit> parse_unit(std::string_view name) {
  for (std::size_t i = 0; i < kUnitNames.size(); ++i) {
    if (kUnitNames[i] == name) return static_cast<Unit>(i);
  }
  return std::nullopt;
}

std::optional<double> relative_half_width(const Estimate& estimate) {
  if (!(estimate.value > 0)) return std::nullopt;
  return stats::relative_half_width(estimate.value, estimate.lower, estimate.upper);
}

std::string format_value(double value, Unit unit) {
  if (!std::isfinite(value)) return "-";
  const Style style = style_of(unit);
  const Scale& scale = scale_for(value, style.scales);
  const double shown = value / scale.size;
  return with_unit(without_trailing_zeros(fixed(shown, decimals_for(shown))), scale, style.unit);
}

std::string format_estimate(const Estimate& estimate) {
  if (!std::isfinite(estimate.value)) return "-";
  const Style style = style_of(estimate.unit);
  const Scale& scale = scale_for(estimate.value, style.scales);
  const auto whole = [&](double value) { return std::floor(value / scale.size) == value / scale.size; };
  const auto known = [](const std::optional<double>& bound) { return bound && std::isfinite(*bound); };
  // Point and bounds have the same decimals, so that they can be compared digit by digit.
  const bool all_whole = whole(estimate.value) && (!known(estimate.lower) || whole(*estimate.lower)) &&
                         (!known(estimate.upper) || whole(*estimate.upper));
  const int decimals = all_whole ? 0 : decimals_for(estimate.value / scale.size);
  const auto bound = [&](const std::optional<double>& value) {
    return known(value) ? fixed(*value / scale.size, decimals) : std::string("-");
  };
  return fmt::format("{} [{}, {}]",
                     with_unit(fixed(estimate.value / scale.size, decimals), scale, style.unit),
                     bound(estimate.lower), bound(estimate.upper));
}

}  // namespace deepgap
