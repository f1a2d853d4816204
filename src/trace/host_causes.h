// Calls and ops that took as long as they did for a reason that is not their own work: something was loaded,
// compiled or tried out in them, or something else had the host's cores.
//
//   const HostCauses causes = find_causes(timeline, names, threads);
//   causes.startup[event]                                   // a first time, or autotuning
//   stretch_ns >= causes.interrupted_ns[timeline.events[event].name]
#pragma once

#include <cstdint>
#include <vector>

#include "trace/host_threads.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// Of calls and ops in a trace that shows loading. A context, module or function that is looked up, and the
// first launch of a kernel, load where they take least_ns.
struct StartupLimits {
  std::int64_t least_ns = 200'000;  // what is shorter is no loading
  double factor = 10;               // of the median of a name
  std::size_t rare = 2;             // a name seen so often at most has no median to go by
};

struct AutotuningLimits {
  std::size_t records = 2;      // of events, in an op that then waits for one: it times what it launched
  std::size_t tried = 3;        // more kernels by name than the siblings of the same shapes run,
  double times_siblings = 2;    // and so many times as many
  std::size_t least_alike = 3;  // ops of one name and shapes, or nothing is said of them
};

struct InterruptionLimits {
  std::int64_t least_ns = 1'000'000;
  double factor = 50;  // of the median of a name
};

struct HostCauses {
  bool loads = false;         // the trace shows loading: it is cold
  std::vector<bool> startup;  // for each event
  // For each of Timeline::texts how long a stretch of a launch or of bookkeeping must be for it to have been
  // interrupted; the largest number in a trace that is cold, where such stretches are first times.
  std::vector<std::int64_t> interrupted_ns;
  // For each event whether it is the first of its name, or launches the first kernel of a name: that it takes
  // long says nothing, for not all tracers show what is loaded then.
  std::vector<bool> first;
};

struct CauseLimits {
  StartupLimits startup;
  AutotuningLimits autotuning;
  InterruptionLimits interruption;
};

HostCauses find_causes(const Timeline& timeline, const HostNames& names, const HostThreads& threads,
                       const CauseLimits& limits = {});

}  // namespace deepgap::trace
