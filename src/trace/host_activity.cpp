#include "trace/host_activity.h"

#include <optional>
#include <string_view>
#include <unordered_map>

#include "ops/op_class.h"

namespace deepgap::trace {
namespace {

struct Open {
  std::uint32_t event;
  std::int64_t end_ns;
  HostState state;
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

// An op that launches nothing: whether it computes, or only makes a view and keeps the books. What the table
// of ops does not know computes where it takes its time.
HostState state_without_launch(std::string_view name, std::int64_t duration_ns) {
  constexpr std::int64_t kLongView = 100'000;
  const ops::OpName* known = ops::classify(ops::FrontEnd::kAten, name);
  if (known == nullptr) return duration_ns > kLongView ? HostState::kCpuOp : HostState::kBookkeeping;
  switch (known->op_class) {
    case ops::OpClass::kShapeOnly:
    case ops::OpClass::kConstant:
    case ops::OpClass::kControl:
    case ops::OpClass::kLayout:
    case ops::OpClass::kCopy:
    case ops::OpClass::kCast:
      return duration_ns > kLongView ? HostState::kCpuOp : HostState::kBookkeeping;
    default:
      return HostState::kCpuOp;
  }
}

// A copy that takes less than this is not what its call waits for.
constexpr std::int64_t kRealCopy = 20'000;

// Copies from and to memory that is not pinned block their call: for the copy, or, where that is nothing,
// until the device has come to it.
std::optional<HostState> blocking(const Timeline& timeline, const Event& work) {
  const bool pageable =
      work.role == Role::kCopy && timeline.texts[work.name].find("Pageable") != std::string_view::npos;
  if (!pageable) return std::nullopt;
  return work.duration_ns >= kRealCopy ? HostState::kCopying : HostState::kWaiting;
}

bool shows_loading(const Timeline& timeline) {
  return std::any_of(timeline.events.begin(), timeline.events.end(), [&](const Event& event) {
    const std::string_view name = timeline.texts[event.name];
    return (event.role == Role::kOverhead && name.find("Loading") != std::string_view::npos) ||
           (event.role == Role::kRuntimeCall && call_kind(name) == CallKind::kLoad);
  });
}

}  // namespace

std::vector<bool> first_times(const Timeline& timeline, const StartupLimits& limits) {
  const std::vector<Event>& events = timeline.events;
  std::vector<bool> found(events.size(), false);
  if (!shows_loading(timeline)) return found;
  std::unordered_map<std::uint32_t, std::vector<std::int64_t>> durations;
  for (const Event& event : events) {
    if (event.role == Role::kOp || event.role == Role::kRuntimeCall)
      durations[event.name].push_back(event.duration_ns);
  }
  std::unordered_map<std::uint32_t, double> longest;  // that is still usual
  for (auto& [name, all] : durations) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    longest[name] = all.size() <= limits.rare ? 0 : limits.factor * static_cast<double>(*middle);
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (event.role != Role::kOp && event.role != Role::kRuntimeCall) continue;
    // A wait takes as long as what it waits for.
    const CallKind kind =
        event.role == Role::kRuntimeCall ? call_kind(timeline.texts[event.name]) : CallKind::kOther;
    if (kind == CallKind::kSynchronise || kind == CallKind::kCopy) continue;
    found[i] =
        event.duration_ns >= limits.least_ns && static_cast<double>(event.duration_ns) >= longest[event.name];
  }
  return found;
}

HostActivity::HostActivity(const Timeline& timeline, const std::vector<bool>& startup, std::uint32_t lane) {
  const std::vector<Event>& events = timeline.events;
  const std::vector<std::uint32_t>& calls = timeline.calls;
  std::vector<std::uint32_t> own;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const Role role = events[i].role;
    if (events[i].lane == lane && (role == Role::kOp || role == Role::kRuntimeCall)) own.push_back(i);
  }
  // Calls that launched something, and whether it was a copy that blocks.
  std::vector<std::uint32_t> launching;
  std::unordered_map<std::uint32_t, HostState> waiting;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == kNoEvent || events[calls[i]].lane != lane) continue;
    launching.push_back(calls[i]);
    if (const auto state = blocking(timeline, events[i])) waiting[calls[i]] = *state;
  }
  std::sort(launching.begin(), launching.end());

  // Whether anything was launched from an event's start to its end: calls are in the order of their starts.
  const auto launches_in = [&](const Event& op) {
    const auto first =
        std::lower_bound(launching.begin(), launching.end(), op.start_ns,
                         [&](std::uint32_t call, std::int64_t at) { return events[call].start_ns < at; });
    return first != launching.end() && events[*first].start_ns < op.end_ns();
  };

  std::vector<Open> open;
  std::int64_t at = own.empty() ? 0 : events[own.front()].start_ns;
  const auto emit = [&](std::int64_t to) {
    if (to <= at) return;
    const Open* const top = open.empty() ? nullptr : &open.back();
    moments_.push_back(
        {at, to, top != nullptr ? top->event : kNoEvent, top != nullptr ? top->state : HostState::kNone});
    at = to;
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
    const auto blocked = waiting.find(index);
    if (startup[index] || (!open.empty() && open.back().state == HostState::kLoading)) {
      state = HostState::kLoading;
    } else if (blocked != waiting.end()) {
      state = blocked->second;
    } else if (event.role == Role::kRuntimeCall) {
      state = state_of_call(call_kind(timeline.texts[event.name]));
    } else if (!open.empty()) {
      state = open.back().state;  // of the op that holds it
    } else {
      state = launches_in(event) ? HostState::kLaunching
                                 : state_without_launch(timeline.texts[event.name], event.duration_ns);
    }
    // What reaches beyond what holds it ends with it: stamps are rounded.
    const std::int64_t end = open.empty() ? event.end_ns() : std::min(event.end_ns(), open.back().end_ns);
    open.push_back({index, end, state});
  }
  while (!open.empty()) {
    emit(open.back().end_ns);
    open.pop_back();
  }
}

}  // namespace deepgap::trace
