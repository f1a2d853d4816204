#include "run/worker_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "run/worker_loop_parts.h"

namespace deepgap::run {
namespace {

constexpr std::int64_t kNoticeInterval = 50'000'000;  // between two questions to the observer, ns
constexpr std::size_t kMostFirstCapacity = 1 << 20;   // not allocated ahead of need beyond this

StopReason reason_of(stats::StopReason reason) {
  switch (reason) {
    case stats::StopReason::kPrecisionReached:
      return StopReason::kPrecisionReached;
    case stats::StopReason::kTimeLimit:
      return StopReason::kTimeLimit;
    case stats::StopReason::kSampleLimit:
      return StopReason::kSampleLimit;
    case stats::StopReason::kFixedCount:
      return StopReason::kFixedCount;
    case stats::StopReason::kCancelled:
      break;
  }
  return StopReason::kCancelled;
}

template <typename Time, template <typename> typename Calls>
class Loop {
 public:
  Loop(Engine& engine, Time time, const MeasureOptions& options, MeasureObserver& observer,
       MeasureReply& reply, const EngineDescription& description)
      : engine_(engine),
        time_(time),
        options_(options),
        observer_(observer),
        reply_(reply),
        round_(options.in_flight),
        calls_(engine, time_, options.in_flight, description.enqueue_timer || description.device_timer),
        buffer_(description.enqueue_timer, description.device_timer) {}

  Outcome run(bool cold) {
    begun_at_ = time_.now();
    next_notice_at_ = begun_at_ + kNoticeInterval;
    if (cold)
      if (Outcome outcome = first_call(); !outcome.ok()) return outcome;
    const auto told = [this](std::int64_t now) {
      notice(now, MeasurePhase::kWarmup, reply_.warmup_calls, nullptr);
      return !cancelled_;
    };
    if (Outcome outcome = calls_.begin(told); !outcome.ok()) return outcome;
    if (Outcome outcome = warm_up(); !outcome.ok()) return outcome;
    if (Outcome outcome = timed(); !outcome.ok()) return outcome;
    reply_.samples = buffer_.take();
    reply_.memory = engine_.memory();
    return {};
  }

 private:
  static constexpr bool kInFlight = Calls<Time>::kInFlight;

  Outcome first_call() {
    const std::int64_t start = time_.now();
    if (Outcome outcome = engine_.call(); !outcome.ok()) return outcome;
    const std::int64_t end = time_.now();
    reply_.first_call = Nanoseconds(end - start);
    reply_.warmup_calls = 1;
    notice(end, MeasurePhase::kWarmup, reply_.warmup_calls, nullptr);
    return {};
  }

  // Whether warm-up with a fixed count, or at the cell's own limit, is over.
  bool warmup_must_end(std::int64_t now) const {
    if (options_.warmup_fixed_calls)
      return reply_.warmup_calls >= *options_.warmup_fixed_calls ||
             Nanoseconds(now - begun_at_) >= options_.stopping.time_limit;
    return Nanoseconds(now - begun_at_) >=
           std::min(options_.warmup.time_limit, options_.stopping.time_limit / 2);
  }

  Outcome warm_up() {
    stats::WarmupOptions rule_options = options_.warmup;
    rule_options.time_limit = Nanoseconds::max();  // warmup_must_end() looks at the time
    stats::WarmupRule rule(rule_options);
    std::vector<std::int64_t> rounds;
    const std::int64_t warm_begun_at = time_.now();
    last_end_ = warm_begun_at;
    std::int64_t round_begun_at = warm_begun_at;
    std::int64_t in_round = 0;
    bool over = !kInFlight && warmup_must_end(warm_begun_at);
    bool held = false;  // a scheduled start in flight: the slots stay full until then
    std::int64_t over_at = warm_begun_at;
    while (!cancelled_ && (!over || held)) {
      EndedCall call;
      if (Outcome outcome = calls_.next(call); !outcome.ok()) return outcome;
      ++reply_.warmup_calls;
      last_end_ = std::max(last_end_, call.end);
      if (++in_round == round_) {
        rounds.push_back(kInFlight ? last_end_ - round_begun_at : call.end - call.start);
        round_begun_at = last_end_;
        in_round = 0;
      }
      // In flight: not before each slot has completed, by count, a call.
      if (!over && (!kInFlight || !rounds.empty())) {
        over = warmup_must_end(call.end);
        if (!options_.warmup_fixed_calls && !over && in_round == 0)
          over = rule.done(rounds, Nanoseconds(call.end - warm_begun_at));
      }
      if (!held) over_at = call.end;
      held = kInFlight && over && options_.start_at && call.end < options_.start_at->count();
      notice(call.told_at, MeasurePhase::kWarmup, reply_.warmup_calls, nullptr);
    }
    reply_.warmup_steady =
        !options_.warmup_fixed_calls && stats::steadiness(rounds, rule_options.tolerance).steady;
    reply_.warmup_time = Nanoseconds(over_at - begun_at_);
    make_room(rounds);
    return {};
  }

  // As many samples as the time left will give, by the pace of the warm-up.
  void make_room(std::span<const std::int64_t> rounds) {
    const auto& stopping = options_.stopping;
    double expected = static_cast<double>(kLeastCapacity);
    if (stopping.fixed_count) {
      expected = static_cast<double>(*stopping.fixed_count + round_);
    } else if (!rounds.empty()) {
      const double pace =
          static_cast<double>(std::max<std::int64_t>(1, rounds.back())) / static_cast<double>(round_);
      const double left = static_cast<double>((stopping.time_limit - reply_.warmup_time).count());
      expected = std::min(1.25 * left / pace, static_cast<double>(stopping.max_samples + round_));
    }
    buffer_.make_room(static_cast<std::size_t>(
        std::clamp(expected, static_cast<double>(kLeastCapacity), static_cast<double>(kMostFirstCapacity))));
  }

