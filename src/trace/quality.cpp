#include "trace/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "core/estimate.h"
#include "trace/census.h"
#include "trace/early_returns.h"
#include "trace/host_compute.h"
#include "trace/runtime_calls.h"
#include "trace/step_differences.h"

namespace deepgap::trace {
namespace {

std::string time_text(std::int64_t ns) {
  return format_value(static_cast<double>(ns), Unit::kNanoseconds);
}

// What was launched in a step, and what of it is missing.
struct StepCounts {
  std::int64_t launches = 0;
  std::int64_t without_kernel = 0;
  std::int64_t graphs = 0;
  std::int64_t opaque_graphs = 0;
  std::int64_t kernels = 0;  // of the launches

  // Where one id stands for all, kernels are missing only if there are fewer of them than launches.
  std::int64_t missing() const {
    return std::min(without_kernel, std::max<std::int64_t>(0, launches - kernels));
  }
};

enum class Launch : std::uint8_t { kUnseen, kNone, kKernel, kGraph };

// Launches of kernels: of copies and memsets the record may be left out by choice.
Launch launch_of(std::string_view name) {
  const CallKind kind = call_kind(name);
  if (kind == CallKind::kLaunchGraph) return Launch::kGraph;
  return kind == CallKind::kLaunch ? Launch::kKernel : Launch::kNone;
}

class Judge {
 public:
  Judge(const Timeline& timeline, const Steps& steps, const Attribution& attribution,
        const QualityLimits& limits)
      : timeline_(timeline),
        steps_(steps),
        attribution_(attribution),
        limits_(limits),
        census_(timeline),
        launches_(timeline.texts.size(), Launch::kUnseen) {
    found_.diagnostics = timeline.diagnostics;
    found_.broken.assign(steps.steps.size(), false);
    loss_ = std::any_of(timeline.diagnostics.begin(), timeline.diagnostics.end(),
                        [](const Diagnostic& diagnostic) { return diagnostic.severity != Severity::kNote; });
  }

  Quality judge(std::optional<std::int64_t> unprofiled_ns) {
    const bool has_device = attribution_.device.has_value();
    host_only_ = !has_device && is_host_only(timeline_, HostNames(timeline_));
    if (!timeline_.events.empty() && !has_device) no_device();
    missing_work();
    cut_off();
    empty_steps();
    running_ahead();
    if (has_device) {
      disagreeing_clocks();
      kernels_of_no_time();
      overlaps();
    }
    shapes();
    stretching_annotations();
    differing_steps();
    if (unprofiled_ns) inflation(*unprofiled_ns);
    if (attribution_.unaccounted_ns != 0) {
      say(diagnostics::kLabelsDoNotSum,
          fmt::format("{} are in no label, or in two", time_text(attribution_.unaccounted_ns)));
    }
    found_.verdict = verdict();
    return std::move(found_);
  }

 private:
  void say(const DiagnosticKind& kind, std::string text, std::int64_t count = 1, std::string where = {}) {
    found_.diagnostics.push_back(diagnose(kind, std::move(where), std::move(text), count));
  }

  // Looked up once for each name.
  Launch launch_of(std::uint32_t name) {
    Launch& launch = launches_[name];
    if (launch == Launch::kUnseen) launch = trace::launch_of(timeline_.texts[name]);
    return launch;
  }

  void no_device() {
    std::string text = "expected kernels, found none";
    if (host_only_) {
      text += ": the ops on the host are the work";
      // Written wherever the profiler finds a device, also of a run on the CPU.
      if (!timeline_.devices.empty() && !timeline_.devices.front().name.empty()) {
        text += fmt::format("; if they ran on the {} that the trace names, it says nothing of them",
                            printable(timeline_.devices.front().name, 60));
      }
    } else if (const auto sign = unrecorded_device(timeline_)) {
      text += fmt::format(", though {}", *sign);
    }
    say(diagnostics::kNoDeviceActivity, std::move(text));
    if (host_only_) found_.diagnostics.back().severity = Severity::kNote;
  }

