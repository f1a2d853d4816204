#include "trace/host_activity.h"

#include <string_view>

namespace deepgap::trace {
namespace {

struct Open {
  std::uint32_t event;
  std::int64_t end_ns;
  HostState state;
  bool copied = false;  // a call in it waited for a copy
};

HostState state_of_call(CallKind kind) {
  switch (kind) {
    case CallKind::kCopy:
      return HostState::kCopying;
    case CallKind::kSynchronise:
      return HostState::kWaiting;
    case CallKind::kAllocate:
      return HostState::kAllocating;
    case CallKind::kLoad:
      return HostState::kLoading;
    case CallKind::kLaunch:
    case CallKind::kOther:
      return HostState::kLaunching;
  }
  return HostState::kLaunching;
}

// An op that launches nothing: whether it computes, or only makes a view and keeps the books. What moves
// data, or is not known, computes where it takes its time.
HostState state_without_launch(OpWork work, bool is_long) {
  return work == OpWork::kComputes || is_long ? HostState::kCpuOp : HostState::kBookkeeping;
}

bool can_be_interrupted(HostState state) {
  return state == HostState::kLaunching || state == HostState::kBookkeeping;
}

}  // namespace

Host::Host(const Timeline& trace, const HostLimits& with)
    : timeline(trace),
      limits(with),
      names(trace),
      threads(trace, names),
      causes(find_causes(trace, names, threads, with.causes)) {
  std::vector<bool> is_pageable(timeline.texts.size(), false);
  for (std::uint32_t text = 0; text < is_pageable.size(); ++text) {
    is_pageable[text] = timeline.texts[text].find("Pageable") != std::string_view::npos;
  }
  if (std::find(is_pageable.begin(), is_pageable.end(), true) == is_pageable.end()) return;
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    const Event& work = timeline.events[i];
    if (work.role != Role::kCopy || timeline.calls[i] == kNoEvent || !is_pageable[work.name]) continue;
    pageable[timeline.calls[i]] =
        work.duration_ns >= limits.real_copy_ns ? HostState::kCopying : HostState::kWaiting;
  }
}

HostActivity::HostActivity(const Host& host, std::uint32_t lane) {
  const std::vector<Event>& events = host.timeline.events;
  const std::span<const std::uint32_t> own = host.threads.events_of(lane);
  const std::span<const std::uint32_t> launches = host.threads.launches_of(lane);
  // Whether anything was launched from an event's start to its end: calls are in the order of their starts.
  const auto launches_in = [&](const Event& op) {
    const auto first =
        std::lower_bound(launches.begin(), launches.end(), op.start_ns,
                         [&](std::uint32_t call, std::int64_t at) { return events[call].start_ns < at; });
    return first != launches.end() && events[*first].start_ns < op.end_ns();
  };

  std::vector<Open> open;
  end_ns_ = own.empty() ? 0 : events[own.front()].start_ns;
  const auto emit = [&](std::int64_t to) {
    if (to <= end_ns_) return;
    Moment moment{.start_ns = end_ns_};
    if (!open.empty()) {
      moment.event = open.back().event;
      moment.state = open.back().state;
      const std::uint32_t name = events[moment.event].name;
      const bool is_long = to - end_ns_ >= host.causes.interrupted_ns[name];
      moment.interrupted = is_long && !host.causes.first[moment.event] && can_be_interrupted(moment.state);
    }
    moments_.push_back(moment);
    end_ns_ = to;
  };
  const auto close_until = [&](std::int64_t to) {
    while (!open.empty() && open.back().end_ns <= to) {
      emit(open.back().end_ns);
      open.pop_back();
    }
    emit(to);
  };
  for (const std::uint32_t index : own) {
    const Event& event = events[index];
    close_until(event.start_ns);
    HostState state = HostState::kNone;
    const auto waiting = host.pageable.find(index);
    if (host.causes.startup[index] || (!open.empty() && open.back().state == HostState::kLoading)) {
      state = HostState::kLoading;
    } else if (waiting != host.pageable.end()) {
      state = waiting->second;
    } else if (event.role == Role::kRuntimeCall) {
      state = state_of_call(host.names.call(event));
      // A wait behind a copy in the same op is for that copy.
      if (state == HostState::kWaiting && !open.empty() && open.back().copied) state = HostState::kCopying;
    } else if (!open.empty()) {
      state = open.back().state;  // of the op that holds it
    } else {
      state = launches_in(event)
                  ? HostState::kLaunching
                  : state_without_launch(host.names.op(event), event.duration_ns > host.limits.long_view_ns);
    }
    // What reaches beyond what holds it ends with it: stamps are rounded.
    const std::int64_t end = open.empty() ? event.end_ns() : std::min(event.end_ns(), open.back().end_ns);
    if (state == HostState::kCopying && !open.empty()) open.back().copied = true;
    open.push_back({index, end, state});
  }
  while (!open.empty()) {
    emit(open.back().end_ns);
    open.pop_back();
  }
}

}  // namespace deepgap::trace
