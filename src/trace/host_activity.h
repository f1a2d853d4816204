// What a host thread was doing at each moment, as the innermost of what was recorded there.
//
//   HostActivity activity(host, lane);
//   activity.for_each(from, to, [&](const HostMoment& moment) { ... moment.start_ns, end_ns, event ... });
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "trace/host_causes.h"
#include "trace/host_names.h"
#include "trace/host_threads.h"
#include "trace/timeline.h"

namespace deepgap::trace {

enum class HostState : std::uint8_t {
  kNone,       // between the ops or in a range: the framework, the user's program, a sleep
  kLaunching,  // in a call that launches, or in an op that launches something
  kCopying,    // in a call that waits for a copy
  kWaiting,    // in a call that waits for the device
  kAllocating,
  kLoading,     // modules, libraries, first calls, autotuning
  kCpuOp,       // in an op that launches nothing and computes something
  kBookkeeping  // in an op that neither launches nor computes: a view
};

struct HostMoment {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t event = kNoEvent;  // the innermost; none between ops
  HostState state = HostState::kNone;
  bool interrupted = false;  // a launch or bookkeeping, for so long that something else had the core
};

struct HostLimits {
  std::int64_t long_view_ns = 100'000;  // an op beyond it that only makes a view does something
  std::int64_t real_copy_ns = 20'000;   // a copy or a query that takes less is not what its call waits for
  CauseLimits causes;
};

// What all threads of a trace share.
class Host {
 public:
  Host(const Timeline& timeline, const HostLimits& limits);

  const Timeline& timeline;
  const HostLimits& limits;
  const HostNames names;
  const HostThreads threads;
  const HostCauses causes;
  std::vector<bool> has_work;  // for each event whether it is a call that has work on a device
  // Calls that wait for a copy from or to memory that is not pinned: for the copy, or, where that is nothing,
  // until the device has come to it.
  std::unordered_map<std::uint32_t, HostState> pageable;
};

class HostActivity {
 public:
  HostActivity(const Host& host, std::uint32_t lane);

  // Each moment within [from, to), cut to it, in their order and without a hole between the first and last
  // recorded ones.
  template <typename Visit>
  void for_each(std::int64_t from, std::int64_t to, Visit visit) const {
    auto moment = std::upper_bound(moments_.begin(), moments_.end(), from,
                                   [](std::int64_t at, const Moment& each) { return at < each.start_ns; });
    if (moment != moments_.begin()) --moment;
    for (; moment != moments_.end() && moment->start_ns < to; ++moment) {
      const auto next = std::next(moment);
      const std::int64_t end = std::min(next == moments_.end() ? end_ns_ : next->start_ns, to);
      const std::int64_t start = std::max(moment->start_ns, from);
      if (start < end) visit(HostMoment{start, end, moment->event, moment->state, moment->interrupted});
    }
  }

  // Whether something may have been put on the device in [from, to) of which there is no record: a launch
  // without its kernel, an op that computes and launches nothing.
  bool may_lack_work(std::int64_t from, std::int64_t to) const {
    const auto first = std::lower_bound(unrecorded_.begin(), unrecorded_.end(), from);
    return first != unrecorded_.end() && *first < to;
  }

 private:
  // Up to the next one: there are up to two for each op and call of a thread.
  struct Moment {
    std::int64_t start_ns = 0;
    std::uint32_t event = kNoEvent;
    HostState state = HostState::kNone;
    bool interrupted = false;
  };
  std::vector<Moment> moments_;
  std::vector<std::int64_t> unrecorded_;  // starts of such launches and ops
  std::int64_t end_ns_ = 0;
};

}  // namespace deepgap::trace
