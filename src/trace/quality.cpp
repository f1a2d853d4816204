#include "trace/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/units.h"
#include "core/estimate.h"
#include "trace/runtime_calls.h"

namespace deepgap::trace {
namespace {

// A step that lacks so many of its launches' kernels tells nothing.
constexpr double kBrokenShare = 0.02;
// Stamps of host and device are converted between clocks; less than this is rounding.
constexpr std::int64_t kClockRounding = 2'000;
// Steps whose times differ by more than this from their median are not one thing.
constexpr double kStepsDiffer = 0.2;
// The profiler's cost that is worth a word.
constexpr double kInflation = 0.1;

std::string time_text(std::int64_t ns) {
  return format_value(static_cast<double>(ns), Unit::kNanoseconds);
}

// What was launched in a step, and what of it is missing.
struct StepCounts {
  std::int64_t launches = 0;
  std::int64_t without_kernel = 0;
  std::int64_t graphs = 0;
  std::int64_t opaque_graphs = 0;
  std::int64_t kernels = 0;
};

bool is_graph_launch(std::string_view name) {
  return name.find("GraphLaunch") != std::string_view::npos;
}

// Launches of kernels: of copies and memsets the record may be left out by choice.
bool launches_kernel(std::string_view name) {
  return call_kind(name) == CallKind::kLaunch && name.find("Memcpy") == std::string_view::npos &&
         name.find("Memset") == std::string_view::npos;
}

class Judge {
 public:
  Judge(const Timeline& timeline, const Steps& steps, const Attribution& attribution)
      : timeline_(timeline), steps_(steps), attribution_(attribution) {
    found_.diagnostics = timeline.diagnostics;
    found_.broken.assign(steps.steps.size(), false);
  }

  Quality judge(std::optional<std::int64_t> unprofiled_ns) {
    const bool lossy = !found_.diagnostics.empty();
    const bool has_device = attribution_.device.has_value();
    if (!timeline_.events.empty() && !has_device) {
      say(diagnostics::kNoDeviceActivity, "expected kernels, found none");
    }
    missing_work();
    cut_off();

    if (has_device) {
      disagreeing_clocks();
      overlaps();
    }
    shapes();
    differing_steps();
    if (unprofiled_ns) inflation(*unprofiled_ns);
    found_.verdict = verdict(lossy);
    return std::move(found_);
  }

 private:
  void say(const DiagnosticKind& kind, std::string text, std::int64_t count = 1, std::string where = {}) {
    found_.diagnostics.push_back(diagnose(kind, std::move(where), std::move(text), count));
  }

  std::optional<std::size_t> step_at(std::int64_t at) const {
    const auto behind =
        std::upper_bound(steps_.steps.begin(), steps_.steps.end(), at,
                         [](std::int64_t time, const Step& step) { return time < step.start_ns; });
    if (behind == steps_.steps.begin()) return std::nullopt;
    const auto step = std::prev(behind);
    if (at >= step->end_ns) return std::nullopt;
    return static_cast<std::size_t>(step - steps_.steps.begin());
  }

  void missing_work() {
    std::vector<bool> has_work(timeline_.events.size(), false);
    std::int64_t orphans = 0;
    bool any_call = false;
    for (std::size_t i = 0; i < timeline_.calls.size(); ++i) {
      if (timeline_.events[i].role == Role::kRuntimeCall) any_call = true;
      if (timeline_.calls[i] != kNoEvent) has_work[timeline_.calls[i]] = true;
      if (timeline_.events[i].role == Role::kKernel && timeline_.calls[i] == kNoEvent) ++orphans;
    }
    if (orphans > 0) {
      say(diagnostics::kKernelsWithoutLaunches,
          any_call ? fmt::format("{} kernels have no launch", orphans)
                   : fmt::format("none of the {} kernels has a launch: no calls were recorded", orphans),
          orphans);
    }
    std::vector<StepCounts> counts(steps_.steps.size());
    for (std::size_t i = 0; i < timeline_.events.size(); ++i) {
      const Event& event = timeline_.events[i];
      if (event.role != Role::kRuntimeCall) continue;
      const std::string_view name = timeline_.texts[event.name];
      const auto step = step_at(event.start_ns);
      if (!step || !launches_kernel(name)) continue;
      StepCounts& count = counts[*step];
      if (is_graph_launch(name)) {
        ++count.graphs;
        if (!has_work[i]) ++count.opaque_graphs;
      } else {
        ++count.launches;
        ++launches_;

        if (!has_work[i]) ++count.without_kernel;
      }
    }
    for (std::size_t i = 0; i < timeline_.calls.size(); ++i) {
      if (timeline_.events[i].role != Role::kKernel || timeline_.calls[i] == kNoEvent) continue;
      const Event& call = timeline_.events[timeline_.calls[i]];
      const auto step = step_at(call.start_ns);
      if (step && !is_graph_launch(timeline_.texts[call.name])) ++counts[*step].kernels;
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const StepCounts& count = counts[i];
      // Where one id stands for all, kernels are missing only if there are fewer of them than launches.
      const std::int64_t missing =
          std::min(count.without_kernel, std::max<std::int64_t>(0, count.launches - count.kernels));
      if (missing > 0) {
        say(diagnostics::kLaunchesWithoutKernels,
            fmt::format("{} of {} launches have no kernel", missing, count.launches), missing,
            steps_.steps[i].name);
      }
      if (count.opaque_graphs > 0) {
        say(diagnostics::kOpaqueGraphs,
            fmt::format("{} of {} graph launches have no kernels", count.opaque_graphs, count.graphs),
            count.opaque_graphs, steps_.steps[i].name);
      }
      found_.broken[i] = static_cast<double>(missing) > kBrokenShare * static_cast<double>(count.launches) ||
                         count.opaque_graphs > 0;
    }
  }

