// The columns of `nvidia-smi --query-gpu=...`, and what of them is used.
//
//   column_of("clocks.current.sm [MHz]")     // a sensor, "clock.sm" in Hz; one of it is 1e6
//   column_of("index")                       // tells devices apart
#pragma once

#include <string>
#include <string_view>

#include "trace/reading.h"

namespace deepgap::trace {

struct QueryColumn {
  enum class Use {
    kTime,
    kDevice,            // tells devices apart
    kDeviceName,        // also does
    kSensor,            // a number
    kPerformanceState,  // "P0" to "P15", a number too
    kActive,            // "Active", "Not Active": 1, 0
    kThrottleMask,
    kFact,    // does not change while the log is written
    kUnknown  // left out
  };
  Use use = Use::kUnknown;
  std::string name;      // as nvidia-smi calls it now, without its unit; for people
  std::string quantity;  // of a number
  Unit unit = Unit::kCount;
  double scale = 1;  // of a number without a unit

  bool is_sensor() const {
    return use == Use::kSensor || use == Use::kPerformanceState || use == Use::kActive ||
           use == Use::kThrottleMask;
  }
};

// By the header's cell. Names that older versions had are known.
QueryColumn column_of(std::string_view header);

}  // namespace deepgap::trace
