#include "trace/host_compute.h"

#include <algorithm>

namespace deepgap::trace {
namespace {

bool computes(OpWork work, bool innermost, bool is_long) {
  switch (work) {
    case OpWork::kComputes:
      return true;
    case OpWork::kUnknown:
    case OpWork::kMoves:
    case OpWork::kPlain:
    case OpWork::kWrapper:
      return innermost;
    case OpWork::kNone:
      return innermost && is_long;
    case OpWork::kRange:
      return false;
  }
  return false;
}

// By start; those that meet or overlap become one.
std::vector<Interval> united(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  std::vector<Interval> all;
  for (const Interval& each : intervals) {
    if (!all.empty() && each.start_ns <= all.back().end_ns) {
      all.back().end_ns = std::max(all.back().end_ns, each.end_ns);
    } else {
      all.push_back(each);
    }
  }
  return all;
}

}  // namespace

bool is_host_only(const Timeline& timeline, const HostNames& names) {
  bool any_op = false;
  for (const Event& event : timeline.events) {
    if (event.role == Role::kKernel || event.role == Role::kCopy || event.role == Role::kMemset) return false;
    if (event.role == Role::kRuntimeCall && puts_work(names.call(event))) return false;
    if (event.role == Role::kOp) any_op = true;
  }
  return any_op;
}

std::vector<Interval> computing_times(const Timeline& timeline, const HostThreads& threads,
                                      const HostNames& names, std::int64_t long_view_ns) {
  struct Open {
    std::uint32_t event;
    std::int64_t end_ns;
    bool innermost;
  };
  std::vector<Interval> found;
  std::vector<Open> open;
  const auto close = [&] {
    const Event& event = timeline.events[open.back().event];
    if (computes(names.op(event), open.back().innermost, event.duration_ns > long_view_ns)) {
      found.push_back({event.start_ns, event.end_ns()});
    }
    open.pop_back();
  };
  for (std::uint32_t lane = 0; lane < threads.lanes(); ++lane) {
    for (const std::uint32_t index : threads.events_of(lane)) {
      const Event& event = timeline.events[index];
      if (event.role != Role::kOp) continue;
      while (!open.empty() && open.back().end_ns <= event.start_ns) close();
      if (!open.empty()) open.back().innermost = false;
      open.push_back({index, event.end_ns(), true});
    }
    while (!open.empty()) close();
  }
  return united(std::move(found));
}

}  // namespace deepgap::trace
