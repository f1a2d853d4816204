#include "trace/host_threads.h"

#include <numeric>

namespace deepgap::trace {
namespace {

bool runs_on_host(Role role) {
  return role == Role::kOp || role == Role::kRuntimeCall;
}

}  // namespace

HostThreads::HostThreads(const Timeline& timeline, const HostNames& names) {
  const std::vector<Event>& events = timeline.events;
  std::vector<bool> launches(events.size(), false);
  for (const std::uint32_t call : timeline.calls) {
    if (call != kNoEvent) launches[call] = true;
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].role == Role::kRuntimeCall && names.call(events[i]) == CallKind::kLaunch)
      launches[i] = true;
  }
  const auto fill = [&](ByLane& lanes, auto belongs) {
    lanes.begin.assign(timeline.lanes.size() + 1, 0);
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (belongs(i)) ++lanes.begin[events[i].lane + 1];
    }
    std::partial_sum(lanes.begin.begin(), lanes.begin.end(), lanes.begin.begin());
    lanes.all.resize(lanes.begin.back());
    std::vector<std::size_t> at(lanes.begin.begin(), lanes.begin.end() - 1);
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (belongs(i)) lanes.all[at[events[i].lane]++] = static_cast<std::uint32_t>(i);
    }
  };
  fill(events_, [&](std::size_t i) { return runs_on_host(events[i].role); });
  fill(launches_, [&](std::size_t i) { return launches[i]; });
}

}  // namespace deepgap::trace
