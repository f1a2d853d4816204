#include "run/worker_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <numeric>

namespace deepgap::run {
namespace {

using namespace std::chrono_literals;
using testing::Each;

// Calls take planted times on a clock that stands still otherwise. Calls in flight share `servers`: with one
// they queue, with as many as slots they run side by side.
class PlannedEngine : public Engine {
 public:
  std::function<Nanoseconds(std::int64_t)> duration = [](std::int64_t) { return Nanoseconds(10ms); };
  std::size_t servers = 1;
  EngineDescription description;
  FakeClock time{Nanoseconds(1'000'000'000), Nanoseconds(1'796'000'000'000'000'000)};
  std::int64_t calls = 0;     // begun
  std::int64_t fail_at = -1;  // number of the call that fails
  int wrong_slot = -1;        // completes this slot instead
  Nanoseconds enqueue_takes{};

  EngineDescription describe() override { return description; }
  Outcome load(const LoadRequest&, LoadReply&) override { return {}; }
  Outcome call() override {
    if (calls == fail_at) return EngineFailure{"device_lost", "gone", std::nullopt};
    time.advance(duration(calls++));
    return {};
  }
  Outcome enqueue(int slot) override {
    if (calls == fail_at) return EngineFailure{"device_lost", "gone", std::nullopt};
    time.advance(enqueue_takes);
    if (free_at_.size() != servers) free_at_.assign(servers, Nanoseconds{});
    const auto server = std::min_element(free_at_.begin(), free_at_.end());
    *server = std::max(*server, time.monotonic()) + duration(calls++);
    in_flight.push_back({slot, *server});
    return {};
  }
  Outcome wait_any(Completion& completion) override {
    const auto first = std::min_element(in_flight.begin(), in_flight.end(), [](const auto& a, const auto& b) {
      return a.completed_at < b.completed_at;
    });
    completion = *first;
    in_flight.erase(first);
    if (completion.completed_at > time.monotonic()) time.advance(completion.completed_at - time.monotonic());
    if (wrong_slot >= 0) completion.slot = wrong_slot;
    return {};
  }
  CallTimes times(int) override { return {Nanoseconds(7), Nanoseconds(9)}; }
  Clock* clock() override { return &time; }

  std::vector<Completion> in_flight;

 private:
  std::vector<Nanoseconds> free_at_;
};

class Patience final : public MeasureObserver {
 public:
  explicit Patience(int notices = 1'000'000) : left(notices) {}
  bool go_on(const MeasureProgress& progress) override {
    seen.push_back(progress);
    return --left > 0;
  }
  int left;
  std::vector<MeasureProgress> seen;
};

MeasureReply measured(PlannedEngine& engine, const MeasureOptions& options, bool cold = true) {
  Patience patience;
  MeasureReply reply;
  const Outcome outcome = measure(engine, options, cold, patience, reply);
  EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.failure().message);
  return reply;
}

TEST(MeasuringLoop, TimesEachCallExactly) {
  PlannedEngine engine;
  // 100 ms cold, then 1, 2, ..., ms in turn.
  engine.duration = [](std::int64_t call) {
    return call == 0 ? Nanoseconds(100ms) : Nanoseconds(1ms) * call;
  };
  MeasureOptions options;
  options.warmup_fixed_calls = 3;
  options.stopping.fixed_count = 4;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.first_call, 100ms);
  EXPECT_EQ(reply.warmup_calls, 3);  // the cold call, then 1 and 2 ms
  EXPECT_EQ(reply.warmup_time, 103ms);
  EXPECT_FALSE(reply.warmup_steady);
  EXPECT_EQ(reply.samples.host_ns, (std::vector<std::int64_t>{3'000'000, 4'000'000, 5'000'000, 6'000'000}));
  // From 1 s on the clock, behind the warm-up, back to back.
  EXPECT_EQ(reply.samples.start_ns,
            (std::vector<std::int64_t>{1'103'000'000, 1'106'000'000, 1'110'000'000, 1'115'000'000}));
  EXPECT_EQ(reply.stop_reason, StopReason::kFixedCount);
  EXPECT_EQ(reply.started.monotonic_at, Nanoseconds(1'103'000'000));
  EXPECT_EQ(reply.started.realtime_at, Nanoseconds(1'796'000'000'103'000'000));
  EXPECT_FALSE(reply.window.has_value());
  EXPECT_TRUE(reply.samples.enqueue_ns.empty());
  EXPECT_TRUE(reply.samples.device_ns.empty());
  EXPECT_EQ(engine.calls, 7);
}

TEST(MeasuringLoop, ColdIsOnlyTheFirstCallAfterALoad) {
  PlannedEngine engine;
  MeasureOptions options;
  options.warmup_fixed_calls = 0;
  options.stopping.fixed_count = 5;
  const MeasureReply reply = measured(engine, options, /*cold=*/false);
  EXPECT_FALSE(reply.first_call.has_value());
  EXPECT_EQ(reply.warmup_calls, 0);
  EXPECT_EQ(engine.calls, 5);
}

TEST(MeasuringLoop, SteadyCallsStopAtTheLeastCountAndTime) {
  PlannedEngine engine;
  MeasureOptions options;
  options.stopping.min_samples = 50;
  options.stopping.min_time = 600ms;
  options.stopping.time_limit = 60s;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.stop_reason, StopReason::kPrecisionReached);
  EXPECT_EQ(reply.samples.size(), 60u);  // 600 ms of 10 ms; equal times have an interval of width 0
  EXPECT_TRUE(reply.warmup_steady);
  EXPECT_THAT(reply.samples.host_ns, Each(10'000'000));
}

TEST(MeasuringLoop, WarmUpGoesOnUntilTheTimeIsLevel) {
  PlannedEngine engine;
  // 30 ms, 20 ms, 15 ms, ..., halving the way to 10 ms.
  engine.duration = [](std::int64_t call) {
    return Nanoseconds(10ms) + Nanoseconds(20ms) / (std::int64_t{1} << std::min<std::int64_t>(call, 40));
  };
  MeasureOptions options;
  options.stopping.time_limit = 60s;
  const MeasureReply reply = measured(engine, options);
  EXPECT_TRUE(reply.warmup_steady);
  EXPECT_GE(reply.warmup_calls, 9);  // the cold call and the eight that a verdict needs
  EXPECT_LT(reply.samples.host_ns.front(), 10'100'000);

  PlannedEngine patient;
  options.warmup.min_calls = 30;
  EXPECT_GE(measured(patient, options).warmup_calls, 31);
}

TEST(MeasuringLoop, WarmUpThatStaysUnsteadyEndsAtHalfTheLimit) {
  PlannedEngine engine;
  engine.duration = [](std::int64_t call) { return Nanoseconds(1ms) + Nanoseconds(100us) * call; };
  MeasureOptions options;
  options.warmup.time_limit = 60s;
  options.stopping.time_limit = 4s;
  const MeasureReply reply = measured(engine, options);
  EXPECT_FALSE(reply.warmup_steady);
  EXPECT_GE(reply.warmup_time, 2s);
  EXPECT_LT(reply.warmup_time, 2100ms);  // a call takes some 20 ms there
  EXPECT_EQ(reply.stop_reason, StopReason::kTimeLimit);
}

TEST(MeasuringLoop, OneCallIsTimedHoweverLateItIs) {
  PlannedEngine engine;
  engine.duration = [](std::int64_t) { return Nanoseconds(10s); };
  MeasureOptions options;
  options.stopping.time_limit = 6s;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.first_call, 10s);
  EXPECT_EQ(reply.warmup_calls, 1);
  EXPECT_EQ(reply.samples.host_ns, (std::vector<std::int64_t>{10'000'000'000}));
  EXPECT_EQ(reply.stop_reason, StopReason::kTimeLimit);
}

TEST(MeasuringLoop, TheLimitCountsWarmUpIn) {
  PlannedEngine engine;
  std::int64_t state = 1;
  engine.duration = [&state](std::int64_t) {  // noise of a factor of 3: no precision in 6 s
    state = state * 48271 % 2147483647;
    return Nanoseconds(10ms) + Nanoseconds(20'000'000 * (state % 1000) / 1000);
  };
  MeasureOptions options;
  options.stopping.time_limit = 6s;
  options.stopping.target_relative_half_width = 0.0001;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.stop_reason, StopReason::kTimeLimit);
  const std::int64_t timed =
      std::accumulate(reply.samples.host_ns.begin(), reply.samples.host_ns.end(), std::int64_t{0});
  EXPECT_GE(reply.warmup_time.count() + timed, 6'000'000'000);
  EXPECT_LT(reply.warmup_time.count() + timed, 6'030'000'000);  // the call in flight is finished
}

TEST(MeasuringLoop, SampleLimit) {
  PlannedEngine engine;
  std::int64_t state = 1;
  engine.duration = [&state](std::int64_t) {
    state = state * 48271 % 2147483647;
    return Nanoseconds(1000 + state % 5000);
  };
  MeasureOptions options;
  options.stopping.max_samples = 5000;  // beyond the first room for samples
  options.stopping.target_relative_half_width = 0.00001;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.stop_reason, StopReason::kSampleLimit);
  EXPECT_EQ(reply.samples.size(), 5000u);
}

TEST(MeasuringLoop, ThroughputOfAQueueIsThatOfItsServer) {
  PlannedEngine engine;  // one server of 10 ms
  MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 4;
  options.stopping.fixed_count = 40;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.completed, 40);
  EXPECT_EQ(reply.window, 400ms);                        // a call each 10 ms
  EXPECT_THAT(reply.samples.host_ns, Each(40'000'000));  // waits behind three others; no ramp in sight
  EXPECT_EQ(reply.samples.size(), 40u);
  EXPECT_TRUE(engine.in_flight.empty());  // all were waited for
  EXPECT_EQ(reply.stop_reason, StopReason::kFixedCount);
}

TEST(MeasuringLoop, ThroughputOfParallelSlotsIsNotCutInsideABurst) {
  PlannedEngine engine;
  engine.servers = 3;  // three calls complete together each 10 ms
  MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 3;
  options.stopping.fixed_count = 31;  // rounded up to 33
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.completed, 33);
  EXPECT_EQ(reply.window, 110ms);
  EXPECT_THAT(reply.samples.host_ns, Each(10'000'000));
}

TEST(MeasuringLoop, ThroughputSamplesAreInTheOrderOfTheirStarts) {
  PlannedEngine engine;
  engine.servers = 2;
  engine.duration = [](std::int64_t call) { return call % 3 == 0 ? Nanoseconds(25ms) : Nanoseconds(4ms); };
  engine.description.enqueue_timer = true;
  MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 2;
  options.stopping.fixed_count = 100;
  const MeasureReply reply = measured(engine, options);
  EXPECT_TRUE(std::is_sorted(reply.samples.start_ns.begin(), reply.samples.start_ns.end()));
  EXPECT_EQ(std::count(reply.samples.host_ns.begin(), reply.samples.host_ns.end(), 25'000'000) +
                std::count(reply.samples.host_ns.begin(), reply.samples.host_ns.end(), 4'000'000),
            100);
  EXPECT_EQ(reply.samples.enqueue_ns.size(), 100u);
}

TEST(MeasuringLoop, ThroughputStopsByPrecision) {
  PlannedEngine engine;
  MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 2;
  options.stopping.min_samples = 50;
  options.stopping.min_time = 100ms;
  options.stopping.time_limit = 60s;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.stop_reason, StopReason::kPrecisionReached);
  EXPECT_EQ(reply.completed, 100);  // 50 rounds of 2
}

TEST(MeasuringLoop, ThroughputThatIsSlowHasOneRoundAtLeast) {
  PlannedEngine engine;
  engine.duration = [](std::int64_t) { return Nanoseconds(10s); };
  MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 2;
  options.stopping.time_limit = 6s;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.completed, 2);
  EXPECT_EQ(reply.window, 20s);
}

TEST(MeasuringLoop, TimersFillTheirColumns) {
  PlannedEngine engine;
  engine.description.enqueue_timer = true;
  engine.description.device_timer = true;
  MeasureOptions options;
  options.stopping.fixed_count = 10;
  const MeasureReply reply = measured(engine, options);
  EXPECT_EQ(reply.samples.enqueue_ns, std::vector<std::int64_t>(10, 7));
  EXPECT_EQ(reply.samples.device_ns, std::vector<std::int64_t>(10, 9));
}

TEST(MeasuringLoop, ScheduledStartHoldsTheTimedCallsBack) {
  PlannedEngine engine;
  MeasureOptions options;
  options.stopping.fixed_count = 3;
  options.start_at = Nanoseconds(20'000'000'003);
  const MeasureReply latency = measured(engine, options);
  EXPECT_EQ(latency.samples.start_ns.front(), 20'000'000'003);

  PlannedEngine queue;
  options.mode = Mode::kThroughput;
  options.in_flight = 2;
  const MeasureReply throughput = measured(queue, options);
  // The slots stay full until then, so the first call counted completes behind that moment, by a call's time
  // at most.
  const std::int64_t first_end = throughput.samples.start_ns.front() + throughput.samples.host_ns.front();
  EXPECT_GT(first_end, 20'000'000'003);
  EXPECT_LE(first_end, 20'020'000'003);
  EXPECT_EQ(throughput.window, 40ms);  // 3 rounded up to 4 calls
}

TEST(MeasuringLoop, CancelEndsItAfterTheCallsInFlight) {
  for (const Mode mode : {Mode::kLatency, Mode::kThroughput}) {
    PlannedEngine engine;
    MeasureOptions options;
    options.mode = mode;
    options.in_flight = 3;
    options.warmup_fixed_calls = 1;
    options.stopping.fixed_count = 1'000'000;
    options.stopping.time_limit = 3600s;
    Patience patience(10);
    MeasureReply reply;
    ASSERT_TRUE(measure(engine, options, true, patience, reply).ok());
    EXPECT_EQ(reply.stop_reason, StopReason::kCancelled);
    EXPECT_EQ(patience.seen.size(), 10u);
    EXPECT_GE(reply.samples.size(), 30u);  // ten notices, 50 ms apart, 10 ms a call
    EXPECT_LE(reply.samples.size(), 60u);
    EXPECT_TRUE(engine.in_flight.empty());
    if (mode == Mode::kThroughput) {
      EXPECT_EQ(reply.completed % 3, 0);
      EXPECT_EQ(reply.completed, static_cast<std::int64_t>(reply.samples.size()));
      EXPECT_EQ(reply.window, Nanoseconds(10ms) * reply.completed);
    }
  }
}

TEST(MeasuringLoop, CancelInWarmUpLeavesNoSamples) {
  PlannedEngine engine;
  Patience patience(1);
  MeasureReply reply;
  ASSERT_TRUE(measure(engine, {}, true, patience, reply).ok());
  EXPECT_EQ(reply.stop_reason, StopReason::kCancelled);
  EXPECT_EQ(reply.samples.size(), 0u);
  EXPECT_FALSE(reply.window.has_value());
}

TEST(MeasuringLoop, ProgressTellsPhaseMedianAndWidth) {
  PlannedEngine engine;
  MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 2;
  options.stopping.min_time = 2s;
  options.stopping.min_samples = 10;
  options.stopping.target_relative_half_width = -1;  // never reached
  options.stopping.time_limit = 5s;
  Patience patience;
  MeasureReply reply;
  ASSERT_TRUE(measure(engine, options, true, patience, reply).ok());
  ASSERT_FALSE(patience.seen.empty());
  EXPECT_EQ(patience.seen.front().phase, MeasurePhase::kWarmup);
  EXPECT_EQ(patience.seen.back().phase, MeasurePhase::kMeasure);
  EXPECT_EQ(patience.seen.back().median, 10ms);  // from completion to completion
  EXPECT_EQ(patience.seen.back().width, 0.0);
  for (std::size_t i = 1; i < patience.seen.size(); ++i)
    EXPECT_GE(patience.seen[i].elapsed - patience.seen[i - 1].elapsed, 50ms);
}

TEST(MeasuringLoop, TellsProgressWhileItsSlotsFillAndEmpty) {
  PlannedEngine engine;
  engine.duration = [](std::int64_t) { return Nanoseconds(100ms); };
  engine.enqueue_takes = 20ms;
  MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 100;  // 2 s to fill them, 10 s until they are empty
  options.warmup_fixed_calls = 1;
  options.stopping.fixed_count = 100;
  options.stopping.time_limit = 3600s;
  Patience patience;
  MeasureReply reply;
  ASSERT_TRUE(measure(engine, options, true, patience, reply).ok());
  Nanoseconds last{};
  for (const MeasureProgress& progress : patience.seen) {
    EXPECT_LE(progress.elapsed - last, 200ms);
    last = progress.elapsed;
  }
  EXPECT_LE(engine.time.monotonic() - Nanoseconds(1'000'000'000) - last, 200ms);

  // A stop while they fill: what was started is waited for, nothing more is.
  PlannedEngine stopped;
  stopped.enqueue_takes = 20ms;
  Patience brief(2);
  ASSERT_TRUE(measure(stopped, options, true, brief, reply).ok());
  EXPECT_EQ(reply.stop_reason, StopReason::kCancelled);
  EXPECT_EQ(reply.samples.size(), 0u);
  EXPECT_LT(stopped.calls, 10);
  EXPECT_TRUE(stopped.in_flight.empty());
}

TEST(MeasuringLoop, FailuresPassThrough) {
  for (const Mode mode : {Mode::kLatency, Mode::kThroughput}) {
    for (const std::int64_t call : {0, 1, 30}) {
      PlannedEngine engine;
      engine.fail_at = call;
      MeasureOptions options;
      options.mode = mode;
      options.in_flight = 2;
      options.warmup_fixed_calls = 5;
      options.stopping.fixed_count = 100;
      Patience patience;
      MeasureReply reply;
      const Outcome outcome = measure(engine, options, true, patience, reply);
      ASSERT_FALSE(outcome.ok());
      EXPECT_EQ(outcome.failure().kind, "device_lost");
    }
  }
}

TEST(MeasuringLoop, ACompletionThatNobodyWaitsForIsTheEnginesFault) {
  PlannedEngine engine;
  engine.wrong_slot = 5;
  MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 2;
  Patience patience;
  MeasureReply reply;
  const Outcome outcome = measure(engine, options, true, patience, reply);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().kind, "internal");
}

TEST(MeasuringLoop, ServerModeIsNotItsOwn) {
  PlannedEngine engine;
  MeasureOptions options;
  options.mode = Mode::kServer;
  Patience patience;
  MeasureReply reply;
  EXPECT_EQ(measure(engine, options, true, patience, reply).failure().kind, "unsupported");
}

// On the system's clock: only what holds however slow the machine is.
TEST(MeasuringLoop, RunsOnTheSystemsClock) {
  class Nothing final : public PlannedEngine {
   public:
    Outcome call() override { return {}; }
    Outcome enqueue(int slot) override {
      slots_.push_back(slot);
      return {};
    }
    Outcome wait_any(Completion& completion) override {  // cannot stamp: leaves zero
      completion = {slots_.front(), Nanoseconds{}};
      slots_.pop_front();
      return {};
    }
    Clock* clock() override { return nullptr; }

   private:
    std::deque<int> slots_;
  } engine;
  for (const Mode mode : {Mode::kLatency, Mode::kThroughput}) {
    MeasureOptions options;
    options.mode = mode;
    options.in_flight = 2;
    options.stopping.fixed_count = 3000;
    options.start_at = SystemClock().monotonic() + 5ms;
    const MeasureReply reply = measured(engine, options);
    ASSERT_EQ(reply.samples.size(), 3000u);
    EXPECT_TRUE(std::is_sorted(reply.samples.start_ns.begin(), reply.samples.start_ns.end()));
    EXPECT_GE(reply.samples.start_ns.back() + reply.samples.host_ns.back(), options.start_at->count());
    EXPECT_GE(*std::min_element(reply.samples.host_ns.begin(), reply.samples.host_ns.end()), 0);
    EXPECT_TRUE(reply.memory.peak_process.has_value());
  }
}

}  // namespace
}  // namespace deepgap::run
