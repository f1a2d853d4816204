#include "trace/steps.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace deepgap::trace {
namespace {

// A first step that takes so many times the median of the others is a cold start.
constexpr double kColdStart = 1.5;
// A named range is what a step is where its repetitions cover at least this share of the window.
constexpr double kLeastCover = 0.5;
// A repeated sequence shorter than this is a loop within a step.
constexpr std::size_t kShortestSequence = 3;

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

std::vector<Range> profiler_steps(const Timeline& timeline) {
  std::vector<Range> ranges;
  for (const Event& event : timeline.events) {
    if (event.role != Role::kAnnotation && event.role != Role::kOp) continue;
    const std::string_view name = timeline.texts[event.name];
    if (!name.starts_with(kProfilerStep)) continue;
    // Once a thread where several are recorded: the first stands for the others.
    if (!ranges.empty() && event.start_ns < ranges.back().end_ns) continue;
    ranges.push_back({name, event.start_ns, event.end_ns()});
  }
  return ranges;
}

std::vector<Range> annotated_ranges(const Timeline& timeline) {
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Range>> groups;
  for (const Event& event : timeline.events) {
    if (event.role != Role::kAnnotation) continue;
    const std::string_view name = timeline.texts[event.name];
    std::vector<Range>& group = groups[{without_numbers(name), event.lane}];
    if (group.empty() || event.start_ns >= group.back().end_ns)
      group.push_back({name, event.start_ns, event.end_ns()});
  }
  std::vector<Range> best;
  double best_cover = 0;
  const double window = static_cast<double>(timeline.window_end_ns - timeline.window_start_ns);
  for (auto& [key, ranges] : groups) {
    if (ranges.size() < 2) continue;
    double covered = 0;
    for (const Range& range : ranges) covered += static_cast<double>(range.end_ns - range.start_ns);
    if (covered < kLeastCover * window || covered <= best_cover) continue;
    best_cover = covered;
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
std::size_t period_of(const std::vector<const Event*>& ops) {
  const std::size_t size = ops.size();
  const auto same = [&](std::size_t a, std::size_t b) {
    return ops[a]->name == ops[b]->name && ops[a]->detail == ops[b]->detail;
  };
  std::vector<std::size_t> border(size, 0);
  for (std::size_t i = 1; i < size; ++i) {
    std::size_t length = border[i - 1];
    while (length > 0 && !same(i, length)) length = border[length - 1];
    border[i] = same(i, length) ? length + 1 : 0;
  }
  if (size == 0) return 0;
  const std::size_t period = size - border[size - 1];
  return period >= kShortestSequence && 2 * period <= size ? period : 0;
}

std::vector<Range> repeated_ranges(const Timeline& timeline) {
  const std::vector<const Event*> ops = outermost_ops(timeline);
  const std::size_t period = period_of(ops);
  std::vector<Range> ranges;
  if (period == 0) return ranges;
  // A last one that is not whole is left out.
  for (std::size_t first = 0; first + period <= ops.size(); first += period) {
    ranges.push_back({"", ops[first]->start_ns, ops[first + period - 1]->end_ns()});
  }
  return ranges;
}

// To the last work that was launched in a range, but not into the next one.
void extend(const Timeline& timeline, std::vector<Step>& steps) {
  const std::vector<std::uint32_t>& calls = timeline.calls;

  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Role role = timeline.events[i].role;
    if (calls[i] == kNoEvent || role == Role::kDeviceAnnotation || role == Role::kWait) continue;
    const std::int64_t launched = timeline.events[calls[i]].start_ns;
    const auto behind =
        std::upper_bound(steps.begin(), steps.end(), launched,
                         [](std::int64_t at, const Step& step) { return at < step.start_ns; });
    if (behind == steps.begin()) continue;
    Step& step = *std::prev(behind);
    if (launched >= step.host_end_ns) continue;
    std::int64_t end = timeline.events[i].end_ns();
    if (behind != steps.end()) end = std::min(end, behind->start_ns);
    step.end_ns = std::max(step.end_ns, end);
  }
}

void mark_warmup(std::vector<Step>& steps) {
  if (steps.size() < 2) return;
  std::vector<std::int64_t> others;
  for (std::size_t i = 1; i < steps.size(); ++i) others.push_back(steps[i].wall_ns());
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  steps.front().warmup =
      static_cast<double>(steps.front().wall_ns()) > kColdStart * static_cast<double>(*middle);
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
    case StepBasis::kWholeTrace:
      return "whole_trace";
  }
  return "";
}

Steps find_steps(const Timeline& timeline) {
  Steps found;
  if (timeline.events.empty()) return found;
  std::vector<Range> ranges = profiler_steps(timeline);
  found.basis = StepBasis::kProfilerSteps;
  if (ranges.empty()) {
    ranges = annotated_ranges(timeline);
    found.basis = StepBasis::kAnnotations;
  }
  if (ranges.empty()) {
    ranges = repeated_ranges(timeline);
    found.basis = StepBasis::kRepeatedOps;
  }
  if (ranges.empty()) {
    found.basis = StepBasis::kWholeTrace;
    Range whole{"trace", timeline.events.front().start_ns, timeline.events.front().start_ns};
    for (const Event& event : timeline.events) whole.end_ns = std::max(whole.end_ns, event.end_ns());
    ranges.push_back(whole);
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Range& range = ranges[i];
    found.steps.push_back(
        {.name = range.name.empty() ? "sequence " + std::to_string(i + 1) : std::string(range.name),
         .start_ns = range.start_ns,
         .end_ns = range.end_ns,
         .host_end_ns = range.end_ns});
  }
  extend(timeline, found.steps);
  mark_warmup(found.steps);
  return found;
}

}  // namespace deepgap::trace
