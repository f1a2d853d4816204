// What a host thread was doing at each moment, as the innermost of what was recorded there.
//
//   HostActivity activity(timeline, first_times(timeline), lane);
//   activity.for_each(from, to, [&](const HostMoment& moment) { ... moment.start_ns, end_ns, event ... });
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trace/runtime_calls.h"
#include "trace/timeline.h"

namespace deepgap::trace {

enum class HostState : std::uint8_t {
  kNone,       // between the ops: the framework, the user's program, a sleep
  kLaunching,  // in a call that launches, or in an op that launches something
  kCopying,    // in a call that waits for a copy
  kWaiting,    // in a call that waits for the device
  kAllocating,
  kLoading,     // modules, libraries, first calls
  kCpuOp,       // in an op that launches nothing and computes something
  kBookkeeping  // in an op that neither launches nor computes: a view
};

struct HostMoment {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t event = kNoEvent;  // the innermost; none between ops
  HostState state = HostState::kNone;
};

struct StartupLimits {
  std::int64_t least_ns = 200'000;  // what is shorter is no loading
  double factor = 10;               // of the median of a name
  std::size_t rare = 2;             // a name seen so often at most has no median to go by
};

// Which calls and ops (by their index) took as long as they did because something was loaded or compiled in
// them: where the trace shows loading at all, those of at least limits.least_ns that are rare or took
// limits.factor times the median of their name.
std::vector<bool> first_times(const Timeline& timeline, const StartupLimits& limits = {});

class HostActivity {
 public:
  // `startup` is first_times(timeline).
  HostActivity(const Timeline& timeline, const std::vector<bool>& startup, std::uint32_t lane);

  bool empty() const { return moments_.empty(); }
  // From the first to the last recorded moment of the thread.
  std::int64_t begin_ns() const { return moments_.front().start_ns; }
  std::int64_t end_ns() const { return moments_.back().end_ns; }

  // Each moment within [from, to), cut to it, in their order and without a hole between the first and last
  // recorded ones.
  template <typename Visit>
  void for_each(std::int64_t from, std::int64_t to, Visit visit) const {
    auto moment = std::upper_bound(moments_.begin(), moments_.end(), from,
                                   [](std::int64_t at, const HostMoment& each) { return at < each.end_ns; });
    for (; moment != moments_.end() && moment->start_ns < to; ++moment) {
      HostMoment cut = *moment;
      cut.start_ns = std::max(cut.start_ns, from);
      cut.end_ns = std::min(cut.end_ns, to);
      visit(cut);
    }
  }

 private:
  std::vector<HostMoment> moments_;
};

}  // namespace deepgap::trace
