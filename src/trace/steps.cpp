#include "trace/steps.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "trace/runtime_calls.h"

namespace deepgap::trace {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";

struct Range {
  std::string_view name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// Numbers that count repetitions are one name: "iteration 12" -> "iteration #".
std::string without_numbers(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !out.empty() && out.back() == '#') continue;
    out += digit ? '#' : c;
  }
  return out;
}

std::int64_t covered_by(const std::vector<Range>& ranges) {
  std::int64_t sum = 0;
  for (const Range& range : ranges) sum += range.end_ns - range.start_ns;
  return sum;
}

// When ops, calls and devices ran: what a program named may reach far beyond.
std::optional<Range> work_window(const Timeline& timeline) {
  std::optional<Range> window;
  for (const Event& event : timeline.events) {
    if (event.role == Role::kAnnotation || event.role == Role::kDeviceAnnotation ||
        event.role == Role::kOverhead || event.role == Role::kWait)
      continue;
    if (!window) window = Range{"trace", event.start_ns, event.end_ns()};
    window->end_ns = std::max(window->end_ns, event.end_ns());
  }
  return window;
}

Range whole_trace(const Timeline& timeline) {
  if (const std::optional<Range> window = work_window(timeline)) return *window;
  Range whole{"trace", timeline.events.front().start_ns, timeline.events.front().start_ns};
  for (const Event& event : timeline.events) whole.end_ns = std::max(whole.end_ns, event.end_ns());
  return whole;
}

// Where several threads have them, those of the one with most steps, then with most time: the others took
// part.
std::vector<Range> profiler_steps(const Timeline& timeline) {
  std::map<std::uint32_t, std::vector<Range>> lanes;
  for (const Event& event : timeline.events) {
    if (event.role != Role::kAnnotation && event.role != Role::kOp) continue;
    const std::string_view name = timeline.texts[event.name];
    if (!name.starts_with(kProfilerStep)) continue;
    std::vector<Range>& ranges = lanes[event.lane];
    if (!ranges.empty() && event.start_ns < ranges.back().end_ns) {
      // The same step again, as an op and as an annotation, or the next one before this has ended.
      if (ranges.back().name == name || event.start_ns == ranges.back().start_ns) continue;
      ranges.back().end_ns = event.start_ns;
    }
    ranges.push_back({name, event.start_ns, event.end_ns()});
  }
  std::vector<Range> best;
  for (auto& [lane, ranges] : lanes) {
    const bool more =
        ranges.size() != best.size() ? ranges.size() > best.size() : covered_by(ranges) > covered_by(best);
    if (more) best = std::move(ranges);
  }
  return best;
}

std::vector<Range> annotated_ranges(const Timeline& timeline, double least_cover) {
  const Range window = whole_trace(timeline);
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Range>> groups;
  for (const Event& event : timeline.events) {
    if (event.role != Role::kAnnotation) continue;
    const std::string_view name = timeline.texts[event.name];
    std::vector<Range>& group = groups[{without_numbers(name), event.lane}];
    if (group.empty() || event.start_ns >= group.back().end_ns)
      group.push_back({name, event.start_ns, event.end_ns()});
  }
  std::vector<Range> best;
  std::int64_t best_cover = 0;
  for (auto& [key, ranges] : groups) {
    if (ranges.size() < 2) continue;
    std::int64_t cover = 0;
    for (const Range& range : ranges) {
      const std::int64_t start = std::max(range.start_ns, window.start_ns);
      cover += std::max<std::int64_t>(0, std::min(range.end_ns, window.end_ns) - start);
    }
    const double least = least_cover * static_cast<double>(window.end_ns - window.start_ns);
    if (static_cast<double>(cover) < least || cover <= best_cover) continue;
    best_cover = cover;
    best = std::move(ranges);
  }
  return best;
}

// Ops that no other op holds, of the thread that has most of them.
std::vector<const Event*> outermost_ops(const Timeline& timeline) {
  std::map<std::uint32_t, std::vector<const Event*>> by_lane;
  for (const Event& event : timeline.events) {
    if (event.role != Role::kOp) continue;
    std::vector<const Event*>& ops = by_lane[event.lane];
    if (ops.empty() || event.start_ns >= ops.back()->end_ns()) ops.push_back(&event);
  }
  std::vector<const Event*> most;
  for (auto& [lane, ops] : by_lane) {
    if (ops.size() > most.size()) most = std::move(ops);
  }
  return most;
}