  void missing_work() {
    std::vector<bool> has_work(timeline_.events.size(), false);
    std::int64_t orphans = 0;
    for (std::size_t i = 0; i < timeline_.calls.size(); ++i) {
      if (timeline_.events[i].role == Role::kRuntimeCall) any_call_ = true;
      if (timeline_.calls[i] != kNoEvent) has_work[timeline_.calls[i]] = true;
      if (timeline_.events[i].role == Role::kKernel && timeline_.calls[i] == kNoEvent) ++orphans;
    }
    if (orphans > 0 && !any_call_) {
      say(diagnostics::kKernelsWithoutLaunches,
          fmt::format("none of {} has a launch: no calls were recorded", counted(orphans, "kernel")),
          orphans);
    } else if (orphans > 0) {
      missing_launches(orphans);
    }
    const std::vector<StepCounts> counts = count_launches(has_work);
    say_of_steps(diagnostics::kLaunchesWithoutKernels, "{} of {} launches have no kernel", counts,
                 [](const StepCounts& count) { return std::pair(count.missing(), count.launches); });
    say_of_steps(diagnostics::kOpaqueGraphs, "{} of {} graph launches have no kernels", counts,
                 [](const StepCounts& count) { return std::pair(count.opaque_graphs, count.graphs); });
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const StepCounts& count = counts[i];
      const bool lacks =
          static_cast<double>(count.missing()) > limits_.broken_share * static_cast<double>(count.launches);
      found_.broken[i] = lacks || count.opaque_graphs > 0;
      loss_ = loss_ || found_.broken[i] || count.missing() > 0;
    }
  }

  // Why the device waited for such a kernel is not known.
  void missing_launches(std::int64_t orphans) {
    struct Kernels {
      std::int64_t all = 0;
      std::int64_t orphans = 0;
    };
    std::vector<Kernels> counts(steps_.steps.size());
    for (std::size_t i = 0; i < timeline_.events.size(); ++i) {
      if (timeline_.events[i].role != Role::kKernel) continue;
      const auto step = steps_.of_device(timeline_.events[i].start_ns);
      if (!step) continue;
      ++counts[*step].all;
      if (timeline_.calls[i] != kNoEvent) continue;
      ++counts[*step].orphans;
      --orphans;
    }
    say_of_steps(diagnostics::kKernelsWithoutLaunches, "{} of {} kernels without a launch", counts,
                 [](const Kernels& count) { return std::pair(count.orphans, count.all); });
    if (orphans > 0)
      say(diagnostics::kKernelsWithoutLaunches, counted(orphans, "kernel") + " without a launch", orphans,
          "outside of the steps");
    loss_ =
        loss_ || std::any_of(counts.begin(), counts.end(), [this](const Kernels& count) {
          return static_cast<double>(count.orphans) > limits_.broken_share * static_cast<double>(count.all);
        });
  }

  std::vector<StepCounts> count_launches(const std::vector<bool>& has_work) {
    std::vector<StepCounts> counts(steps_.steps.size());
    for (std::size_t i = 0; i < timeline_.events.size(); ++i) {
      const Event& event = timeline_.events[i];
      if (event.role == Role::kRuntimeCall) {
        count_launch(event, has_work[i], counts);
      } else if (event.role == Role::kKernel && timeline_.calls[i] != kNoEvent) {
        const Event& call = timeline_.events[timeline_.calls[i]];
        const auto step = steps_.of_host(call.start_ns);
        if (step && launch_of(call.name) != Launch::kGraph) ++counts[*step].kernels;
      }
    }
    return counts;
  }

  void count_launch(const Event& call, bool has_work, std::vector<StepCounts>& counts) {
    const Launch launch = launch_of(call.name);
    if (launch == Launch::kNone) return;
    any_launch_ = true;
    const auto step = steps_.of_host(call.start_ns);
    if (!step) return;
    StepCounts& count = counts[*step];
    if (launch == Launch::kGraph) {
      ++count.graphs;
      if (!has_work) ++count.opaque_graphs;
    } else {
      ++count.launches;
      if (!has_work) ++count.without_kernel;
    }
  }

  // A fault of steps, each by its name; of more than a few the rest together.
  template <typename Counts, typename Part>
  void say_of_steps(const DiagnosticKind& kind, const char* text, const std::vector<Counts>& counts,
                    Part part_of) {
    std::size_t named = 0;
    std::size_t more = 0;
    std::pair<std::int64_t, std::int64_t> rest{0, 0};
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::pair<std::int64_t, std::int64_t> part = part_of(counts[i]);
      if (part.first == 0) continue;
      if (named++ < limits_.named_steps) {
        say(kind, fmt::format(fmt::runtime(text), part.first, part.second), part.first, steps_.steps[i].name);
      } else {
        ++more;
        rest.first += part.first;
        rest.second += part.second;
      }
    }
    if (more > 0) {
      say(kind, fmt::format(fmt::runtime(text), rest.first, rest.second), rest.first,
          fmt::format("{} more steps", more));
    }
  }

