#include "trace/attribution.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <unordered_map>

#include "ops/kernel_name.h"
#include "trace/host_activity.h"
#include "trace/host_compute.h"

namespace deepgap::trace {
namespace {

struct Work {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t call = kNoEvent;
  bool kernel = false;
  std::uint32_t event = kNoEvent;
};

std::optional<std::int32_t> busiest_device(const Timeline& timeline) {
  std::map<std::int32_t, double> times;
  for (const Event& event : timeline.events) {
    if (event.role != Role::kKernel && event.role != Role::kCopy && event.role != Role::kMemset) continue;
    times[timeline.launches[event.detail].device] +=
        event.role == Role::kKernel ? static_cast<double>(event.duration_ns) + 1 : 0;
  }
  const auto most = std::max_element(times.begin(), times.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == times.end()) return std::nullopt;
  return most->first;
}

Label label_of(HostState state) {
  switch (state) {
    case HostState::kLaunching:
      return Label::kIdleHostLaunch;
    case HostState::kCopying:
      return Label::kIdleCopyWait;
    case HostState::kWaiting:
      return Label::kIdleSynchronisation;
    case HostState::kAllocating:
      return Label::kIdleAllocation;
    case HostState::kLoading:
      return Label::kIdleStartup;
    case HostState::kCpuOp:
      return Label::kIdleCpuOp;
    case HostState::kNone:
    case HostState::kBookkeeping:
      return Label::kIdleFramework;
  }
  return Label::kIdleUnknown;
}

bool blocks(HostState state) {
  return state == HostState::kCopying || state == HostState::kWaiting || state == HostState::kAllocating;
}

// What takes its time whether or not the queue was drained before it.
bool stands_for_itself(HostState state) {
  return state == HostState::kLoading || state == HostState::kCpuOp;
}

class Attributor {
 public:
  Attributor(const Timeline& timeline, const Steps& steps, std::optional<std::int32_t> device,
             const AttributionLimits& limits)
      : timeline_(timeline), steps_(steps), limits_(limits), host_(timeline, limits.host) {
    found_.device = device ? device : busiest_device(timeline);
    host_only_ = !found_.device && is_host_only(timeline, host_.names);
    if (host_only_) {
      for (const Interval& busy :
           computing_times(timeline, host_.threads, host_.names, limits.host.long_view_ns)) {
        work_.push_back({busy.start_ns, busy.end_ns, kNoEvent, true, kNoEvent});
      }
      return;
    }
    take_work();
    found_.launches_block = launches_block();
    rank_lanes();
    communicates_ = communicates();
  }

  Attribution attribute() {
    for (const Step& step : steps_.steps) attribute(step);
    return std::move(found_);
  }

 private:
  void take_work() {
    for (std::size_t i = 0; i < timeline_.events.size(); ++i) {
      const Event& event = timeline_.events[i];
      const bool kernel = event.role == Role::kKernel;
      if (!kernel && event.role != Role::kCopy && event.role != Role::kMemset) continue;
      if (timeline_.launches[event.detail].device == found_.device) {
        work_.push_back(
            {event.start_ns, event.end_ns(), timeline_.calls[i], kernel, static_cast<std::uint32_t>(i)});
      } else if (!elsewhere_.empty() && event.start_ns <= elsewhere_.back().end_ns) {
        elsewhere_.back().end_ns = std::max(elsewhere_.back().end_ns, event.end_ns());
      } else {
        elsewhere_.push_back({event.start_ns, event.end_ns()});
      }
    }
  }

  bool launches_block() const {
    std::int64_t launches = 0;
    std::int64_t late = 0;
    for (const Work& work : work_) {
      if (!work.kernel || work.call == kNoEvent) continue;
      const Event& call = timeline_.events[work.call];
      if (!puts_work(host_.names.call(call))) continue;
      ++launches;
      if (call.end_ns() >= work.end_ns) ++late;
    }
    return launches > 0 &&
           static_cast<double>(late) >= limits_.blocking_share * static_cast<double>(launches);
  }

