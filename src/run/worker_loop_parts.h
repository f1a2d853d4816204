// What the measuring loop is made of: clocks, sample buffers, looks of the stopping rule, and the two ways to
// make calls. Only for worker_loop.cpp, which puts them together.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/measurement.h"
#include "run/engine.h"
#include "stats/stopping.h"

namespace deepgap::run {

inline constexpr std::size_t kLeastCapacity = 1024;  // samples
inline constexpr std::int64_t kSpinBefore =
    2'000'000;  // a hold sleeps until this long before its end, then spins

// The kernel's clock, inlined: a virtual call would double what a stamp costs.
class SystemTime {
 public:
  std::int64_t now() const {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  void hold_until(std::int64_t moment) const {
    const std::int64_t sleep_until = moment - kSpinBefore;
    if (sleep_until > now()) {
      const timespec time{static_cast<time_t>(sleep_until / 1'000'000'000),
                          static_cast<long>(sleep_until % 1'000'000'000)};
      while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
      }
    }
    while (now() < moment) {
    }
  }
  ClockPair pair() const {
    SystemClock clock;
    return read_clock_pair(clock);
  }
};

class EngineTime {
 public:
  explicit EngineTime(Clock& clock) : clock_(clock) {}
  std::int64_t now() const { return clock_.monotonic().count(); }
  void hold_until(std::int64_t moment) const {
    if (moment > now()) clock_.sleep(Nanoseconds(moment - now()));
  }
  ClockPair pair() const { return read_clock_pair(clock_); }

 private:
  Clock& clock_;
};

// The columns with room that has been touched, so that storing a sample neither allocates nor faults.
class SampleBuffer {
 public:
  SampleBuffer(bool enqueue_timer, bool device_timer)
      : enqueue_timer_(enqueue_timer), device_timer_(device_timer) {}

  void make_room(std::size_t capacity) {
    columns_.start_ns.resize(capacity);
    columns_.host_ns.resize(capacity);
    if (enqueue_timer_) columns_.enqueue_ns.resize(capacity);
    if (device_timer_) columns_.device_ns.resize(capacity);
  }
  bool full() const { return count_ == columns_.host_ns.size(); }
  void grow() { make_room(std::max(kLeastCapacity, 2 * count_)); }

  void add(std::int64_t start, std::int64_t host, const CallTimes& times) {
    columns_.start_ns[count_] = start;
    columns_.host_ns[count_] = host;
    if (enqueue_timer_) columns_.enqueue_ns[count_] = times.enqueue.value_or(Nanoseconds{}).count();
    if (device_timer_) columns_.device_ns[count_] = times.device.value_or(Nanoseconds{}).count();
    // A column with a hole is no column: unknown is absent, never 0.
    enqueue_known_ = enqueue_known_ && times.enqueue.has_value();
    device_known_ = device_known_ && times.device.has_value();
    ++count_;
  }
  std::int64_t count() const { return static_cast<std::int64_t>(count_); }
  std::span<const std::int64_t> host() const { return {columns_.host_ns.data(), count_}; }
  void keep(std::size_t count) { count_ = std::min(count_, count); }

  // The columns cut to what was stored, in the order of the calls' starts.
  SampleColumns take() {
    make_room(count_);
    if (!enqueue_known_) columns_.enqueue_ns.clear();
    if (!device_known_) columns_.device_ns.clear();
    if (!std::is_sorted(columns_.start_ns.begin(), columns_.start_ns.end())) {
      std::vector<std::size_t> order(count_);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
        return columns_.start_ns[a] < columns_.start_ns[b];
      });
      for (auto* column :
           {&columns_.start_ns, &columns_.host_ns, &columns_.enqueue_ns, &columns_.device_ns}) {
        if (column->empty()) continue;
        std::vector<std::int64_t> sorted(count_);
        for (std::size_t i = 0; i < count_; ++i) sorted[i] = (*column)[order[i]];
        column->swap(sorted);
      }
    }
    return std::move(columns_);
  }

 private:
  SampleColumns columns_;
  std::size_t count_ = 0;
  bool enqueue_timer_;
  bool device_timer_;
  bool enqueue_known_ = true;
  bool device_known_ = true;
};

// The stopping rule, looked at so seldom that its looks (which sort the samples) take at most a hundredth of
// the time: calls of a microsecond would otherwise mostly wait for them, and in throughput mode the looks are
// in the window.
class Looks {
 public:
  explicit Looks(stats::StoppingRule& rule) : rule_(rule) {}