// The smallest period of the whole sequence, which may begin within one: 0 where nothing comes back. A
// sequence that repeats behind a beginning of its own is not taken: the layers of one pass do that too.
template <typename Key>
std::size_t period_of(const std::vector<Key>& sequence) {
  const std::size_t size = sequence.size();
  std::vector<std::size_t> border(size, 0);
  for (std::size_t i = 1; i < size; ++i) {
    std::size_t length = border[i - 1];
    while (length > 0 && sequence[i] != sequence[length]) length = border[length - 1];
    border[i] = sequence[i] == sequence[length] ? length + 1 : 0;
  }
  if (size == 0) return 0;
  const std::size_t period = size - border[size - 1];
  return 2 * period <= size ? period : 0;
}

// A last one that is not whole is left out.
std::vector<Range> ranges_of(const std::vector<const Event*>& events, std::size_t period) {
  std::vector<Range> ranges;
  if (period == 0) return ranges;
  for (std::size_t first = 0; first + period <= events.size(); first += period) {
    ranges.push_back({"", events[first]->start_ns, events[first + period - 1]->end_ns()});
  }
  return ranges;
}

std::vector<Range> repeated_ops(const Timeline& timeline, std::size_t shortest) {
  const std::vector<const Event*> ops = outermost_ops(timeline);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> keys;
  keys.reserve(ops.size());
  for (const Event* op : ops) keys.emplace_back(op->name, op->detail);
  const std::size_t period = period_of(keys);
  return period < shortest ? std::vector<Range>() : ranges_of(ops, period);
}

// What a call put on the device: launches are alike where they run the same first kernel, and as many.
struct Launched {
  std::uint32_t call_name = 0;
  std::uint32_t first = 0;
  std::size_t count = 0;
  bool operator==(const Launched&) const = default;
};

// Of the thread that launches most. A graph is a step by itself.
std::vector<Range> repeated_launches(const Timeline& timeline, std::size_t shortest) {
  std::map<std::uint32_t, Launched> launched;  // by call, thus by start
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    if (timeline.calls[i] == kNoEvent || timeline.events[i].role != Role::kKernel) continue;
    Launched& launch = launched[timeline.calls[i]];
    if (launch.count++ == 0) launch.first = timeline.events[i].name;
    launch.call_name = timeline.events[timeline.calls[i]].name;
  }
  std::map<std::uint32_t, std::size_t> lanes;
  for (const auto& [call, launch] : launched) ++lanes[timeline.events[call].lane];
  if (lanes.empty()) return {};
  const auto most = std::max_element(lanes.begin(), lanes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<const Event*> calls;
  std::vector<Launched> keys;
  for (const auto& [call, launch] : launched) {
    if (timeline.events[call].lane != most->first) continue;
    calls.push_back(&timeline.events[call]);
    keys.push_back(launch);
  }
  const std::size_t period = period_of(keys);
  const bool graph = std::any_of(
      keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(period), [&](const Launched& launch) {
        return call_kind(timeline.texts[launch.call_name]) == CallKind::kLaunchGraph;
      });
  return period < shortest && !graph ? std::vector<Range>() : ranges_of(calls, period);
}

// Counts what each step launches. When the last of it was done; the end of its range where it launches none.
std::vector<std::int64_t> completions(const Timeline& timeline, std::vector<Step>& steps) {
  std::vector<std::int64_t> done;
  for (const Step& step : steps) done.push_back(step.host_end_ns);
  const std::vector<std::uint32_t>& calls = timeline.calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Role role = timeline.events[i].role;
    if (calls[i] == kNoEvent || role == Role::kDeviceAnnotation || role == Role::kWait) continue;
    const std::int64_t launched = timeline.events[calls[i]].start_ns;
    const auto behind =
        std::upper_bound(steps.begin(), steps.end(), launched,
                         [](std::int64_t at, const Step& step) { return at < step.host_start_ns; });
    if (behind == steps.begin()) continue;
    Step& step = *std::prev(behind);
    if (launched >= step.host_end_ns) continue;
    std::int64_t& end = done[static_cast<std::size_t>(std::prev(behind) - steps.begin())];
    end = step.launched++ == 0 ? timeline.events[i].end_ns() : std::max(end, timeline.events[i].end_ns());
  }
  return done;
}

// To the last work that was launched in a range, but not into the next one.
void extend(std::vector<Step>& steps, const std::vector<std::int64_t>& done) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].launched == 0) continue;
    const bool last = i + 1 == steps.size();
    steps[i].end_ns = std::max(steps[i].end_ns, last ? done[i] : std::min(done[i], steps[i + 1].start_ns));
  }
}

// From completion to completion. A step that launches nothing takes no time of the device.
void tell_by_device(std::vector<Step>& steps, const std::vector<std::int64_t>& done) {
  std::int64_t before = steps.front().start_ns;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].start_ns = before;
    if (steps[i].launched > 0) before = done[i];
    steps[i].end_ns = before;
  }
}

