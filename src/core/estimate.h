// The only shape in which a number reaches a user: point, interval, confidence, n, unit, method.
//
//   {"value": 3214000, "lower": 3190000, "upper": 3240000, "confidence": 0.95, "n": 412, "unit": "ns",
//    "method": "median of process medians, t interval"}
//
// A bound that the sample cannot give is absent; an estimate that cannot be made is an absent Estimate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deepgap {

enum class Unit {
  kNanoseconds,
  kSamplesPerSecond,
  kRatio,  // dimensionless; also shares, 0 to 1
  kCount,
  kBytes,
  kBytesPerSecond,
  kFlops,
  kFlopsPerSecond,
  kHertz,
  kWatts,
  kJoules,
  kCelsius,
};

// As in JSON and the store:
// "ns", "samples/s", "ratio", "count", "B", "B/s", "FLOP", "FLOP/s", "Hz", "W", "J", "degC".
std::string_view name_of(Unit unit);
std::optional<Unit> parse_unit(std::string_view name);

struct Estimate {
  double value = 0;
  std::optional<double> lower;
  std::optional<double> upper;
  double confidence = 0.95;  // of the interval, where it has a bound
  std::int64_t n = 0;        // raw observations it rests on
  Unit unit = Unit::kRatio;
  std::string_view method;  // of a fixed list of texts (stats/interval.h), which live as long as the program
};

// (upper - lower) / 2 over the value, as "within 1 %" means it; nothing without both bounds or where the
// value is not above 0.
std::optional<double> relative_half_width(const Estimate& estimate);

// A value for people: four significant digits (whole numbers in full) in the unit that fits.
//
//   3214000 ns -> "3.214 ms"    1.2e9 B -> "1.2 GB"    812.4 samples/s -> "812.4"    nan -> "-"
//
// Ratios, counts and samples per second go without a unit: the heading says it.
std::string format_value(double value, Unit unit);
// "3.214 ms [3.190, 3.240]": bounds in the unit and with the decimals of the value; an absent bound is "-".
std::string format_estimate(const Estimate& estimate);

}  // namespace deepgap