  // The threads that launched the device's work, most first. The first of them stands for work of which the
  // launch is not known; all of them for one of which nothing is recorded.
  void rank_lanes() {
    std::unordered_map<std::uint32_t, std::size_t> launched;
    for (const Work& work : work_) {
      if (work.call != kNoEvent) ++launched[timeline_.events[work.call].lane];
    }
    for (const auto& [lane, count] : launched) lanes_.push_back(lane);
    std::sort(lanes_.begin(), lanes_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return launched[a] != launched[b] ? launched[a] > launched[b] : a < b;
    });
    if (lanes_.size() > limits_.asked_threads) lanes_.resize(limits_.asked_threads);
  }

  // Whether the run is one of several that wait for each other on their devices.
  bool communicates() const {
    std::vector<bool> seen(timeline_.texts.size(), false);
    for (const Event& event : timeline_.events) {
      if (event.role != Role::kKernel || seen[event.name]) continue;
      seen[event.name] = true;
      if (ops::parse_kernel_name(timeline_.texts[event.name]).family == ops::KernelFamily::kCommunication)
        return true;
    }
    return false;
  }

  void put(std::int64_t start, std::int64_t end, Label label) {
    if (end <= start) return;
    found_.steps.back().ns[static_cast<std::size_t>(label)] += end - start;
    if (!found_.segments.empty() && found_.segments.back().end_ns == start &&
        found_.segments.back().label == label && found_.segments.back().next == ended_by_ &&
        start > step_start_) {
      found_.segments.back().end_ns = end;
    } else {
      found_.segments.push_back({start, end, label, ended_by_});
    }
  }

  void attribute(const Step& step) {
    found_.steps.emplace_back();
    step_start_ = step.start_ns;
    step_is_cold_ = step.warmup;
    lead_ns_ = 0;
    tail_.reset();
    sweep(step);
    std::int64_t rest = step.wall_ns();
    for (const std::int64_t ns : found_.steps.back().ns) rest -= ns;
    found_.unaccounted_ns += std::abs(rest);
  }

  // What runs on the device from the step's start to its end, and the gaps between.
  void sweep(const Step& step) {
    std::int64_t at = step.start_ns;
    // Work of before may reach into the step.
    while (next_ < work_.size() && work_[next_].start_ns < step.start_ns) begin_work();
    for (;;) {
      const bool more = next_ < work_.size() && work_[next_].start_ns < step.end_ns;
      const std::int64_t until = more ? work_[next_].start_ns : step.end_ns;
      const std::int64_t kernels = std::clamp(kernel_until_, at, until);
      put(at, kernels, Label::kKernel);
      const std::int64_t copies = std::clamp(copy_until_, kernels, until);
      put(kernels, copies, Label::kCopyExposed);
      if (copies < until) {
        ended_by_ = more ? work_[next_].event : kNoEvent;
        idle(copies, until, more ? &work_[next_] : nullptr);
        ended_by_ = kNoEvent;
      }
      at = until;
      if (!more) return;
      begin_work();
    }
  }

  void begin_work() {
    const Work& work = work_[next_++];
    std::int64_t& reached = work.kernel ? kernel_until_ : copy_until_;
    reached = std::max(reached, work.end_ns);
    if (work.kernel) tail_.reset();
    last_call_ = work.call;
    repay(work);
  }

  const HostActivity& activity_of(std::uint32_t lane) {
    std::unique_ptr<HostActivity>& activity = activities_[lane];
    if (!activity) activity = std::make_unique<HostActivity>(host_, lane);
    return *activity;
  }