// Counts those that run ahead. Whether they are told by the device: most do, and each is done after the one
// before it.
bool run_ahead(Steps& found, const std::vector<std::int64_t>& done, double share) {
  bool in_order = true;
  std::int64_t before = found.steps.front().host_start_ns;
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    if (found.steps[i].launched == 0) continue;
    in_order = in_order && done[i] > before;
    before = done[i];
    if (i + 1 == found.steps.size()) continue;
    const std::int64_t by = done[i] - found.steps[i + 1].host_start_ns;
    if (by <= 0) continue;
    ++found.ahead;
    found.most_ahead_ns = std::max(found.most_ahead_ns, by);
  }
  return in_order && static_cast<double>(found.ahead) > share * static_cast<double>(found.steps.size() - 1);
}

// Among steps of which some launch work, one that launches nothing is no measure of another.
void mark_warmup(std::vector<Step>& steps, double cold_start) {
  if (steps.empty()) return;
  const bool works = steps.front().launched > 0;
  std::vector<std::int64_t> others;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if ((steps[i].launched > 0) == works) others.push_back(steps[i].wall_ns());
  }
  if (others.empty()) return;
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  steps.front().warmup =
      static_cast<double>(steps.front().wall_ns()) > cold_start * static_cast<double>(*middle);
}

}  // namespace

std::string_view name_of(StepBasis basis) {
  switch (basis) {
    case StepBasis::kProfilerSteps:
      return "profiler_steps";
    case StepBasis::kAnnotations:
      return "annotations";
    case StepBasis::kRepeatedOps:
      return "repeated_ops";
    case StepBasis::kRepeatedLaunches:
      return "repeated_launches";
    case StepBasis::kWholeTrace:
      return "whole_trace";
  }
  return "";
}

std::string_view name_of(StepExtent extent) {
  return extent == StepExtent::kRange ? "range" : "completion";
}

std::optional<std::size_t> Steps::of_device(std::int64_t at) const {
  const auto behind =
      std::upper_bound(steps.begin(), steps.end(), at,
                       [](std::int64_t time, const Step& step) { return time < step.start_ns; });
  if (behind == steps.begin() || at >= std::prev(behind)->end_ns) return std::nullopt;
  return static_cast<std::size_t>(std::prev(behind) - steps.begin());
}

std::optional<std::size_t> Steps::of_host(std::int64_t at) const {
  if (extent == StepExtent::kRange) return of_device(at);
  const auto behind =
      std::upper_bound(steps.begin(), steps.end(), at,
                       [](std::int64_t time, const Step& step) { return time < step.host_start_ns; });
  if (behind == steps.begin() || at >= std::prev(behind)->host_end_ns) return std::nullopt;
  return static_cast<std::size_t>(std::prev(behind) - steps.begin());
}

bool is_empty(const Steps& steps, std::size_t index) {
  return steps.any_launches && steps.steps[index].launched == 0;
}

Steps find_steps(const Timeline& timeline, const StepLimits& limits) {
  Steps found;
  if (timeline.events.empty()) return found;
  std::vector<Range> ranges = profiler_steps(timeline);
  found.basis = StepBasis::kProfilerSteps;
  if (ranges.empty()) {
    ranges = annotated_ranges(timeline, limits.least_cover);
    found.basis = StepBasis::kAnnotations;
  }
  if (ranges.empty()) {
    ranges = repeated_ops(timeline, limits.shortest_sequence);
    found.basis = StepBasis::kRepeatedOps;
  }
  if (ranges.empty()) {
    ranges = repeated_launches(timeline, limits.shortest_sequence);
    found.basis = StepBasis::kRepeatedLaunches;
  }
  if (ranges.empty()) {
    found.basis = StepBasis::kWholeTrace;
    ranges.push_back(whole_trace(timeline));
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    found.steps.push_back(
        {.name = range.name.empty() ? "sequence " + std::to_string(i + 1) : std::string(range.name),
         .start_ns = range.start_ns,
         .end_ns = range.end_ns,
         .host_start_ns = range.start_ns,
         .host_end_ns = range.end_ns});
  }
  const std::vector<std::int64_t> done = completions(timeline, found.steps);
  if (run_ahead(found, done, limits.ahead_share)) {
    found.extent = StepExtent::kCompletion;
    tell_by_device(found.steps, done);
  } else {
    extend(found.steps, done);
  }
  found.any_launches =
      std::any_of(found.steps.begin(), found.steps.end(), [](const Step& step) { return step.launched > 0; });
  mark_warmup(found.steps, limits.cold_start);
  return found;
}

}  // namespace deepgap::trace
