#include "trace/launches.h"

#include <algorithm>
#include <utility>

namespace deepgap::trace {

std::vector<std::uint32_t> launching_calls(const Timeline& timeline) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> calls;
  for (std::uint32_t i = 0; i < timeline.events.size(); ++i) {
    const Event& event = timeline.events[i];
    if (event.role == Role::kRuntimeCall && event.correlation != kNoId)
      calls.emplace_back(event.correlation, i);
  }
  std::sort(calls.begin(), calls.end());
  std::vector<std::uint32_t> found(timeline.events.size(), kNoEvent);
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const Event& event = timeline.events[i];
    if (!on_device(event.role) || event.correlation == kNoId) continue;
    // Of several calls with one id, which some traces have, the last that begins before the work does.
    auto call = std::upper_bound(calls.begin(), calls.end(),
                                 std::pair(event.correlation, static_cast<std::uint32_t>(i)));
    if (call != calls.begin() && std::prev(call)->first == event.correlation) {
      found[i] = std::prev(call)->second;
    } else if (call != calls.end() && call->first == event.correlation) {
      found[i] = call->second;  // by the trace's clocks the work began before its call
    }
  }
  return found;
}

}  // namespace deepgap::trace