  // A gap, and the work that ends it (none at the step's end).
  void idle(std::int64_t from, std::int64_t to, const Work* next) {
    if (host_only_) {
      put(from, to, Label::kIdleFramework);
      return;
    }
    const std::uint32_t call = next != nullptr ? next->call : last_call_;
    if (call == kNoEvent) {
      if (!lanes_.empty()) {
        host(from, to, lanes_.front());
      } else {
        put(from, to, Label::kIdleUnknown);
      }
      return;
    }
    const Event& launch = timeline_.events[call];
    std::int64_t queued_from = to;
    if (next != nullptr && !found_.launches_block)
      queued_from = std::clamp(launch.end_ns() + limits_.queued_ns, from, to);
    host(from, queued_from, launch.lane);
    if (next != nullptr) queued(queued_from, to, *next);
  }

  // The part of a gap for which the next work was in the queue. While another device of ours works, that is
  // what it may wait for; what is long beside that is something else's.
  void queued(std::int64_t from, std::int64_t to, const Work& next) {
    const auto alone = [&](std::int64_t start, std::int64_t end) {
      put(start, end, end - start > limits_.contention_ns ? long_wait(next) : Label::kIdleDeviceQueue);
    };
    while (elsewhere_next_ < elsewhere_.size() && elsewhere_[elsewhere_next_].end_ns <= from)
      ++elsewhere_next_;
    std::int64_t at = from;
    for (std::size_t i = elsewhere_next_; i < elsewhere_.size() && elsewhere_[i].start_ns < to; ++i) {
      const std::int64_t start = std::max(elsewhere_[i].start_ns, at);
      const std::int64_t end = std::min(elsewhere_[i].end_ns, to);
      alone(at, start);
      put(start, end, Label::kIdleDeviceQueue);
      at = end;
    }
    alone(at, to);
  }

  // What held up work that was queued: where all that the device did is on record, another's. Before the
  // first record it may have done anything; a peer of the job may have been waited for on the device.
  Label long_wait(const Work& next) {
    const bool first = next_ == 0 && (elsewhere_.empty() || elsewhere_.front().start_ns >= next.start_ns);
    if (first) return Label::kIdleUnknown;
    if (communicates_) return Label::kIdleDeviceQueue;
    if (last_call_ == kNoEvent || next.call == kNoEvent) return Label::kIdleContention;
    const Event& before = timeline_.events[last_call_];
    const Event& launch = timeline_.events[next.call];
    const bool lacks = before.lane == launch.lane &&
                       activity_of(launch.lane).may_lack_work(before.end_ns(), launch.start_ns);
    return lacks ? Label::kIdleUnknown : Label::kIdleContention;
  }

  // The part of a gap for which the host answers, by the thread of the next launch.
  void host(std::int64_t from, std::int64_t to, std::uint32_t lane) {
    std::int64_t at = from;
    activity_of(lane).for_each(from, to, [&](const HostMoment& moment) {
      others(at, moment.start_ns, lane, 0);
      if (moment.state == HostState::kNone) {
        others(moment.start_ns, moment.end_ns, lane, 0);
      } else {
        host_moment(moment, from);
      }
      at = moment.end_ns;
    });
    others(at, to, lane, 0);
  }

  // Where that thread was between its ops: what the other threads that launch did, one after the other. What
  // they wait for does not hold it up.
  void others(std::int64_t from, std::int64_t to, std::uint32_t except, std::size_t rank) {
    if (to <= from) return;
    if (rank < lanes_.size() && !is_asked(lanes_[rank], except)) {
      others(from, to, except, rank + 1);
      return;
    }
    if (rank == lanes_.size()) {
      settle(from, to, HostState::kNone);
      return;
    }
    std::int64_t at = from;
    activity_of(lanes_[rank]).for_each(from, to, [&](const HostMoment& moment) {
      others(at, moment.start_ns, except, rank + 1);
      if (moment.state == HostState::kNone || blocks(moment.state)) {
        others(moment.start_ns, moment.end_ns, except, rank + 1);
      } else {
        host_moment(moment, from);
      }
      at = moment.end_ns;
    });
    others(at, to, except, rank + 1);
  }