  stats::StoppingOptions rule_options() const {
    stats::StoppingOptions rule = options_.stopping;
    rule.time_limit = std::max(Nanoseconds{}, rule.time_limit - reply_.warmup_time);
    rule.max_samples = std::max<std::int64_t>(1, rule.max_samples / round_);
    if (rule.fixed_count) rule.fixed_count = (*rule.fixed_count + round_ - 1) / round_;
    return rule;
  }

  Outcome timed() {
    stats::StoppingRule rule(rule_options());
    Looks looks(rule);
    std::vector<std::int64_t> rounds;  // in flight; else the rule looks at host_ns
    if (kInFlight) rounds.reserve(kLeastCapacity);
    if (!kInFlight && options_.start_at) hold(options_.start_at->count());
    reply_.started = time_.pair();
    // In flight the window begins at the completion that ended the warm-up.
    const std::int64_t window_begun_at = kInFlight ? last_end_ : time_.now();
    std::int64_t round_begun_at = window_begun_at;
    std::int64_t in_round = 0;
    std::optional<stats::StopReason> reason;
    while (!cancelled_ && !reason) {
      if (buffer_.full()) buffer_.grow();
      EndedCall call;
      if (Outcome outcome = calls_.next(call); !outcome.ok()) return outcome;
      buffer_.add(call.start, call.end - call.start, call.times);
      if constexpr (kInFlight) {
        last_end_ = std::max(last_end_, call.end);
        if (++in_round == round_) {
          rounds.push_back(last_end_ - round_begun_at);
          round_begun_at = last_end_;
          in_round = 0;
          const auto count = static_cast<std::int64_t>(rounds.size());
          const Nanoseconds elapsed(last_end_ - window_begun_at);
          if (looks.due(count, elapsed)) reason = looks.look(rounds, elapsed, time_);
        }
      } else {
        const Nanoseconds elapsed(call.end - window_begun_at);
        if (looks.due(buffer_.count(), elapsed)) reason = looks.look(buffer_.host(), elapsed, time_);
      }
      notice(call.told_at, MeasurePhase::kMeasure, buffer_.count(), &rule);
    }
    reply_.stop_reason = reason ? reason_of(*reason) : StopReason::kCancelled;
    if (kInFlight) {
      // Only whole rounds count, also when it was cancelled inside one.
      buffer_.keep(rounds.size() * static_cast<std::size_t>(round_));
      reply_.completed = buffer_.count();
      if (!rounds.empty()) reply_.window = Nanoseconds(round_begun_at - window_begun_at);
    }
    return calls_.end([&](std::int64_t now) { notice(now, MeasurePhase::kMeasure, buffer_.count(), &rule); });
  }

  void hold(std::int64_t moment) {
    while (!cancelled_ && moment - time_.now() > 2 * kNoticeInterval) {
      time_.hold_until(time_.now() + kNoticeInterval);
      notice(time_.now(), MeasurePhase::kWarmup, reply_.warmup_calls, nullptr);
    }
    if (!cancelled_) time_.hold_until(moment);
  }

  void notice(std::int64_t now, MeasurePhase phase, std::int64_t calls, const stats::StoppingRule* rule) {
    if (now < next_notice_at_) return;
    MeasureProgress progress{phase, calls, Nanoseconds(now - begun_at_), std::nullopt, std::nullopt};
    if (rule != nullptr && rule->estimate()) {
      progress.median = Nanoseconds(std::llround(rule->estimate()->value / static_cast<double>(round_)));
      progress.width = stats::relative_half_width(*rule->estimate());
    }
    cancelled_ = !observer_.go_on(progress) || cancelled_;
    next_notice_at_ = time_.now() + kNoticeInterval;
  }

  Engine& engine_;
  Time time_;
  const MeasureOptions& options_;
  MeasureObserver& observer_;
  MeasureReply& reply_;
  const std::int64_t round_;
  Calls<Time> calls_;
  SampleBuffer buffer_;
  std::int64_t begun_at_ = 0;
  std::int64_t next_notice_at_ = 0;
  std::int64_t last_end_ = 0;
  bool cancelled_ = false;
};

template <typename Time>
Outcome measure_with(Engine& engine, Time time, const MeasureOptions& options, bool cold,
                     MeasureObserver& observer, MeasureReply& reply) {
  const EngineDescription description = engine.describe();
  if (options.mode == Mode::kThroughput)
    return Loop<Time, KeptInFlight>(engine, time, options, observer, reply, description).run(cold);
  return Loop<Time, OneAtATime>(engine, time, options, observer, reply, description).run(cold);
}

}  // namespace

Outcome measure(Engine& engine, const MeasureOptions& options, bool cold, MeasureObserver& observer,
                MeasureReply& reply) {
  if (options.mode == Mode::kServer || options.in_flight < 1)
    return EngineFailure{
        std::string(failures::kUnsupported),
        fmt::format(
            "expected the mode latency or throughput with at least 1 call in flight, found '{}' with {}",
            name_of(options.mode), options.in_flight),
        std::nullopt};
  MeasureOptions used = options;
  if (used.mode == Mode::kLatency) used.in_flight = 1;
  reply = {};
  if (Clock* clock = engine.clock())
    return measure_with(engine, EngineTime(*clock), used, cold, observer, reply);
  return measure_with(engine, SystemTime(), used, cold, observer, reply);
}

}  // namespace deepgap::run
