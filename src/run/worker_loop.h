// The measuring loop: warm-up, timed calls, stopping. All engines are timed by it, through this header or, in
// other languages, through worker_loop_c.h.
//
//   MeasureReply reply;
//   Outcome outcome = measure(engine, {.mode = Mode::kLatency}, observer, reply);
//   reply.samples.host_ns                      // one entry a timed call
//
// Latency: one call at a time. Each is stamped right before and right after on CLOCK_MONOTONIC; what the loop
// does between two calls (storing, the stopping rule, progress) lies outside both stamps. One stamp could
// serve as the end of a call and the start of the next, but would charge that work to the calls.
//
// Throughput: `in_flight` slots are kept full from the warm-up on, so nothing ramps up in the window, which
// begins at a completion once the warm-up is over and every slot has completed a call. It ends at the
// completion of the last call counted. `completed` calls end in it, a multiple of `in_flight`, so that
// engines which complete in bursts are not cut inside one. Calls submitted before the window that complete in
// it count; those in flight at its end do not. host_ns is from submit to completion. What warm-up and
// stopping rule look at is then the time from every `in_flight`-th completion to the next.
//
// Sample buffers are allocated and touched before the timed calls and grow geometrically between two of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "core/measurement.h"
#include "core/precision.h"
#include "run/engine.h"
#include "stats/stopping.h"
#include "stats/warmup.h"

namespace deepgap::run {

struct MeasureOptions {
  Mode mode = Mode::kLatency;
  // Warm-up: at least min_calls and min_time, then until the running median stops drifting, at most its
  // time_limit and at most half of what `stopping` allows in all.
  // (In throughput mode its counts are of rounds of `in_flight` calls, as are min_samples of `stopping`.)
  stats::WarmupOptions warmup{.max_calls = 1'000'000};
  // Instead: exactly so many calls, the first call after load counted in.
  std::optional<std::int64_t> warmup_fixed_calls;
  // Its time_limit holds for warm-up and timed calls together. At least one call is timed all the same
  // (throughput: `in_flight` calls). In throughput mode fixed_count is rounded up to a multiple of
  // `in_flight`.
  stats::StoppingOptions stopping;
  int in_flight = 1;  // throughput; at most the slots of the load
  // CLOCK_MONOTONIC: the timed calls begin then, not before. Waiting for it counts in no limit.
  std::optional<Nanoseconds> start_at;
};

enum class MeasurePhase { kWarmup, kMeasure };  // "warmup", "measure"
std::string_view name_of(MeasurePhase phase);
std::optional<MeasurePhase> parse_measure_phase(std::string_view name);

struct MeasureProgress {
  MeasurePhase phase = MeasurePhase::kWarmup;
  std::int64_t calls = 0;  // of this phase
  Nanoseconds elapsed{};   // of both
  // Of host_ns at the stopping rule's last look; in throughput mode of the time from completion to
  // completion.
  std::optional<Nanoseconds> median;
  std::optional<double> width;  // relative half width of the interval there
};

// Told how it goes between two calls, some 20 times a second, also while slots are filled and emptied;
// whatever it does is outside the timed calls.
class MeasureObserver {
 public:
  virtual ~MeasureObserver() = default;
  // False ends the measuring after the calls in flight, with the reason kCancelled; while those end, it is
  // told on.
  virtual bool go_on(const MeasureProgress& progress) = 0;
};

struct MeasureReply {
  std::optional<Nanoseconds> first_call;  // the cold call after a load; absent when it was made before
  std::int64_t warmup_calls = 0;          // the first call included
  Nanoseconds warmup_time{};
  bool warmup_steady = false;  // false: it ended at a limit, or a fixed count asked for none
  StopReason stop_reason = StopReason::kPrecisionReached;
  std::optional<Nanoseconds> window;  // throughput
  std::int64_t completed = 0;         // throughput: calls that completed in the window
  ClockPair started;                  // read right before the first timed call
  MemoryUse memory;
  SampleColumns samples;
};

// Measures what is loaded. `cold`: no call has been made since the load. On a failure `reply` is not to be
// used. Exceptions of the engine pass through (serve() catches them).
Outcome measure(Engine& engine, const MeasureOptions& options, bool cold, MeasureObserver& observer,
                MeasureReply& reply);

}  // namespace deepgap::run