  // A file that is cut off lacks what would have come behind, launches and kernels alike: a step is whole
  // only if
  // it has as many kernels as the fullest one, and one step alone has nothing to be compared with.
  void cut_off() {
    const auto is_cut = [](const Diagnostic& each) { return each.id == diagnostics::kFileCutOff.id; };
    if (std::none_of(found_.diagnostics.begin(), found_.diagnostics.end(), is_cut)) return;
    std::vector<std::int64_t> kernels(steps_.steps.size(), 0);
    for (const Event& event : timeline_.events) {
      if (event.role != Role::kKernel) continue;
      if (const auto step = step_at(event.start_ns)) ++kernels[*step];
    }
    const std::int64_t most = kernels.empty() ? 0 : *std::max_element(kernels.begin(), kernels.end());
    const bool expected = attribution_.device || !timeline_.devices.empty();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const bool whole = static_cast<double>(kernels[i]) >= (1 - kBrokenShare) * static_cast<double>(most);
      if (expected && (most == 0 || kernels.size() == 1 || !whole)) found_.broken[i] = true;
    }
  }

  void disagreeing_clocks() {
    std::int64_t count = 0;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < timeline_.calls.size(); ++i) {
      if (timeline_.calls[i] == kNoEvent) continue;
      const std::int64_t early = timeline_.events[timeline_.calls[i]].start_ns - timeline_.events[i].start_ns;
      if (early <= kClockRounding) continue;
      ++count;
      most = std::max(most, early);
    }
    if (count > 0) {
      say(diagnostics::kClockSkew,
          fmt::format("{} pieces of work begin before their launch does, by up to {}", count,
                      time_text(most)),
          count);
    }
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
    if (count > 0) {
      say(diagnostics::kOverlappingKernels,
          fmt::format("{} kernels begin before the one before them on their stream ends", count), count);
    }
  }

  void shapes() {
    std::int64_t ops = 0;
    std::int64_t with = 0;
    for (const Event& event : timeline_.events) {
      if (event.role != Role::kOp) continue;
      ++ops;
      if (event.detail != kNoDetail) ++with;
    }
    if (ops > 0 && with == 0) say(diagnostics::kNoShapes, fmt::format("none of {} ops has shapes", ops), ops);
  }

  void differing_steps() {
    std::vector<std::int64_t> walls;
    for (const Step& step : steps_.steps) {
      if (step.warmup) {
        say(diagnostics::kColdStart, fmt::format("it takes {}", time_text(step.wall_ns())), 1, step.name);
      } else {
        walls.push_back(step.wall_ns());
      }
    }
    if (walls.size() < 2) return;
    std::sort(walls.begin(), walls.end());
    const double median = static_cast<double>(walls[walls.size() / 2]);
    if (static_cast<double>(walls.back()) - median > kStepsDiffer * median ||
        median - static_cast<double>(walls.front()) > kStepsDiffer * median) {
      say(diagnostics::kStepsDiffer,
          fmt::format("steps take from {} to {}", time_text(walls.front()), time_text(walls.back())),
          static_cast<std::int64_t>(walls.size()));
    }
  }

  void inflation(std::int64_t unprofiled_ns) {
    const std::vector<std::size_t> used = steps_to_average(steps_, found_);
    if (used.empty() || unprofiled_ns <= 0) return;
    double sum = 0;
    for (const std::size_t step : used) sum += static_cast<double>(steps_.steps[step].wall_ns());
    const double mean = sum / static_cast<double>(used.size());
    const double ratio = mean / static_cast<double>(unprofiled_ns);
    if (ratio < 1 + kInflation) return;
    say(diagnostics::kProfilerInflation,
        fmt::format("a step takes {} in the trace and {} without the profiler: {} times as long",
                    time_text(static_cast<std::int64_t>(mean)), time_text(unprofiled_ns),
                    format_number(ratio, 3)));
  }

  Verdict verdict(bool lossy) const {
    const bool none =
        timeline_.events.empty() || (launches_ > 0 && !attribution_.device) || steps_.steps.empty() ||
        std::all_of(found_.broken.begin(), found_.broken.end(), [](bool broken) { return broken; });
    if (none) return Verdict::kUnusable;
    const bool broken =
        std::any_of(found_.broken.begin(), found_.broken.end(), [](bool each) { return each; });
    const bool missing =
        std::any_of(found_.diagnostics.begin(), found_.diagnostics.end(), [](const Diagnostic& each) {
          return each.id == diagnostics::kLaunchesWithoutKernels.id || each.id == diagnostics::kClockSkew.id;
        });
    return lossy || broken || missing ? Verdict::kUsableWithLoss : Verdict::kUsable;
  }

  const Timeline& timeline_;
  const Steps& steps_;
  const Attribution& attribution_;
  std::int64_t launches_ = 0;  // of kernels, in all steps
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
              std::optional<std::int64_t> unprofiled_ns) {
  return Judge(timeline, steps, attribution).judge(unprofiled_ns);
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
      if (!quality.broken[i] && (with_warmup || !steps.steps[i].warmup)) used.push_back(i);
    }
    if (!used.empty()) break;
  }
  return used;
}

}  // namespace deepgap::trace
