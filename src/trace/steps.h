// The repeated unit of work in a trace: what a time is said of.
//
//   for (const Step& step : find_steps(timeline).steps) ... step.wall_ns() ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/timeline.h"

namespace deepgap::trace {

// By what steps were told, the first of these that a trace has.
enum class StepBasis {
  kProfilerSteps,     // the profiler's own, "ProfilerStep#12"
  kAnnotations,       // a range that the user named and that comes back
  kRepeatedOps,       // a sequence of ops that comes back
  kRepeatedLaunches,  // a sequence of launches that comes back, of graphs also one alone
  kWholeTrace,
};
std::string_view name_of(StepBasis basis);

// From where to where a step reaches.
enum class StepExtent {
  // Its range or, where no later step begins first, to the end of the last work launched in it.
  kRange,
  // From the end of the work of the step before to the end of its own: the host launches the steps ahead of
  // the device, and a range says how long the launching took.
  kCompletion,
};
std::string_view name_of(StepExtent extent);

// Steps do not overlap: a kernel that runs in a later step's time is charged there.
struct Step {
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t host_start_ns = 0;  // of the range
  std::int64_t host_end_ns = 0;
  std::int64_t launched = 0;  // pieces of work, wherever they ran
  bool warmup = false;        // a cold start: left out of every average

  std::int64_t wall_ns() const { return end_ns - start_ns; }
};

struct Steps {
  StepBasis basis = StepBasis::kWholeTrace;
  StepExtent extent = StepExtent::kRange;
  std::vector<Step> steps;    // by start; empty for a trace without events
  bool any_launches = false;  // some step does
  // Those whose work ends after the next one has begun, and by how much at most.
  std::size_t ahead = 0;
  std::int64_t most_ahead_ns = 0;

  // The step in whose time the device is at `at`.
  std::optional<std::size_t> of_device(std::int64_t at) const;
  // The step in which the host is then.
  std::optional<std::size_t> of_host(std::int64_t at) const;
};

// Whether a step launches nothing while others do: it is no measure of them.
bool is_empty(const Steps& steps, std::size_t index);

struct StepLimits {
  double cold_start = 1.5;   // a first step that takes so many times the median of the others is one
  double least_cover = 0.5;  // of the time in which anything ran, by the repetitions of a named range
  std::size_t shortest_sequence = 3;  // what is shorter is a loop within a step
  double ahead_share = 0.5;  // where more of the steps run on into the next, all are told by the device
};

Steps find_steps(const Timeline& timeline, const StepLimits& limits = {});

}  // namespace deepgap::trace
