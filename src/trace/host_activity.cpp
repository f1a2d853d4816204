#include "trace/host_activity.h"

#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace deepgap::trace {
namespace {

struct Open {
  std::uint32_t event;
  std::int64_t end_ns;
  HostState state;
  bool leads = false;   // an op or call: what it holds, it does on its way
  bool copied = false;  // a call in it waited for a copy
};

// Nothing where the call says nothing of why the device waits: then it is as what holds it.
std::optional<HostState> state_of_call(CallKind kind, bool is_long) {
  switch (kind) {
    case CallKind::kCopy:
      return HostState::kCopying;
    case CallKind::kSynchronise:
      return HostState::kWaiting;
    case CallKind::kAllocate:
      return HostState::kAllocating;
    case CallKind::kLoad:
      return HostState::kLoading;
    case CallKind::kQuery:
      return is_long ? std::optional(HostState::kWaiting) : std::nullopt;
    case CallKind::kLaunch:
    case CallKind::kLaunchGraph:
    case CallKind::kLaunchCopy:
      return HostState::kLaunching;
    case CallKind::kLookUp:
    case CallKind::kOther:
      return std::nullopt;
  }
  return std::nullopt;
}

// An op that launches nothing: whether it computes, or only makes a view and keeps the books. What moves
// data, or is not known, computes where it takes its time.
HostState state_without_launch(OpWork work, bool is_long) {
  return work == OpWork::kComputes || is_long ? HostState::kCpuOp : HostState::kBookkeeping;
}

// For each of a thread's events whether it holds an op.
std::vector<bool> holding_ops(const std::vector<Event>& events, std::span<const std::uint32_t> own) {
  std::vector<bool> holds(own.size(), false);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Event& event = events[own[i]];
    while (!open.empty() && events[own[open.back()]].end_ns() <= event.start_ns) open.pop_back();
    if (event.role != Role::kOp) continue;
    if (!open.empty()) holds[open.back()] = true;
    open.push_back(i);
  }
  return holds;
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
  has_work.assign(timeline.events.size(), false);
  for (const std::uint32_t call : timeline.calls) {
    if (call != kNoEvent) has_work[call] = true;
  }
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
  const std::vector<bool> holds_op = holding_ops(events, own);
  // The state of an op, and whether what it holds is on its way to what it is for.
  const auto state_of_op = [&](std::size_t at, const Event& op) -> std::pair<HostState, bool> {
    const OpWork work = host.names.op(op);
    const bool is_long = op.duration_ns > host.limits.long_view_ns;
    if (!open.empty() && open.back().leads) {
      const bool computes = work == OpWork::kComputes && is_long && !launches_in(op);
      return {computes ? HostState::kCpuOp : open.back().state, true};
    }
    const bool does_launch = launches_in(op);
    if (work == OpWork::kRange) return {HostState::kNone, false};
    if (work == OpWork::kPlain && (holds_op[at] || !does_launch)) return {HostState::kNone, false};
    if (work == OpWork::kWrapper) return {does_launch ? HostState::kLaunching : HostState::kNone, false};
    return {does_launch ? HostState::kLaunching : state_without_launch(work, is_long), true};
  };
  for (std::size_t at = 0; at < own.size(); ++at) {
    const std::uint32_t index = own[at];
    const Event& event = events[index];
    close_until(event.start_ns);
    HostState state = open.empty() ? HostState::kBookkeeping : open.back().state;
    bool leads = true;
    const auto waiting = host.pageable.find(index);
    if (host.causes.startup[index] || (!open.empty() && open.back().state == HostState::kLoading)) {
      state = HostState::kLoading;
    } else if (waiting != host.pageable.end()) {
      state = waiting->second;
    } else if (event.role == Role::kRuntimeCall) {
      const CallKind kind = host.names.call(event);
      state = state_of_call(kind, event.duration_ns >= host.limits.real_copy_ns).value_or(state);
      // A wait behind a copy in the same op is for that copy.
      if (state == HostState::kWaiting && !open.empty() && open.back().copied) state = HostState::kCopying;
      if (kind == CallKind::kLaunch && !host.has_work[index]) unrecorded_.push_back(event.start_ns);
    } else {
      std::tie(state, leads) = state_of_op(at, event);
      const bool outermost = open.empty() || open.back().state != HostState::kCpuOp;
      if (state == HostState::kCpuOp && outermost && host.names.op(event) == OpWork::kComputes)
        unrecorded_.push_back(event.start_ns);
    }
    // What reaches beyond what holds it ends with it: stamps are rounded.
    const std::int64_t end = open.empty() ? event.end_ns() : std::min(event.end_ns(), open.back().end_ns);
    if (state == HostState::kCopying && !open.empty()) open.back().copied = true;
    open.push_back({.event = index, .end_ns = end, .state = state, .leads = leads});
  }
  while (!open.empty()) {
    emit(open.back().end_ns);
    open.pop_back();
  }
}

}  // namespace deepgap::trace
