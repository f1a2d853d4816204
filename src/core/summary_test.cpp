#include "core/summary.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <ostream>

#include "base/random.h"
#include "stats/nested.h"

namespace deepgap {

// For the messages of failed expectations.
void PrintTo(const Diagnostic& diagnostic, std::ostream* out) {
  *out << diagnostic.id << " (" << diagnostic.where << "): " << diagnostic.text;
}

namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Samples = std::vector<std::int64_t>;

constexpr std::int64_t kMillisecond = 1'000'000;

// Calls one after the other, `pause` between two of them.
ProcessRun process_of(Samples host_ns, int index = 0, std::int64_t pause = 0) {
  ProcessRun process;
  process.index = index;
  std::int64_t at = 1'000 * kMillisecond;
  for (std::int64_t sample : host_ns) {
    process.samples.start_ns.push_back(at);
    at += sample + pause;
  }
  process.samples.host_ns = std::move(host_ns);
  return process;
}

Measurement cell_of(std::vector<Samples> processes, std::int64_t batch = 1) {
  Measurement measurement;
  measurement.key.workload.model = "resnet50";
  measurement.key.workload.batch = batch;
  measurement.key.engine = "openvino";
  measurement.key.device = "cpu";
  measurement.device.name = "A processor";
  measurement.planned_processes = 3;
  for (Samples& samples : processes) {
    measurement.processes.push_back(
        process_of(std::move(samples), static_cast<int>(measurement.processes.size())));
  }
  return measurement;
}

// 1000 ns, 2000 ns, ..., n x 1000 ns in random order.
Samples shuffled_ramp(std::int64_t n, std::uint64_t seed = 1) {
  Samples samples(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) samples[static_cast<std::size_t>(i)] = 1'000 * (i + 1);
  Random(seed).shuffle(std::span<std::int64_t>(samples));
  return samples;
}

// Log-normal times about `level`.
Samples noise(Random& random, std::size_t n, double level, double relative_deviation) {
  Samples samples(n);
  for (std::int64_t& sample : samples) {
    sample = static_cast<std::int64_t>(level * std::exp(relative_deviation * random.normal()));
  }
  return samples;
}

auto has_id(std::string_view id) {
  return Field(&Diagnostic::id, std::string(id));
}

// What a summary adds to a cell that has no stored doubts.
std::vector<Diagnostic> derived_diagnostics(const Measurement& cell) {
  EXPECT_THAT(cell.diagnostics, IsEmpty());
  return summarise(cell).diagnostics;
}

TEST(Summary, CopiesWhatIsKnownOfTheCell) {
  Measurement measurement = cell_of({{5, 6}, {7}}, 8);
  measurement.id = MeasurementId("0123456789abcdef");
  measurement.sweep = SweepId("fedcba9876543210");
  measurement.created_realtime_ns = 42;
  const CellSummary summary = summarise(measurement);
  EXPECT_EQ(summary.id, measurement.id);
  EXPECT_EQ(summary.sweep, measurement.sweep);
  EXPECT_EQ(summary.key, measurement.key);
  EXPECT_EQ(summary.device_name, "A processor");
  EXPECT_EQ(summary.processes, 2);
  EXPECT_EQ(summary.planned_processes, 3);
  EXPECT_EQ(summary.samples, 3);
  EXPECT_EQ(summary.created_realtime_ns, 42);
}

TEST(Summary, PercentilesAreOrderStatisticsOfAllSamplesPooled) {
  // Of 1, 2, ..., 1000 us the p-th percentile is the (10 p)-th, the median the mean of the two in the middle.
  const Samples all = shuffled_ramp(1000);
  const CellSummary summary =
      summarise(cell_of({Samples(all.begin(), all.begin() + 400), Samples(all.begin() + 400, all.end())}));
  ASSERT_TRUE(summary.p50 && summary.p90 && summary.p95 && summary.p99);
  EXPECT_EQ(summary.p50->value, 500'500);
  EXPECT_EQ(summary.p90->value, 900'000);
  EXPECT_EQ(summary.p95->value, 950'000);
  EXPECT_EQ(summary.p99->value, 990'000);
  for (const auto& percentile : {summary.p50, summary.p90, summary.p95, summary.p99}) {
    EXPECT_EQ(percentile->n, 1000);
    EXPECT_EQ(percentile->unit, Unit::kNanoseconds);
    EXPECT_EQ(percentile->confidence, 0.95);
    ASSERT_TRUE(percentile->lower && percentile->upper);  // 1000 > 368
    EXPECT_LT(*percentile->lower, percentile->value);
    EXPECT_GT(*percentile->upper, percentile->value);
  }
  // Binomial(1000, 1/2) has a deviation of 15.8: ranks 470 and 531 bound the median of independent samples,
  // and a random order may be worth somewhat fewer.
  EXPECT_LE(*summary.p50->lower, 470'000);
  EXPECT_GE(*summary.p50->lower, 450'000);
  EXPECT_GE(*summary.p50->upper, 531'000);
  EXPECT_LE(*summary.p50->upper, 551'000);
}

TEST(Summary, DependentSamplesBoundLessThanIndependentOnes) {
  Samples ramp(1000);
  std::iota(ramp.begin(), ramp.end(), 1'000);
  const CellSummary sorted = summarise(cell_of({ramp}), SummaryDepth::kQuick);
  Random(3).shuffle(std::span<std::int64_t>(ramp));
  const CellSummary shuffled = summarise(cell_of({ramp}), SummaryDepth::kQuick);
  EXPECT_EQ(sorted.p50->value, shuffled.p50->value);
  // A slow ramp is worth a handful of samples, a random order nearly all of them.
  EXPECT_TRUE(shuffled.p50->upper && *shuffled.p50->upper < 1'550);
  EXPECT_TRUE(!sorted.p50->upper || *sorted.p50->upper > 1'700);
}

TEST(Summary, BoundsThatTheSampleCannotGiveAreAbsent) {
  // 5 samples: the median is outside of all of them with 2 x 0.5^5 = 6.25 %.
  const CellSummary five = summarise(cell_of({shuffled_ramp(5)}));
  ASSERT_TRUE(five.p50);
  EXPECT_FALSE(five.p50->lower);
  EXPECT_FALSE(five.p50->upper);
  // 200 samples: all are below the p99 with 0.99^200 = 13.4 %.
  const CellSummary two_hundred = summarise(cell_of({shuffled_ramp(200)}));
  ASSERT_TRUE(two_hundred.p99);
  EXPECT_TRUE(two_hundred.p99->lower);
  EXPECT_FALSE(two_hundred.p99->upper);
  EXPECT_TRUE(two_hundred.p50->lower && two_hundred.p50->upper);
}

TEST(Summary, LatencyIsTheMedianWithTheVariationOfItsProcesses) {
  Random random(11);
  const std::vector<Samples> processes{noise(random, 80, 30e6, 0.01), noise(random, 100, 31e6, 0.01),
                                       noise(random, 90, 32e6, 0.01)};
  const CellSummary summary = summarise(cell_of(processes));
  ASSERT_TRUE(summary.latency && summary.p50);
  EXPECT_EQ(summary.latency->value, summary.p50->value);
  // Between processes it varies by 3 %, within by 0.1 %: t of 2 degrees of freedom, 4.30, times 0.032 /
  // sqrt(3).
  EXPECT_NEAR(*summary.latency->upper / *summary.latency->lower,
              std::exp(2 * 4.303 * 0.0323 / std::sqrt(3.0)), 0.02);
  // p50 is the same estimate, and the other percentiles vary by as much.
  EXPECT_EQ(summary.p50->lower, summary.latency->lower);
  EXPECT_EQ(summary.p50->upper, summary.latency->upper);
  EXPECT_NEAR(*summary.p90->upper / *summary.p90->lower, std::exp(2 * 4.303 * 0.0323 / std::sqrt(3.0)), 0.02);

  const std::vector<stats::ProcessSamples> spans(processes.begin(), processes.end());
  const auto nested = stats::nested_median(spans);
  ASSERT_TRUE(nested);
  EXPECT_EQ(summary.latency->value, nested->value);
  EXPECT_EQ(summary.latency->lower, nested->lower);
  EXPECT_EQ(summary.latency->upper, nested->upper);
  EXPECT_EQ(summary.latency->n, 270);
  EXPECT_EQ(summary.latency->method, nested->method);
}

// 1, 2, ..., 100 units of 1000, 1100 and 1210 ns: own percentiles of 90, 95 and 99 units, a median of 50.5,
// whose logarithms have the mean of the middle process and the deviation ln 1.1. t of 2 degrees of freedom is
// 4.302653 (scipy.stats.t.ppf(0.975, 2)), times ln 1.1 / sqrt(3) 0.2367636.
TEST(Summary, EveryPercentileHasTheVariationOfItsProcesses) {
  std::vector<Samples> processes;
  for (const std::int64_t unit : {1'000, 1'100, 1'210}) {
    Samples samples = shuffled_ramp(100, static_cast<std::uint64_t>(unit));
    for (std::int64_t& sample : samples) sample = sample / 1'000 * unit;
    processes.push_back(std::move(samples));
  }
  const CellSummary summary = summarise(cell_of(processes), SummaryDepth::kQuick);
  ASSERT_TRUE(summary.p50 && summary.p90 && summary.p95 && summary.p99);
  EXPECT_NEAR(*summary.p50->lower, 43'838.828, 0.01);
  EXPECT_NEAR(*summary.p50->upper, 70'389.713, 0.01);
  EXPECT_NEAR(*summary.p90->lower, 78'128.604, 0.01);
  EXPECT_NEAR(*summary.p90->upper, 125'447.013, 0.01);
  EXPECT_NEAR(*summary.p95->lower, 82'469.082, 0.01);
  EXPECT_NEAR(*summary.p95->upper, 132'416.291, 0.01);
  EXPECT_NEAR(*summary.p99->lower, 85'941.464, 0.01);
  EXPECT_FALSE(summary.p99->upper);  // 300 < 368: not even within the processes
  EXPECT_EQ(summary.p90->method, stats::kMethodNestedQuantile);

  const std::vector<stats::ProcessSamples> spans(processes.begin(), processes.end());
  EXPECT_EQ(summary.p95->value, stats::nested_quantile(spans, 0.95)->value);
  EXPECT_EQ(summary.p95->upper, stats::nested_quantile(spans, 0.95)->upper);
}

// A process of 60 samples has no p99 of its own (process_level()), one of 19 no p95 either.
TEST(Summary, APercentileThatAProcessHasTooFewSamplesForVariesAsTheNearestOneThatItHas) {
  Random random(13);
  const std::vector<Samples> processes{noise(random, 60, 30e6, 0.01), noise(random, 300, 31e6, 0.01),
                                       noise(random, 300, 32e6, 0.01)};
  const std::vector<stats::ProcessSamples> spans(processes.begin(), processes.end());
  const CellSummary summary = summarise(cell_of(processes), SummaryDepth::kQuick);
  EXPECT_EQ(summary.p95->method, stats::kMethodNestedQuantile);
  EXPECT_EQ(summary.p99->method, stats::kMethodNestedQuantileNear);
  EXPECT_EQ(summary.p99->lower, stats::nested_quantile(spans, 0.99)->lower);
  EXPECT_EQ(summary.p99->upper, stats::nested_quantile(spans, 0.99)->upper);
  EXPECT_LT(*summary.p99->lower, 31e6);  // the t of 2 degrees of freedom
}

TEST(Summary, ThroughputOfCallsOneAtATimeCountsThePausesBetweenThem) {
  Measurement measurement = cell_of({}, 8);
  measurement.processes.push_back(process_of(Samples(100, 10 * kMillisecond), 0, 2 * kMillisecond));
  const CellSummary summary = summarise(measurement);
  ASSERT_TRUE(summary.throughput);
  // 100 calls of 8 in 100 x 10 ms + 99 x 2 ms; batch / median would be 800.
  EXPECT_DOUBLE_EQ(summary.throughput->value, 800 / 1.198);
  EXPECT_EQ(summary.throughput->unit, Unit::kSamplesPerSecond);
  EXPECT_THAT(summary.throughput->method, StartsWith("calls one at a time, first start to last end; "));
}

TEST(Summary, ThroughputOfCallsInFlightIsWhatFinishedInTheWindow) {
  Measurement measurement = cell_of({Samples(10, 50 * kMillisecond), Samples(10, 50 * kMillisecond)}, 4);
  measurement.key.workload.mode = Mode::kThroughput;
  measurement.processes[0].window = std::chrono::seconds(1);
  measurement.processes[0].completed = 100;
  measurement.processes[1].window = std::chrono::seconds(2);
  measurement.processes[1].completed = 240;
  const CellSummary summary = summarise(measurement);
  ASSERT_TRUE(summary.throughput);
  EXPECT_DOUBLE_EQ(summary.throughput->value, (400 + 960) / 3.0);
  EXPECT_THAT(summary.throughput->method, StartsWith("calls finished in the window; "));
  ASSERT_TRUE(summary.throughput->lower && summary.throughput->upper);  // two processes
  ASSERT_TRUE(summary.latency);                                         // of calls in flight
  EXPECT_EQ(summary.latency->value, 50 * kMillisecond);
}

TEST(Summary, ThroughputIsAbsentWithoutASpanToMeasureItOver) {
  Measurement in_flight = cell_of({Samples(50, kMillisecond)});
  in_flight.key.workload.mode = Mode::kThroughput;
  EXPECT_FALSE(summarise(in_flight).throughput);

  Measurement imported = cell_of({Samples(50, kMillisecond)});
  imported.processes[0].samples.start_ns.clear();
  EXPECT_FALSE(summarise(imported).throughput);
  EXPECT_TRUE(summarise(imported).latency);
}

TEST(Summary, OfAFailedCellHasNoNumbers) {
  Measurement measurement = cell_of({});
  measurement.processes.emplace_back();  // it started and gave nothing
  measurement.failure = CellFailure{"out_of_memory", "no room for 4.2 GB", Bytes{4'200'000'000}};
  measurement.diagnostics.push_back(diagnose(diagnostics::kOutOfMemory, "cell", "no room for 4.2 GB"));
  const CellSummary summary = summarise(measurement);
  for (const auto& estimate :
       {summary.latency, summary.p50, summary.p90, summary.p95, summary.p99, summary.throughput}) {
    EXPECT_FALSE(estimate);
  }
  EXPECT_EQ(summary.samples, 0);
  ASSERT_TRUE(summary.failure);
  EXPECT_EQ(summary.failure->kind, "out_of_memory");
  EXPECT_THAT(summary.diagnostics, ElementsAre(has_id("out_of_memory")));
}

TEST(ProcessSummary, HasTheMedianWithinTheProcess) {
  ProcessRun process = process_of(shuffled_ramp(101), 2);
  process.load_time = std::chrono::milliseconds(300);
  process.warmup_calls = 7;
  process.stop_reason = StopReason::kTimeLimit;
  process.peak_memory = Bytes{1'000};
  const ProcessSummary summary = summarise(process);
  EXPECT_EQ(summary.index, 2);
  EXPECT_EQ(summary.samples, 101);
  ASSERT_TRUE(summary.median);
  EXPECT_EQ(summary.median->value, 51'000);
  EXPECT_TRUE(summary.median->lower && summary.median->upper);
  EXPECT_EQ(summary.load_time, std::chrono::milliseconds(300));
  EXPECT_FALSE(summary.first_call);
  EXPECT_EQ(summary.warmup_calls, 7);
  EXPECT_EQ(summary.stop_reason, StopReason::kTimeLimit);
  EXPECT_EQ(summary.peak_memory, Bytes{1'000});
  EXPECT_FALSE(summarise(ProcessRun{}).median);
}

TEST(DerivedDiagnostics, SayWhichPercentileHasNoBound) {
  EXPECT_THAT(
      derived_diagnostics(cell_of({shuffled_ramp(200)})),
      ElementsAre(
          AllOf(has_id("few_samples"), Field(&Diagnostic::where, "resnet50/openvino/cpu/fp32/b1"),
                Field(&Diagnostic::severity, Severity::kNote), Field(&Diagnostic::count, 1),
                Field(&Diagnostic::text, "p99 has no upper bound: 200 samples are too few for it at 95 %"))));
  EXPECT_THAT(derived_diagnostics(cell_of({shuffled_ramp(3)})),
              ElementsAre(AllOf(has_id("few_samples"), Field(&Diagnostic::count, 4))));
  EXPECT_THAT(derived_diagnostics(cell_of({shuffled_ramp(1000)})), IsEmpty());
  EXPECT_THAT(derived_diagnostics(cell_of({})), IsEmpty());
}

// 500 independent samples bound p99; of 500 in ten stretches of one level each there are hardly more than
// ten.
TEST(DerivedDiagnostics, SayThatSamplesDependOnEachOtherWhereTheirNumberWouldDo) {
  Samples stretches;
  for (int i = 0; i < 500; ++i) stretches.push_back(10'000'000 + (i / 50 * 7 % 10) * 100'000 + i % 50 * 100);
  EXPECT_THAT(
      derived_diagnostics(cell_of({stretches})),
      Contains(AllOf(has_id("few_samples"),
                     Field(&Diagnostic::text, HasSubstr("500 samples, as much as they depend on each other, "
                                                        "are too few for")))));
}

// Medians of 10, 10.2 and 10.5 ms: t on their logarithms gives 9.62623 .. 10.87435 (ProcessMean in
// stats/nested_test.cpp), 6.12 % of 10.2 to each side. Of 15 samples, the 4th and the 12th bound the median:
// 10 .. 10.5, 2.45 %.
TEST(DerivedDiagnostics, CompareTheCellsIntervalWithWhatWasAsked) {
  Measurement cell = cell_of({Samples(5, 10'000'000), Samples(5, 10'200'000), Samples(5, 10'500'000)});
  const auto doubts = [&cell](std::optional<double> target) {
    cell.target = target;
    return derived_diagnostics(cell);
  };
  const auto text = [](const char* expected) {
    return Contains(AllOf(has_id("precision_not_reached"), Field(&Diagnostic::text, expected),
                          Field(&Diagnostic::where, "resnet50/openvino/cpu/fp32/b1")));
  };
  EXPECT_THAT(doubts(0.05),
              text("interval +-6.12 % of the median, asked +-5 %: +-2.45 % within the processes, "
                   "which differ; more of them narrow it"));
  EXPECT_THAT(doubts(0.02),
              text("interval +-6.12 % of the median, asked +-2 %: +-2.45 % within the processes, "
                   "which differ: more processes narrow it first, then more samples"));
  EXPECT_THAT(doubts(0.07), Not(Contains(has_id("precision_not_reached"))));
  EXPECT_THAT(doubts(std::nullopt), Not(Contains(has_id("precision_not_reached"))));  // a fixed protocol
  cell.processes.resize(1);
  EXPECT_THAT(doubts(0.02),
              text("the interval of the median lacks a bound, asked +-2 %: more samples give one"));
  cell.processes.clear();
  EXPECT_THAT(doubts(0.02), IsEmpty());
}

TEST(DerivedDiagnostics, FindProcessesThatDiffer) {
  Random random(5);
  const Samples first = noise(random, 200, 30e6, 0.01);
  Samples second = first;
  random.shuffle(std::span<std::int64_t>(second));
  const auto with_third = [&](double factor) {
    Samples third = second;
    for (std::int64_t& sample : third)
      sample = static_cast<std::int64_t>(static_cast<double>(sample) * factor);
    return derived_diagnostics(cell_of({first, second, std::move(third)}));
  };
  EXPECT_THAT(
      with_third(1.1),
      Contains(AllOf(has_id("processes_differ"),
                     Field(&Diagnostic::text,
                           AllOf(StartsWith("medians of the 3 processes lie 10.0 % apart: process 0 "),
                                 HasSubstr("ms, process 2 3"))))));
  // 1 % is significant here, but nobody's trouble.
  EXPECT_THAT(with_third(1.01), Not(Contains(has_id("processes_differ"))));
}

TEST(DerivedDiagnostics, DoNotTakeNoiseForProcessesThatDiffer) {
  // Medians of 60 samples of 5 % deviation have one of 0.8 %: a third of the cells has two that are over 2 %
  // apart. 99 % intervals of two equal medians are disjoint with a probability of 3e-4 (2.58 sqrt(2)
  // deviations); of three pairs 8e-4 at most. Of 2000 cells more than 8 alarms have a probability below 1e-4
  // (Poisson, 1.6).
  Random random(17);
  int alarms = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Measurement cell = cell_of(
        {noise(random, 60, 30e6, 0.05), noise(random, 60, 30e6, 0.05), noise(random, 60, 30e6, 0.05)});
    for (const Diagnostic& diagnostic : summarise(cell, SummaryDepth::kQuick).diagnostics) {
      alarms += diagnostic.id == "processes_differ" ? 1 : 0;
    }
  }
  EXPECT_LE(alarms, 8);
}

TEST(DerivedDiagnostics, AreNotMadeOfTooFewSamplesPerProcess) {
  // With 5 samples a median has no bounds, so nothing can be said about the difference.
  EXPECT_THAT(derived_diagnostics(cell_of({Samples(5, 30 * kMillisecond), Samples(5, 60 * kMillisecond)})),
              Not(Contains(has_id("processes_differ"))));
}

Samples with_shift(Random& random) {
  Samples samples = noise(random, 200, 30e6, 0.005);
  const Samples after = noise(random, 200, 36e6, 0.005);
  samples.insert(samples.end(), after.begin(), after.end());
  return samples;
}

Samples with_two_modes(Random& random) {
  Samples samples = noise(random, 400, 30e6, 0.005);
  for (std::int64_t& sample : samples) sample = random.uniform() < 0.4 ? sample * 5 / 4 : sample;
  return samples;
}

TEST(DerivedDiagnostics, FindALevelShift) {
  Random random(23);
  const Measurement cell = cell_of({noise(random, 400, 30e6, 0.005), with_shift(random)});
  EXPECT_THAT(derived_diagnostics(cell),
              Contains(AllOf(has_id("level_shift"), Field(&Diagnostic::count, 1),
                             Field(&Diagnostic::text, AllOf(StartsWith("process 1: from 30"),
                                                            HasSubstr(" ms to 36"), HasSubstr("of 400"))))));
}

TEST(DerivedDiagnostics, FindTwoRegimes) {
  Random random(29);
  const Measurement cell = cell_of({with_two_modes(random), with_two_modes(random)});
  EXPECT_THAT(derived_diagnostics(cell),
              Contains(AllOf(has_id("two_regimes"), Field(&Diagnostic::count, 2),
                             Field(&Diagnostic::text, AllOf(HasSubstr("near 3"), HasSubstr("near 37"))))));
}

TEST(DerivedDiagnostics, OfRegimesAreLeftOutOfAQuickSummary) {
  Random random(31);
  const Measurement cell = cell_of({with_shift(random), with_shift(random)});
  const CellSummary quick = summarise(cell, SummaryDepth::kQuick);
  const CellSummary full = summarise(cell, SummaryDepth::kFull);
  EXPECT_THAT(quick.diagnostics, Not(Contains(has_id("level_shift"))));
  EXPECT_THAT(full.diagnostics, Contains(has_id("level_shift")));
  EXPECT_EQ(quick.latency->lower, full.latency->lower);
  EXPECT_EQ(quick.p99->value, full.p99->value);
}

TEST(DerivedDiagnostics, FollowTheStoredOnes) {
  Measurement cell = cell_of({shuffled_ramp(200)});
  cell.diagnostics.push_back(diagnose(diagnostics::kForeignLoad, "cell", "38 % of the cores", 2));
  EXPECT_THAT(summarise(cell).diagnostics, ElementsAre(has_id("foreign_load"), has_id("few_samples")));
}

TEST(Summary, OtherTimesOfTheCallsHaveMediansWhereTheEngineSaysThem) {
  Measurement cell = cell_of({{9, 9, 9}, {9, 9, 9}});
  cell.processes[0].samples.enqueue_ns = {1, 2, 3};
  cell.processes[1].samples.enqueue_ns = {4, 5, 6};
  cell.processes[1].samples.device_ns = {7, 8, 8};  // the other process's timer failed
  const CellSummary summary = summarise(cell);
  ASSERT_TRUE(summary.enqueue_time && summary.device_time);
  EXPECT_GE(summary.enqueue_time->value, 3);  // 1 2 3 4 5 6
  EXPECT_LE(summary.enqueue_time->value, 4);
  EXPECT_EQ(summary.enqueue_time->n, 6);
  EXPECT_EQ(summary.device_time->value, 8);
  EXPECT_EQ(summary.device_time->n, 3);
  EXPECT_EQ(summary.device_time->unit, Unit::kNanoseconds);
  EXPECT_FALSE(summarise(cell, SummaryDepth::kQuick).device_time);
  EXPECT_FALSE(summarise(cell_of({{9, 9, 9}})).enqueue_time);
}

TEST(Summary, TelemetryIsItsRangeAndMedian) {
  const TelemetrySummary summary = summarise(TelemetrySeries{.quantity = "clock.cpu",
                                                             .source = "cpufreq:cpu0",
                                                             .unit = Unit::kHertz,
                                                             .at_ns = {1, 2, 3, 4},
                                                             .values = {3e9, 1e9, std::nan(""), 2e9}});
  EXPECT_EQ(summary.n, 4);
  EXPECT_EQ(summary.minimum, 1e9);
  EXPECT_EQ(summary.median, 2e9);
  EXPECT_EQ(summary.maximum, 3e9);
  EXPECT_FALSE(summarise(TelemetrySeries{.values = {std::nan("")}}).median);
}

}  // namespace
}  // namespace deepgap
