#include "trace/reading.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/text.h"

namespace deepgap::trace {
namespace {

// As logs write units; bytes and the rest of what one is in ours.
struct WrittenUnit {
  std::string_view name;
  Unit unit;
  double scale;
};
constexpr WrittenUnit kUnits[] = {{"%", Unit::kRatio, 0.01},
                                  {"W", Unit::kWatts, 1},
                                  {"mW", Unit::kWatts, 1e-3},
                                  {"MHz", Unit::kHertz, 1e6},
                                  {"KiB", Unit::kBytes, 1024},
                                  {"MiB", Unit::kBytes, 1024 * 1024},
                                  {"GiB", Unit::kBytes, 1024 * 1024 * 1024},
                                  {"C", Unit::kCelsius, 1},
                                  {"KB/s", Unit::kBytesPerSecond, 1e3},
                                  {"MB/s", Unit::kBytesPerSecond, 1e6},
                                  {"us", Unit::kNanoseconds, 1e3},
                                  {"ms", Unit::kNanoseconds, 1e6},
                                  {"mJ", Unit::kJoules, 1e-3},
                                  {"J", Unit::kJoules, 1}};

// Above is no reading of this world; 64-bit counters are below.
constexpr double kLargest = 1e20;

// nvidia-smi's and DCGM's words for what a device does not have.
constexpr std::string_view kMissing[] = {"",
                                         "-",
                                         "n/a",
                                         "[n/a]",
                                         "not supported",
                                         "[not supported]",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         "not found",
                                         "[not found]",
                                         "[insufficient permissions]",
                                         "[requested functionality has been deprecated]"};
// Other words in brackets are the driver's errors: "[Unknown Error]", "[GPU requires reset]".
constexpr std::string_view kFaults[] = {"err!", "unknown error", "error"};

template <typename Range>
bool holds(const Range& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

std::string_view bare(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
    cell = trim(cell.substr(1, cell.size() - 2));
  return cell;
}

}  // namespace

Reading read_reading(std::string_view cell) {
  cell = bare(cell);
  Reading reading{.text = cell};
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  const std::string_view rest = trim(cell.substr(static_cast<std::size_t>(end - cell.data())));
  // "0x01" is no zero with the unit "x01".
  const bool unit = rest.empty() || std::any_of(std::begin(kUnits), std::end(kUnits),
                                                [rest](const auto& each) { return each.name == rest; });
  if (error == std::errc{} && unit && std::isfinite(value) && std::abs(value) < kLargest) {
    reading.kind = Reading::Kind::kNumber;
    reading.value = value;
    reading.text = rest;
    return reading;
  }
  constexpr std::size_t kLongestWord = 64;
  if (cell.size() > kLongestWord) {
    reading.kind = Reading::Kind::kText;
    return reading;
  }
  const std::string word = lower(cell);
  if (holds(kMissing, word)) return reading;
  const bool bracketed = word.front() == '[' && word.back() == ']';
  reading.kind = bracketed || holds(kFaults, word) ? Reading::Kind::kFault : Reading::Kind::kText;
  return reading;
}

std::optional<double> value_of(const Sensor& sensor, const Reading& number) {
  if (number.text.empty()) return number.value * sensor.scale;
  for (const WrittenUnit& unit : kUnits) {
    if (unit.name == number.text && unit.unit == sensor.unit) return number.value * unit.scale;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> read_mask(std::string_view cell) {
  cell = bare(cell);
  const bool hexadecimal = cell.starts_with("0x") || cell.starts_with("0X");
  if (hexadecimal) cell.remove_prefix(2);
  std::uint64_t mask = 0;
  const auto [end, error] =
      std::from_chars(cell.data(), cell.data() + cell.size(), mask, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
  return mask;
}

}  // namespace deepgap::trace