  // A file that is cut off lacks what would have come behind, launches and kernels alike: a step is whole
  // only if it has as much work as the fullest one, and one step alone has nothing to be compared with.
  void cut_off() {
    const auto is_cut = [](const Diagnostic& each) { return each.id == diagnostics::kFileCutOff.id; };
    if (std::none_of(found_.diagnostics.begin(), found_.diagnostics.end(), is_cut)) return;
    const bool kernels = attribution_.device || !timeline_.devices.empty();
    if (!kernels && !host_only_) return;
    std::vector<std::int64_t> work(steps_.steps.size(), 0);
    for (const Event& event : timeline_.events) {
      if (event.role != (kernels ? Role::kKernel : Role::kOp)) continue;
      const auto step = kernels ? steps_.of_device(event.start_ns) : steps_.of_host(event.start_ns);
      if (step) ++work[*step];
    }
    const std::int64_t most = work.empty() ? 0 : *std::max_element(work.begin(), work.end());
    for (std::size_t i = 0; i < work.size(); ++i) {
      const bool whole =
          static_cast<double>(work[i]) >= (1 - limits_.broken_share) * static_cast<double>(most);
      if (most == 0 || work.size() == 1 || !whole) found_.broken[i] = true;
    }
  }

  // What a profiler's schedule ends with.
  void empty_steps() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
      if (is_empty(steps_, i)) names.push_back(steps_.steps[i].name);
    }
    if (names.empty()) return;
    say(diagnostics::kEmptySteps,
        fmt::format("{} of {} steps launch nothing", names.size(), steps_.steps.size()),
        static_cast<std::int64_t>(names.size()), names.size() == 1 ? names.front() : "");
  }

  void running_ahead() {
    if (steps_.extent != StepExtent::kCompletion) return;
    say(diagnostics::kHostRunsAhead,
        fmt::format("the work of {} of {} steps ends after the next step has begun, by up to {}",
                    steps_.ahead, steps_.steps.size(), time_text(steps_.most_ahead_ns)),
        static_cast<std::int64_t>(steps_.ahead));
  }

  void disagreeing_clocks() {
    std::int64_t early = 0;
    std::int64_t most = 0;
    std::int64_t kernels = 0;
    std::int64_t outside = 0;
    for (std::size_t i = 0; i < timeline_.calls.size(); ++i) {
      const Event& work = timeline_.events[i];
      const bool known = timeline_.calls[i] != kNoEvent;
      if (work.role == Role::kKernel) {
        ++kernels;
        const bool before = work.start_ns < census_.host.start_ns - limits_.clock_rounding_ns;
        const std::int64_t after =
            known ? timeline_.events[timeline_.calls[i]].end_ns() + limits_.late_ns : census_.host.end_ns;
        const bool late = work.start_ns > after;
        if (any_call_ && census_.host.any() && (before || late)) ++outside;
      }
      if (!known) continue;
      const std::int64_t by = timeline_.events[timeline_.calls[i]].start_ns - work.start_ns;
      if (by <= limits_.clock_rounding_ns) continue;
      ++early;
      most = std::max(most, by);
    }
    const EarlyReturns returns = early_returns(timeline_, limits_.wait_rounding_ns);
    if (returns.count > 0) {
      say(diagnostics::kClockSkew,
          fmt::format("{} of {} waits return before the work that they wait for ends, by up to {}",
                      returns.count, returns.waits, time_text(returns.most_ns)),
          returns.count);
    }
    if (early > 0) {
      say(diagnostics::kClockSkew,
          fmt::format("{} pieces of work begin before their launch does, by up to {}", early,
                      time_text(most)),
          early);
    }
    if (outside > 0) {
      say(diagnostics::kKernelsOutsideWindow,
          fmt::format("{} of {} kernels run when nothing of the host is recorded", outside, kernels),
          outside);
    }
    loss_ = loss_ || early > 0 || returns.count > 0 ||
            static_cast<double>(outside) > limits_.broken_share * static_cast<double>(kernels);
  }

  void kernels_of_no_time() {
    if (census_.timeless_kernels == 0) return;
    say(diagnostics::kZeroDurations, counted(census_.timeless_kernels, "kernel") + " of 0 ns",
        census_.timeless_kernels);
  }

  void overlaps() {
    std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t> ends;
    std::int64_t count = 0;
    for (const Event& event : timeline_.events) {
      if (event.role != Role::kKernel) continue;
      const LaunchDetail& launch = timeline_.launches[event.detail];
      if (launch.stream < 0) continue;
      std::int64_t& end = ends.try_emplace({launch.device, launch.stream}, event.start_ns).first->second;
      if (event.start_ns < end) ++count;
      end = std::max(end, event.end_ns());
    }
    if (count == 0) return;
    std::string text = counted(count, "kernel") + " begun before the end of the one before on the stream";
    for (const TraceDevice& device : timeline_.devices) {
      if (device.id == attribution_.device && device.compute_capability)
        text += fmt::format("; the device has compute capability {}", *device.compute_capability);
    }
    say(diagnostics::kOverlappingKernels, std::move(text), count);
  }

  void shapes() {
    if (census_.ops == 0 || census_.ops_with_shapes > 0) return;
    say(diagnostics::kNoShapes, fmt::format("none of {} ops has shapes", census_.ops), census_.ops);
  }

  // A range of seconds around milliseconds of work: its length is the program's, or a clock's, not the
  // work's.
  void stretching_annotations() {
    const Event* const longest = census_.longest_annotation;
    if (longest == nullptr || longest->duration_ns < limits_.long_annotation_ns || !census_.ran.any()) return;
    const std::int64_t ran = census_.ran.end_ns - census_.ran.start_ns;
    const double share = static_cast<double>(ran) / static_cast<double>(longest->duration_ns);
    if (share >= limits_.annotation_share) return;
    say(diagnostics::kStretchedByAnnotations,
        fmt::format("it takes {}, all that ran {}", time_text(longest->duration_ns), time_text(ran)), 1,
        std::string(timeline_.texts[longest->name]));
  }

  void differing_steps() {
    std::vector<std::size_t> alike;
    for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
      const Step& step = steps_.steps[i];
      if (step.warmup) {
        say(diagnostics::kColdStart, fmt::format("it takes {}", time_text(step.wall_ns())), 1, step.name);
      } else if (!found_.broken[i] && !is_empty(steps_, i)) {
        alike.push_back(i);
      }
    }
    const std::vector<std::string> differences = step_differences(
        timeline_, steps_, alike, census_.busiest_lane, limits_.steps_differ, limits_.counts_differ);
    if (differences.empty()) return;
    say(diagnostics::kStepsDiffer, join(differences, "; "), static_cast<std::int64_t>(alike.size()));
  }

  void inflation(std::int64_t unprofiled_ns) {
    const std::vector<std::size_t> used = steps_to_average(steps_, found_);
    if (used.empty() || unprofiled_ns <= 0) return;
    double sum = 0;
    for (const std::size_t step : used) sum += static_cast<double>(steps_.steps[step].wall_ns());
    const double mean = sum / static_cast<double>(used.size());
    const double ratio = mean / static_cast<double>(unprofiled_ns);
    if (ratio < 1 + limits_.inflation) return;
    say(diagnostics::kProfilerInflation,
        fmt::format("a step takes {} in the trace and {} without the profiler: {} times as long",
                    time_text(static_cast<std::int64_t>(mean)), time_text(unprofiled_ns),
                    format_number(ratio, 3)));
  }

  Verdict verdict() const {
    const bool none = timeline_.events.empty() || (!host_only_ && !attribution_.device) ||
                      attribution_.unaccounted_ns != 0 || steps_to_average(steps_, found_).empty();
    if (none) return Verdict::kUnusable;
    return loss_ ? Verdict::kUsableWithLoss : Verdict::kUsable;
  }

  const Timeline& timeline_;
  const Steps& steps_;
  const Attribution& attribution_;
  const QualityLimits& limits_;
  const Census census_;
  std::vector<Launch> launches_;  // for each of Timeline::texts
  bool host_only_ = false;
  bool any_call_ = false;
  bool any_launch_ = false;  // of kernels
  bool loss_ = false;        // something is missing, was repaired, or has no place in time
  Quality found_;
};

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kUsable:
      return "usable";
    case Verdict::kUsableWithLoss:
      return "usable_with_loss";
    case Verdict::kUnusable:
      return "unusable";
  }
  return "";
}

