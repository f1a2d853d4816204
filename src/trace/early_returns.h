// Waits that end before what they waited for: the device's clock, as the trace has it, is late.
//
//   early_returns(timeline, rounding_ns).count
#pragma once

#include <cstdint>

#include "trace/timeline.h"

namespace deepgap::trace {

struct EarlyReturns {
  std::int64_t waits = 0;  // that were looked at: for a device, or for the copy that was launched before
  std::int64_t count = 0;  // that return more than the rounding before their work ends
  std::int64_t most_ns = 0;
};

EarlyReturns early_returns(const Timeline& timeline, std::int64_t rounding_ns);

}  // namespace deepgap::trace