  bool is_asked(std::uint32_t lane, std::uint32_t except) const {
    return lane != except && timeline_.lanes[lane].process == timeline_.lanes[except].process;
  }

  // `from`: when the device fell idle.
  void host_moment(const HostMoment& moment, std::int64_t from) {
    HostState state = moment.state;
    if (found_.launches_block && state == HostState::kLaunching) state = HostState::kWaiting;
    if (blocks(state)) {
      const Event& call = timeline_.events[moment.event];
      // Begun before the device fell idle: it drained the queue, and how far the host was ahead is lost.
      if (call.start_ns < from) {
        tail_ = label_of(state);
        lead_ns_ = from - call.start_ns;
        lead_label_ = *tail_;
      }
      put(moment.start_ns, moment.end_ns, label_of(state));
    } else if (moment.interrupted && !step_is_cold_) {
      put(moment.start_ns, moment.end_ns, Label::kIdleContention);
    } else {
      settle(moment.start_ns, moment.end_ns, state);
    }
  }

  // All that follows a drained queue until the next kernel is the drain's, and launch idle behind that for as
  // long as there is something left of the lead that it took.
  void settle(std::int64_t from, std::int64_t to, HostState state) {
    if (to <= from) return;
    if (tail_ && !stands_for_itself(state)) {
      lead_ns_ = std::max<std::int64_t>(0, lead_ns_ - (to - from));
      put(from, to, *tail_);
      return;
    }
    const Label label = label_of(state);
    const std::int64_t paid = label == Label::kIdleHostLaunch ? std::min(to - from, lead_ns_) : 0;
    lead_ns_ -= paid;
    put(from, from + paid, lead_label_);
    put(from + paid, to, label);
  }

  // As much work is queued again as was before the drain.
  void repay(const Work& work) {
    if (lead_ns_ == 0 || work.call == kNoEvent) return;
    if (work.start_ns - timeline_.events[work.call].end_ns() >= lead_ns_) lead_ns_ = 0;
  }

  const Timeline& timeline_;
  const Steps& steps_;
  const AttributionLimits& limits_;
  const Host host_;
  bool host_only_ = false;

  std::vector<Work> work_;           // of the device, by start
  std::vector<Interval> elsewhere_;  // when other devices of the trace work, by start and apart
  std::size_t next_ = 0;             // of work_: what the sweep has not come to yet
  std::size_t elsewhere_next_ = 0;
  std::int64_t step_start_ = 0;
  bool step_is_cold_ = false;
  std::uint32_t ended_by_ = kNoEvent;  // of the gap that is looked at
  std::int64_t kernel_until_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t copy_until_ = std::numeric_limits<std::int64_t>::min();
  std::unordered_map<std::uint32_t, std::unique_ptr<HostActivity>> activities_;
  std::vector<std::uint32_t> lanes_;  // that launched the device's work, most first
  bool communicates_ = false;
  std::uint32_t last_call_ = kNoEvent;
  std::optional<Label> tail_;  // of a blocking call that drained the queue: until the next kernel starts
  std::int64_t lead_ns_ = 0;   // what is left of the lead that it took
  Label lead_label_ = Label::kIdleSynchronisation;

  Attribution found_;
};

}  // namespace

std::string_view name_of(Label label) {
  constexpr std::array<std::string_view, kLabels> kNames = {
      "kernel",          "copy_exposed",    "idle_host_launch",     "idle_framework", "idle_device_queue",
      "idle_contention", "idle_allocation", "idle_synchronisation", "idle_copy_wait", "idle_cpu_op",
      "idle_startup",    "idle_unknown"};
  return kNames[static_cast<std::size_t>(label)];
}

Attribution attribute(const Timeline& timeline, const Steps& steps, std::optional<std::int32_t> device,
                      const AttributionLimits& limits) {
  return Attributor(timeline, steps, device, limits).attribute();
}

}  // namespace deepgap::trace
