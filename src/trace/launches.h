// Which call put a piece of work on the device.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "trace/timeline.h"

namespace deepgap::trace {

inline constexpr std::uint32_t kNoEvent = std::numeric_limits<std::uint32_t>::max();

// For each event of the timeline that runs on a device the index of its runtime call, by correlation;
// kNoEvent for others and where the trace lacks the call. One call may have launched hundreds (a graph).
std::vector<std::uint32_t> launching_calls(const Timeline& timeline);

}  // namespace deepgap::trace
