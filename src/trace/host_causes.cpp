#include "trace/host_causes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "trace/runtime_calls.h"

namespace deepgap::trace {
namespace {

bool shows_loading(const Timeline& timeline, const HostNames& names) {
  return std::any_of(timeline.events.begin(), timeline.events.end(), [&](const Event& event) {
    if (event.role == Role::kRuntimeCall) return names.call(event) == CallKind::kLoad;
    return event.role == Role::kOverhead &&
           timeline.texts[event.name].find("Loading") != std::string_view::npos;
  });
}

bool on_host(const Event& event) {
  return event.role == Role::kOp || event.role == Role::kRuntimeCall;
}

struct Usual {
  std::size_t count = 0;
  std::int64_t median_ns = 0;
};

// For each of Timeline::texts.
std::vector<Usual> usual_durations(const Timeline& timeline) {
  std::vector<Usual> usual(timeline.texts.size());
  for (const Event& event : timeline.events) {
    if (on_host(event)) ++usual[event.name].count;
  }
  std::vector<std::size_t> end(usual.size(), 0);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    end[i] = sum;
    sum += usual[i].count;
  }
  std::vector<std::int64_t> durations(sum);
  for (const Event& event : timeline.events) {
    if (on_host(event)) durations[end[event.name]++] = event.duration_ns;
  }
  for (std::size_t i = 0; i < usual.size(); ++i) {
    if (usual[i].count == 0) continue;
    const auto last = durations.begin() + static_cast<std::ptrdiff_t>(end[i]);
    const auto first = last - static_cast<std::ptrdiff_t>(usual[i].count);
    const auto middle = first + static_cast<std::ptrdiff_t>((usual[i].count - 1) / 2);
    std::nth_element(first, middle, last);
    usual[i].median_ns = *middle;
  }
  return usual;
}

std::vector<bool> first_of_their_name(const Timeline& timeline) {
  std::vector<bool> first(timeline.events.size(), false);
  std::vector<bool> seen(timeline.texts.size(), false);
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const Event& event = timeline.events[i];
    if (seen[event.name]) continue;
    seen[event.name] = true;
    first[i] = true;
    if (event.role == Role::kKernel && timeline.calls[i] != kNoEvent) first[timeline.calls[i]] = true;
  }
  return first;
}

bool reaches(std::int64_t duration_ns, double factor, std::int64_t median_ns) {
  return static_cast<double>(duration_ns) >= factor * static_cast<double>(median_ns);
}

void mark_first_times(const Timeline& timeline, const HostNames& names, const std::vector<Usual>& usual,
                      const std::vector<bool>& first, const StartupLimits& limits,
                      std::vector<bool>& startup) {
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const Event& event = timeline.events[i];
    if (!on_host(event) || event.duration_ns < limits.least_ns) continue;
    // A wait takes as long as what it waits for.
    const CallKind kind = event.role == Role::kRuntimeCall ? names.call(event) : CallKind::kOther;
    if (kind == CallKind::kSynchronise || kind == CallKind::kQuery || kind == CallKind::kCopy) continue;
    if (event.role == Role::kOp && is_range(names.op(event))) continue;
    const Usual& name = usual[event.name];
    const bool loads_here = kind == CallKind::kLookUp || (puts_work(kind) && first[i]);
    if (loads_here || name.count <= limits.rare || reaches(event.duration_ns, limits.factor, name.median_ns))
      startup[i] = true;
  }
}

// In a trace that shows no loading: not every profiler shows what is loaded in them.
void mark_first_look_ups(const Timeline& timeline, const HostNames& names, const std::vector<bool>& first,
                         const StartupLimits& limits, std::vector<bool>& startup) {
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const Event& event = timeline.events[i];
    if (event.role != Role::kRuntimeCall || !first[i] || event.duration_ns < limits.least_ns) continue;
    if (names.call(event) == CallKind::kLookUp) startup[i] = true;
  }
}

// What an op did itself, not the ops that it holds.
struct OwnCalls {
  std::uint32_t op = kNoEvent;
  std::int64_t end_ns = 0;
  std::size_t records = 0;  // of events
  std::size_t waits = 0;    // for them, and readings of the time between two
};

// The innermost op of each call that launched something.
using OpOfCall = std::vector<std::uint32_t>;

