// Where each step's time went: every nanosecond of a step gets exactly one label.
//
//   const Attribution found = attribute(timeline, find_steps(timeline));
//   found.steps[0].ns[Label::kKernel] ...          // the labels of a step sum to its wall time
//
// The rules are those of docs/trace.md; their numbers stand in AttributionLimits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/host_activity.h"
#include "trace/steps.h"
#include "trace/timeline.h"

namespace deepgap::trace {

enum class Label : std::uint8_t {
  kKernel,               // the device computes
  kCopyExposed,          // copies and memsets that no kernel hides
  kIdleHostLaunch,       // the device waits for a launch, or for an op on its way to one
  kIdleFramework,        // the host is between ops: framework, Python, input pipeline, a sleep
  kIdleDeviceQueue,      // the work was queued already: gaps between kernels
  kIdleContention,       // something else has the device or the host's cores
  kIdleAllocation,       // a call that takes or gives back device memory
  kIdleSynchronisation,  // host and device wait for each other
  kIdleCopyWait,         // a call that waits for a copy
  kIdleCpuOp,            // an op that runs on the host
  kIdleStartup,          // module loading, compilation, first calls
  kIdleUnknown,          // nothing was recorded there
};
inline constexpr std::size_t kLabels = 12;
std::string_view name_of(Label label);  // "kernel", "copy_exposed", "idle_host_launch", ...

// From a handful of traces of one machine. How far the labels move with each: docs/trace.md.
struct AttributionLimits {
  std::int64_t queued_ns = 20'000;       // a launch that returned so long ago had its work in the queue
  std::int64_t contention_ns = 100'000;  // a gap of queued work beyond this is another's
  double blocking_share = 0.9;           // of launches that return after their kernel ended
  std::size_t asked_threads = 4;         // of those that launch most, where one's record has a hole
  HostLimits host;
};

struct Segment {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Label label = Label::kIdleUnknown;
  std::uint32_t next = kNoEvent;  // of idle time: the work that ends it; none at the end of a step
};

struct StepLabels {
  std::array<std::int64_t, kLabels> ns{};
  std::int64_t of(Label label) const { return ns[static_cast<std::size_t>(label)]; }
};

struct Attribution {
  std::optional<std::int32_t> device;  // whose time it is; absent: the trace has none, ops are the work
  bool launches_block = false;         // CUDA_LAUNCH_BLOCKING, or a profiler that makes them
  std::vector<StepLabels> steps;       // one for each of Steps::steps
  std::vector<Segment> segments;       // of all steps, in their order, without holes within a step
  // What the labels of all steps lack of their walls: 0. Else the sweep is at fault, and judge() says so.
  std::int64_t unaccounted_ns = 0;
};

// `device`: the one with most kernel time where absent. A trace of a run on the CPU has no device: what its
// ops compute, on any thread, is `kernel`, and what is between them `idle_framework`.
Attribution attribute(const Timeline& timeline, const Steps& steps,
                      std::optional<std::int32_t> device = std::nullopt,
                      const AttributionLimits& limits = {});

}  // namespace deepgap::trace
