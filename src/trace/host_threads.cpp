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
  events_.begin.assign(timeline.lanes.size() + 1, 0);
  launches_.begin = events_.begin;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (!runs_on_host(event.role)) continue;
    if (event.role == Role::kRuntimeCall && puts_work(names.call(event))) launches[i] = true;
    ++events_.begin[event.lane + 1];
    if (launches[i]) ++launches_.begin[event.lane + 1];
  }
  const auto make_room = [](ByLane& lanes) {
    std::partial_sum(lanes.begin.begin(), lanes.begin.end(), lanes.begin.begin());
    lanes.all.resize(lanes.begin.back());
    return std::vector<std::size_t>(lanes.begin.begin(), lanes.begin.end() - 1);
  };
  std::vector<std::size_t> next_event = make_room(events_);
  std::vector<std::size_t> next_launch = make_room(launches_);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!runs_on_host(events[i].role)) continue;
    const std::uint32_t lane = events[i].lane;
    events_.all[next_event[lane]++] = static_cast<std::uint32_t>(i);
    if (launches[i]) launches_.all[next_launch[lane]++] = static_cast<std::uint32_t>(i);
  }
}

}  // namespace deepgap::trace
