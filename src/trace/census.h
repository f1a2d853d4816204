// What one pass over a trace's events counts, for those who judge it.
//
//   const Census census(timeline);
//   census.ops_with_shapes ... census.host.end_ns ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "trace/timeline.h"

namespace deepgap::trace {

struct Span {
  std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  bool any() const { return start_ns <= end_ns; }
  void widen(const Event& event) {
    start_ns = std::min(start_ns, event.start_ns);
    end_ns = std::max(end_ns, event.end_ns());
  }
};

struct Census {
  explicit Census(const Timeline& timeline);

  Span host;  // all that was recorded of it
  Span ran;   // ops, calls and kernels
  std::int64_t timeless_kernels = 0;
  std::int64_t ops = 0;
  std::int64_t ops_with_shapes = 0;
  std::uint32_t busiest_lane = 0;             // of the thread with most ops
  const Event* longest_annotation = nullptr;  // of the timeline's, which must stay
};

}  // namespace deepgap::trace
