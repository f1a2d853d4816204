#include "trace/attribution.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include "trace/host_activity.h"

namespace deepgap::trace {
namespace {

struct Work {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t call = kNoEvent;
  bool kernel = false;
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

class Attributor {
 public:
  Attributor(const Timeline& timeline, const Steps& steps, std::optional<std::int32_t> device,
             const AttributionLimits& limits)
      : timeline_(timeline), steps_(steps), limits_(limits), startup_(first_times(timeline, limits.startup)) {
    found_.device = device ? device : busiest_device(timeline);
    for (std::size_t i = 0; i < timeline.events.size(); ++i) {
      const Event& event = timeline.events[i];
      const bool kernel = event.role == Role::kKernel;
      if (!kernel && event.role != Role::kCopy && event.role != Role::kMemset) continue;
      if (timeline.launches[event.detail].device != found_.device) continue;
      work_.push_back({event.start_ns, event.end_ns(), timeline.calls[i], kernel});
    }
    found_.launches_block = launches_block();
  }

  Attribution attribute() {
    for (const Step& step : steps_.steps) attribute(step);
    return std::move(found_);
  }

 private:
  bool launches_block() const {
    std::int64_t launches = 0;
    std::int64_t late = 0;
    for (const Work& work : work_) {
      if (!work.kernel || work.call == kNoEvent) continue;
      const Event& call = timeline_.events[work.call];
      if (call_kind(timeline_.texts[call.name]) != CallKind::kLaunch) continue;
      ++launches;
      if (call.end_ns() >= work.end_ns) ++late;
    }
    return launches > 0 &&
           static_cast<double>(late) >= limits_.blocking_share * static_cast<double>(launches);
  }

  void put(std::int64_t start, std::int64_t end, Label label) {
    if (end <= start) return;
    found_.steps.back().ns[static_cast<std::size_t>(label)] += end - start;
    if (!found_.segments.empty() && found_.segments.back().end_ns == start &&
        found_.segments.back().label == label) {
      found_.segments.back().end_ns = end;
    } else {
      found_.segments.push_back({start, end, label});
    }
  }

  // The sweep: what runs on the device from the step's start to its end, and the gaps between.
  void attribute(const Step& step) {
    found_.steps.emplace_back();
    debt_ = {};
    tail_.reset();
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
      if (copies < until) idle(copies, until, more ? &work_[next_] : nullptr);
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
    if (!activity) activity = std::make_unique<HostActivity>(timeline_, startup_, lane);
    return *activity;
  }

  // A gap, and the work that ends it (none at the step's end).
  void idle(std::int64_t from, std::int64_t to, const Work* next) {
    const std::uint32_t call = next != nullptr ? next->call : last_call_;
    if (call == kNoEvent) {
      put(from, to, Label::kIdleUnknown);
      return;
    }
    const Event& launch = timeline_.events[call];
    std::int64_t queued_from = to;
    if (next != nullptr) queued_from = std::clamp(launch.end_ns() + limits_.queued_ns, from, to);
    if (found_.launches_block) queued_from = to;
    host(from, queued_from, activity_of(launch.lane));
    put(queued_from, to,
        to - queued_from > limits_.contention_ns ? Label::kIdleContention : Label::kIdleDeviceQueue);
  }

  // The part of a gap for which the host answers.
  void host(std::int64_t from, std::int64_t to, const HostActivity& activity) {
    std::int64_t at = from;

    activity.for_each(from, to, [&](const HostMoment& moment) {
      if (moment.start_ns > at) outside(at, moment.start_ns);
      HostState state = moment.state;
      if (found_.launches_block && state == HostState::kLaunching) state = HostState::kWaiting;
      const Label label = label_of(state);
      if (blocks(state)) {
        const Event& call = timeline_.events[moment.event];
        // Begun before the device fell idle: it drained the queue, and how far the host was ahead is lost.
        if (call.start_ns < from) {
          tail_ = label;

          debt_ = {label, from - call.start_ns};
        }
        put(moment.start_ns, moment.end_ns, label);
      } else if (tail_) {
        put(moment.start_ns, moment.end_ns, *tail_);

      } else {
        pay(moment.start_ns, moment.end_ns, label);
      }

      at = moment.end_ns;
    });
    if (at < to) outside(at, to);
  }

  void outside(std::int64_t from, std::int64_t to) { put(from, to, tail_.value_or(Label::kIdleFramework)); }

  // Launch idle behind a drained queue is the drain's, for as long as the lead that it took.
  void pay(std::int64_t from, std::int64_t to, Label label) {
    std::int64_t paid = from;
    if (label == Label::kIdleHostLaunch && debt_.lead_ns > 0) {
      paid = std::min(to, from + debt_.lead_ns);
      debt_.lead_ns -= paid - from;
      put(from, paid, debt_.label);
    }
    put(paid, to, label);
  }

  void repay(const Work& work) {
    if (debt_.lead_ns == 0 || work.call == kNoEvent) return;
    if (work.start_ns - timeline_.events[work.call].end_ns() >= debt_.lead_ns) debt_ = {};
  }

  struct Debt {
    Label label = Label::kIdleSynchronisation;
    std::int64_t lead_ns = 0;
  };

  const Timeline& timeline_;
  const Steps& steps_;
  const AttributionLimits& limits_;
  std::vector<bool> startup_;

  std::vector<Work> work_;  // of the device, by start
  std::size_t next_ = 0;    // of work_: what the sweep has not come to yet
  std::int64_t kernel_until_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t copy_until_ = std::numeric_limits<std::int64_t>::min();
  std::map<std::uint32_t, std::unique_ptr<HostActivity>> activities_;
  std::uint32_t last_call_ = kNoEvent;
  Debt debt_;
  std::optional<Label> tail_;  // of a blocking call that drained the queue: until the next kernel starts

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