  bool due(std::int64_t count, Nanoseconds elapsed) const {
    return rule_.due(count, elapsed) && (elapsed >= quiet_until_ || must_end(count, elapsed));
  }
  template <typename Time>
  std::optional<stats::StopReason> look(std::span<const std::int64_t> samples, Nanoseconds elapsed,
                                        Time& time) {
    const std::int64_t begun_at = time.now();
    const auto reason = rule_.look(samples, elapsed);
    quiet_until_ = elapsed + 100 * Nanoseconds(time.now() - begun_at);
    return reason;
  }

 private:
  bool must_end(std::int64_t count, Nanoseconds elapsed) const {
    const auto& options = rule_.options();
    return elapsed >= options.time_limit || count >= options.fixed_count.value_or(options.max_samples);
  }

  stats::StoppingRule& rule_;
  Nanoseconds quiet_until_{};
};

// One call that has ended.
struct EndedCall {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t told_at = 0;  // when the loop had it, which may be long after its end
  CallTimes times;
};

// How calls are made in either mode: next() gives them one after the other. A round is the number of calls
// that warm-up and stopping rule count as one. begin() and end() fill and empty the slots, which may take as
// long as many calls: what they are given is told the time after each; where begin()'s says false, no further
// slot is filled.

template <typename Time>
class OneAtATime {
 public:
  OneAtATime(Engine& engine, Time& time, int /*in_flight*/, bool has_timers)
      : engine_(engine), time_(time), has_timers_(has_timers) {}
  static constexpr bool kInFlight = false;
  template <typename Told>
  Outcome begin(const Told&) {
    return {};
  }
  Outcome next(EndedCall& call) {
    call.start = time_.now();
    Outcome outcome = engine_.call();
    call.end = call.told_at = time_.now();
    if (has_timers_ && outcome.ok()) call.times = engine_.times(0);
    return outcome;
  }
  template <typename Told>
  Outcome end(const Told&) {
    return {};
  }

 private:
  Engine& engine_;
  Time& time_;
  bool has_timers_;
};

template <typename Time>
class KeptInFlight {
 public:
  KeptInFlight(Engine& engine, Time& time, int in_flight, bool has_timers)
      : engine_(engine),
        time_(time),
        has_timers_(has_timers),
        submitted_at_(static_cast<std::size_t>(in_flight)),
        busy_(static_cast<std::size_t>(in_flight)) {}
  static constexpr bool kInFlight = true;

  template <typename Told>
  Outcome begin(const Told& told) {
    for (std::size_t slot = 0; slot < busy_.size(); ++slot) {
      if (Outcome outcome = submit(slot); !outcome.ok()) return outcome;
      if (!told(time_.now())) break;
    }
    return {};
  }
  // The next call to end; its slot is filled again at once.
  Outcome next(EndedCall& call) {
    std::size_t slot = 0;
    if (Outcome outcome = wait(call, slot); !outcome.ok()) return outcome;
    Outcome outcome = submit(slot);
    call.told_at = submitted_at_[slot];
    return outcome;
  }
  // Waits for what is still in flight; these calls are not counted.
  template <typename Told>
  Outcome end(const Told& told) {
    EndedCall call;
    std::size_t slot = 0;
    while (std::find(busy_.begin(), busy_.end(), char{1}) != busy_.end()) {
      if (Outcome outcome = wait(call, slot); !outcome.ok()) return outcome;
      told(time_.now());
    }
    return {};
  }

 private:
  Outcome submit(std::size_t slot) {
    submitted_at_[slot] = time_.now();
    busy_[slot] = 1;
    return engine_.enqueue(static_cast<int>(slot));
  }
  Outcome wait(EndedCall& call, std::size_t& slot) {
    Completion completion;
    if (Outcome outcome = engine_.wait_any(completion); !outcome.ok()) return outcome;
    slot = static_cast<std::size_t>(completion.slot);
    if (completion.slot < 0 || slot >= busy_.size() || busy_[slot] == 0)
      return EngineFailure{
          std::string(failures::kInternal),
          fmt::format("expected the engine to complete a call in flight, found one of slot {}",
                      completion.slot),
          std::nullopt};
    busy_[slot] = 0;
    call.start = submitted_at_[slot];
    call.end = completion.completed_at.count();
    // An engine that cannot stamp leaves zero; and no completion lies before its submit.
    if (call.end < call.start) call.end = time_.now();
    if (has_timers_) call.times = engine_.times(completion.slot);
    return {};
  }

  Engine& engine_;
  Time& time_;
  bool has_timers_;
  std::vector<std::int64_t> submitted_at_;
  std::vector<char> busy_;
};

}  // namespace deepgap::run