Quality judge(const Timeline& timeline, const Steps& steps, const Attribution& attribution,
              std::optional<std::int64_t> unprofiled_ns, const QualityLimits& limits) {
  return Judge(timeline, steps, attribution, limits).judge(unprofiled_ns);
}

Verdict judge(const FileContent& content) {
  const bool sensors =
      content.telemetry && std::any_of(content.telemetry->series.begin(), content.telemetry->series.end(),
                                       [](const auto& series) { return !series.values.empty(); });
  const bool rows = std::any_of(content.op_tables.begin(), content.op_tables.end(),
                                [](const OpTable& table) { return !table.rows.empty(); });
  if (content.measurements.empty() && !rows && !sensors) return Verdict::kUnusable;
  const bool doubtful = std::any_of(content.diagnostics.begin(), content.diagnostics.end(),
                                    [](const Diagnostic& each) { return each.severity != Severity::kNote; });
  return doubtful ? Verdict::kUsableWithLoss : Verdict::kUsable;
}

std::vector<std::size_t> steps_to_average(const Steps& steps, const Quality& quality) {
  std::vector<std::size_t> used;
  for (const bool with_warmup : {false, true}) {
    for (std::size_t i = 0; i < steps.steps.size(); ++i) {
      const bool whole = !quality.broken[i] && !is_empty(steps, i);
      if (whole && (with_warmup || !steps.steps[i].warmup)) used.push_back(i);
    }
    if (!used.empty()) break;
  }
  return used;
}

}  // namespace deepgap::trace
