// What the measuring loop costs a timed call: an engine whose calls do nothing, so that all time is the
// loop's. Items are calls; each iteration is one measuring of many.
#include <benchmark/benchmark.h>

#include "run/worker_loop.h"

namespace {

using namespace deepgap;
using namespace deepgap::run;

class NothingEngine final : public Engine {
 public:
  EngineDescription describe() override { return {}; }
  Outcome load(const LoadRequest&, LoadReply&) override { return {}; }
  Outcome call() override { return {}; }
  Outcome enqueue(int slot) override {
    slot_ = slot;
    return {};
  }
  Outcome wait_any(Completion& completion) override {
    completion.slot = slot_;
    return {};
  }

 private:
  int slot_ = 0;
};

class Patient final : public MeasureObserver {
 public:
  bool go_on(const MeasureProgress&) override { return true; }
};

constexpr std::int64_t kCalls = 200'000;

MeasureOptions options_of(Mode mode) {
  MeasureOptions options;
  options.mode = mode;
  options.warmup_fixed_calls = 100;
  options.stopping.time_limit = std::chrono::hours(1);
  return options;
}

void measure_once(benchmark::State& state, const MeasureOptions& options) {
  NothingEngine engine;
  Patient observer;
  std::int64_t calls = 0;
  for (auto _ : state) {
    MeasureReply reply;
    const Outcome outcome = measure(engine, options, false, observer, reply);
    if (!outcome.ok()) state.SkipWithError(outcome.failure().message.c_str());
    calls += static_cast<std::int64_t>(reply.samples.size());
    benchmark::DoNotOptimize(reply.samples.host_ns.data());
  }
  state.SetItemsProcessed(calls);
}

void latency(benchmark::State& state) {
  MeasureOptions options = options_of(Mode::kLatency);
  options.stopping.fixed_count = kCalls;
  measure_once(state, options);
}

void throughput(benchmark::State& state) {
  MeasureOptions options = options_of(Mode::kThroughput);
  options.stopping.fixed_count = kCalls;
  measure_once(state, options);
}

// With the looks of the stopping rule, which never finds its target.
void latency_with_rule(benchmark::State& state) {
  MeasureOptions options = options_of(Mode::kLatency);
  options.stopping.min_time = {};
  options.stopping.target_relative_half_width = -1;
  options.stopping.max_samples = kCalls;
  measure_once(state, options);
}

BENCHMARK(latency)->Unit(benchmark::kMillisecond);
BENCHMARK(throughput)->Unit(benchmark::kMillisecond);
BENCHMARK(latency_with_rule)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