class Autotuning {
 public:
  Autotuning(const Timeline& timeline, const AutotuningLimits& limits, std::vector<bool>& startup)
      : timeline_(timeline), limits_(limits), startup_(startup), op_of_(timeline.events.size(), kNoEvent) {
    const std::size_t count = timeline.texts.size();
    for (std::uint32_t text = 0; text < count; ++text) {
      const std::string_view name = timeline.texts[text];
      records_.push_back(name.find("EventRecord") != std::string_view::npos);
      waits_.push_back(name.find("EventSynchronize") != std::string_view::npos ||
                       name.find("EventElapsedTime") != std::string_view::npos);
    }
  }

  void mark(const HostThreads& threads) {
    for (std::uint32_t lane = 0; lane < threads.lanes(); ++lane) mark_timing(threads.events_of(lane));
    mark_trying();
  }

 private:
  // An op that records events around what it launches and waits for them times it.
  void mark_timing(std::span<const std::uint32_t> events) {
    std::vector<OwnCalls> open;
    const auto close = [&] {
      if (open.back().records >= limits_.records && open.back().waits > 0) startup_[open.back().op] = true;
      open.pop_back();
    };
    for (const std::uint32_t index : events) {
      const Event& event = timeline_.events[index];
      while (!open.empty() && open.back().end_ns <= event.start_ns) close();
      if (event.role == Role::kOp) {
        open.push_back({.op = index, .end_ns = event.end_ns()});
      } else if (!open.empty()) {
        if (records_[event.name]) ++open.back().records;
        if (waits_[event.name]) ++open.back().waits;
        op_of_[index] = open.back().op;
      }
    }
    while (!open.empty()) close();
  }

  // An op that runs several more kernels than its siblings, of the same name and shapes, tries them.
  void mark_trying() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> kernels;  // an op and the name of one
    for (std::size_t i = 0; i < timeline_.events.size(); ++i) {
      const std::uint32_t call = timeline_.calls[i];
      if (timeline_.events[i].role != Role::kKernel || call == kNoEvent || op_of_[call] == kNoEvent) continue;
      if (timeline_.events[op_of_[call]].detail == kNoDetail) continue;  // without shapes nothing is alike
      kernels.emplace_back(op_of_[call], timeline_.events[i].name);
    }
    std::sort(kernels.begin(), kernels.end());
    kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
    struct Tried {
      std::size_t names = 0;
      std::uint32_t op = 0;
      bool operator<(const Tried& other) const { return names < other.names; }
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Tried>> alike;  // by name and detail
    for (std::size_t i = 0; i < kernels.size();) {
      const std::uint32_t op = kernels[i].first;
      std::size_t names = 0;
      for (; i < kernels.size() && kernels[i].first == op; ++i) ++names;
      alike[{timeline_.events[op].name, timeline_.events[op].detail}].push_back({names, op});
    }
    for (auto& [key, ops] : alike) {
      if (ops.size() < limits_.least_alike) continue;
      const auto middle = ops.begin() + static_cast<std::ptrdiff_t>(ops.size() / 2);
      std::nth_element(ops.begin(), middle, ops.end());
      const std::size_t median = middle->names;
      for (const Tried& each : ops) {
        const bool many =
            static_cast<double>(each.names) >= limits_.times_siblings * static_cast<double>(median);
        if (each.names >= median + limits_.tried && many) startup_[each.op] = true;
      }
    }
  }

  const Timeline& timeline_;
  const AutotuningLimits& limits_;
  std::vector<bool>& startup_;
  OpOfCall op_of_;
  std::vector<bool> records_;  // for each of Timeline::texts: names a call that records an event,
  std::vector<bool> waits_;    // waits for one, or reads the time between two
};

}  // namespace

HostCauses find_causes(const Timeline& timeline, const HostNames& names, const HostThreads& threads,
                       const CauseLimits& limits) {
  HostCauses causes;
  causes.loads = shows_loading(timeline, names);
  causes.startup.assign(timeline.events.size(), false);
  const std::vector<Usual> usual = usual_durations(timeline);
  causes.first = first_of_their_name(timeline);
  if (causes.loads)
    mark_first_times(timeline, names, usual, causes.first, limits.startup, causes.startup);
  else
    mark_first_look_ups(timeline, names, causes.first, limits.startup, causes.startup);
  Autotuning(timeline, limits.autotuning, causes.startup).mark(threads);
  causes.interrupted_ns.assign(usual.size(), std::numeric_limits<std::int64_t>::max());
  if (causes.loads) return causes;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    const double many = limits.interruption.factor * static_cast<double>(usual[i].median_ns);
    if (many >= static_cast<double>(kLongestNs)) continue;
    causes.interrupted_ns[i] = std::max(limits.interruption.least_ns, static_cast<std::int64_t>(many));
  }
  return causes;
}

}  // namespace deepgap::trace
