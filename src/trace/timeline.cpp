#include "trace/timeline.h"

#include <algorithm>
#include <utility>

namespace deepgap::trace {
namespace {

// Joined by the correlation.
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

}  // namespace

void finish(Timeline& timeline) {
  std::stable_sort(timeline.events.begin(), timeline.events.end(), [](const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.duration_ns > b.duration_ns;
  });
  timeline.calls = launching_calls(timeline);
}

Total total_of(const Timeline& timeline, Role role) {
  Total total;
  for (const Event& event : timeline.events) {
    if (event.role != role) continue;
    ++total.count;
    if (__builtin_add_overflow(total.ns, event.duration_ns, &total.ns)) {
      total.ns = std::numeric_limits<std::int64_t>::max();
    }
  }
  return total;
}

bool on_device(Role role) {
  return role >= Role::kKernel;
}

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"op",       "runtime_call",     "python_call", "annotation",
                                         "overhead", "kernel",           "copy",        "memset",
                                         "wait",     "device_annotation"};
  return kNames[static_cast<std::size_t>(role)];
}

}  // namespace deepgap::trace
