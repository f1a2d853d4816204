// How the steps of a trace differ from one another, in words.
//
//   step_differences(timeline, steps, {0, 1, 2}, census.busiest_lane, 0.2)
//   -> {"steps take from 9.8 ms to 13.4 ms", "they run from 1160 to 1170 ops"}
#pragma once

#include <string>
#include <vector>

#include "trace/steps.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// Of the steps `chosen` (by their index): their times, where one is off the median by more than `time_share`
// of it, how many ops and kernels they run, where that differs by more than `count_share` of the most, and,
// where these are equal, whether the ops are and their order is.
std::vector<std::string> step_differences(const Timeline& timeline, const Steps& steps,
                                          const std::vector<std::size_t>& chosen, std::uint32_t lane,
                                          double time_share, double count_share);

}  // namespace deepgap::trace
