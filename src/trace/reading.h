// What a cell of a log of sensors says.
//
//   read_reading("33.09 W")          // a number, 33.09, with the unit "W"
//   read_reading("[Not Supported]")  // missing: the device has no such sensor
//   read_reading("ERR!")             // a fault: it has one, which could not be read
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/estimate.h"

namespace deepgap::trace {

// What a column or a field of a log measures, and what one of it is in our unit. Its texts live as long as
// the program.
struct Sensor {
  std::string_view quantity;  // "power", "clock.sm": as in core's TelemetrySeries
  Unit unit = Unit::kCount;
  double scale = 1;
};

struct Reading {
  enum class Kind { kMissing, kFault, kNumber, kText };
  Kind kind = Kind::kMissing;
  double value = 0;       // of a number
  std::string_view text;  // the number's unit, "" without one; otherwise the text itself
};

// White space at the ends and quotes around it are nothing. Numbers that are not finite are missing.
Reading read_reading(std::string_view cell);

// What `number` is of a sensor in our unit; nothing where its unit measures something else. Without a unit it
// is in the log's usual one.
std::optional<double> value_of(const Sensor& sensor, const Reading& number);

// "0x0000000000000004", "4".
std::optional<std::uint64_t> read_mask(std::string_view cell);

}  // namespace deepgap::trace
