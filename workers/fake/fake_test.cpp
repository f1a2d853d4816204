#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fake_engine.h"
#include "run/worker_loop.h"

namespace deepgap::fake {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Settings settings_of(std::map<std::string, std::string> text) {
  auto settings = parse_settings(text);
  EXPECT_TRUE(settings.ok()) << (settings.ok() ? "" : settings.error().message());
  return settings.ok() ? *settings : Settings{};
}

// Without the cold call, in units of the planted median of 1 ms.
std::vector<double> levels(const std::map<std::string, std::string>& text, std::size_t n,
                           std::uint64_t seed = 1) {
  PlantedTimes times(settings_of(text), 1, seed);
  (void)times.next();
  std::vector<double> values(n);
  for (double& value : values) value = static_cast<double>(times.next().count()) / 1e6;
  return values;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}
double deviation(const std::vector<double>& values) {
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}
double lag_one_correlation(const std::vector<double>& values) {
  const double center = mean(values);
  double cross = 0, square = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    square += (values[i] - center) * (values[i] - center);
    if (i > 0) cross += (values[i] - center) * (values[i - 1] - center);
  }
  return cross / square;
}
double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

TEST(PlantedTimes, ConstantIsConstantAndTheFirstCallIsCold) {
  PlantedTimes times(settings_of({{"fake.distribution", "constant"}, {"fake.median", "3ms"}}), 1, 1);
  EXPECT_EQ(times.next(), 30ms);
  EXPECT_EQ(times.next(), 3ms);
  EXPECT_EQ(times.next(), 3ms);
  PlantedTimes cold(settings_of({{"fake.distribution", "constant"}, {"fake.first_call", "7us"}}), 1, 1);
  EXPECT_EQ(cold.next(), 7us);
}

// Bounds: five standard errors of each statistic at n = 40,000, derived beside.
TEST(PlantedTimes, NormalHasItsMeanAndDeviation) {
  const auto values = levels({{"fake.noise", "0.05"}}, 40'000);
  EXPECT_NEAR(mean(values), 1, 5 * 0.05 / 200);            // sigma / sqrt(n)
  EXPECT_NEAR(deviation(values), 0.05, 5 * 0.05 / 283);    // sigma / sqrt(2 n)
  EXPECT_NEAR(lag_one_correlation(values), 0, 5.0 / 200);  // 1 / sqrt(n)
}

TEST(PlantedTimes, LognormalHasItsMedian) {
  const auto values = levels({{"fake.distribution", "lognormal"}, {"fake.noise", "0.5"}}, 40'000);
  EXPECT_NEAR(median(values), 1, 5 * 1.2533 * 0.5 / 200);  // 1.2533 sigma / sqrt(n)
  EXPECT_NEAR(mean(values), std::exp(0.125), 0.02);        // exp(sigma^2 / 2)
}

TEST(PlantedTimes, Ar1HasItsCorrelation) {
  const auto values =
      levels({{"fake.distribution", "ar1"}, {"fake.correlation", "0.8"}, {"fake.noise", "0.05"}}, 40'000);
  EXPECT_NEAR(lag_one_correlation(values), 0.8, 5 * 0.6 / 200);  // sqrt(1 - rho^2) / sqrt(n)
  EXPECT_NEAR(deviation(values), 0.05,
              0.05 * 5 * 3 / 283);  // some n / ((1 + rho^2) / (1 - rho^2)) of them count
}

TEST(PlantedTimes, TwoRegimesHaveTheirShareAndDwell) {
  for (const char* dwell : {"1", "20"}) {
    const auto values = levels({{"fake.distribution", "two_regimes"},
                                {"fake.noise", "0"},
                                {"fake.share", "0.25"},
                                {"fake.factor", "2"},
                                {"fake.dwell", dwell}},
                               100'000);
    std::size_t high = 0, runs = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      high += values[i] > 1.5;
      runs += values[i] > 1.5 && (i == 0 || values[i - 1] < 1.5);
    }
    const double share = static_cast<double>(high) / 1e5;
    EXPECT_NEAR(share, 0.25, 0.05)
        << dwell;  // runs of 20: some 1,250 of them; 5 x 0.43 x sqrt(2 x 20 / 100,000)
    // Independent calls: a run lasts 1 / (1 - share) on the mean.
    const double expected = std::strcmp(dwell, "1") == 0 ? 1 / 0.75 : 20;
    EXPECT_NEAR(static_cast<double>(high) / static_cast<double>(runs), expected, 0.15 * expected) << dwell;
  }
}

TEST(PlantedTimes, DriftShiftAndSlowStart) {
  const auto drift =
      levels({{"fake.distribution", "drift"}, {"fake.noise", "0"}, {"fake.drift", "0.001"}}, 1000);
  EXPECT_NEAR(drift.back(), 2.0, 1e-6);  // call number 1000
  const auto shift = levels(
      {{"fake.distribution", "level_shift"}, {"fake.noise", "0"}, {"fake.at", "50"}, {"fake.factor", "1.2"}},
      100);
  EXPECT_EQ(shift[48], 1);  // call 49
  EXPECT_EQ(shift[49], 1.2);
  const auto slow = levels(
      {{"fake.distribution", "slow_start"}, {"fake.noise", "0"}, {"fake.at", "10"}, {"fake.factor", "3"}},
      20);
  EXPECT_NEAR(slow[0], 1 + 2 * 0.9, 1e-6);
  EXPECT_EQ(slow[9], 1);
}

TEST(PlantedTimes, GrowsWithTheBatchAndSaturates) {
  const Settings settings =
      settings_of({{"fake.median", "2ms"}, {"fake.per_sample", "1ms"}, {"fake.parallel", "4"}});
  EXPECT_EQ(PlantedTimes(settings, 1, 1).median(), 2ms);
  EXPECT_EQ(PlantedTimes(settings, 4, 1).median(), 2ms);
  EXPECT_EQ(PlantedTimes(settings, 16, 1).median(), 14ms);
}

TEST(PlantedTimes, SeedsAndProcessesDecide) {
  EXPECT_EQ(levels({}, 50, 1), levels({}, 50, 1));
  EXPECT_NE(levels({}, 50, 1), levels({}, 50, 2));
  const auto median_of = [](const char* process) {
    return PlantedTimes(settings_of({{"fake.process_noise", "0.1"}, {"fake.process", process}}), 1, 1)
        .median();
  };
  EXPECT_EQ(median_of("1"), median_of("1"));
  EXPECT_NE(median_of("1"), median_of("2"));
  // Among many processes their spread is the planted one.
  std::vector<double> logs;
  for (int process = 0; process < 2000; ++process)
    logs.push_back(std::log(static_cast<double>(median_of(std::to_string(process).c_str()).count()) / 1e6));
  EXPECT_NEAR(deviation(logs), 0.1, 5 * 0.1 / 63);
  EXPECT_NEAR(mean(logs), 0, 5 * 0.1 / 44);
}

TEST(FakeSettings, SayWhatTheyExpect) {
  const auto error = [](std::map<std::string, std::string> text) {
    const auto settings = parse_settings(text);
    return settings.ok() ? std::string() : settings.error().message();
  };
  EXPECT_EQ(error({{"fake.noise", "2"}}), "expected fake.noise to be a number from 0 to 1, found '2'");
  EXPECT_THAT(error({{"fake.median", "5"}}), HasSubstr("expected fake.median to be a duration"));
  EXPECT_THAT(error({{"fake.scenario", "fire"}}), HasSubstr("one of none, crash_at_load"));
  EXPECT_THAT(error({{"fake.medain", "5ms"}}), HasSubstr("did you mean 'fake.median'?"));
  EXPECT_EQ(setting_names().front(), "fake.median");
}

class Patient final : public run::MeasureObserver {
 public:
  bool go_on(const run::MeasureProgress&) override { return true; }
};

run::LoadRequest request_of(std::map<std::string, std::string> settings, Mode mode = Mode::kLatency) {
  run::LoadRequest request;
  request.mode = mode;
  request.settings = std::move(settings);
  return request;
}

TEST(FakeEngine, PlantsVirtualTimesExactly) {
  FakeEngine engine;
  run::LoadReply loaded;
  ASSERT_TRUE(engine
                  .load(request_of({{"fake.time", "virtual"},
                                    {"fake.distribution", "constant"},
                                    {"fake.median", "100ms"},
                                    {"fake.load_time", "1h"}}),
                        loaded)
                  .ok());
  run::MeasureOptions options;
  options.stopping.time_limit = 1h;
  Patient observer;
  run::MeasureReply reply;
  ASSERT_TRUE(run::measure(engine, options, true, observer, reply).ok());
  EXPECT_EQ(reply.first_call, 1s);
  EXPECT_THAT(reply.samples.host_ns, testing::Each(100'000'000));
}

// Timed as the server times it, on the engine's clock, which leaps back to the system's at each load.
TEST(FakeEngine, ALoadTakesItsPlantedTimeHoweverFarItsClockRanAhead) {
  FakeEngine engine;
  const auto now = [&engine] {
    Clock* const clock = engine.clock();
    return clock != nullptr ? clock->monotonic() : SystemClock().monotonic();
  };
  for (const char* time : {"virtual", "virtual", "real", "virtual"}) {
    const Nanoseconds begun_at = now();
    run::LoadReply loaded;
    ASSERT_TRUE(
        engine
            .load(request_of({{"fake.time", time}, {"fake.median", "1h"}, {"fake.load_time", "5ms"}}), loaded)
            .ok());
    const Nanoseconds took = now() - begun_at - loaded.other_time;
    EXPECT_GE(took, 5ms) << time;
    EXPECT_LT(took, 1h) << time;
    if (engine.clock() != nullptr) {
      ASSERT_TRUE(engine.call().ok());  // ten hours: the first one is cold
    }
  }
}

TEST(FakeEngine, ServersWorkSideBySide) {
  FakeEngine engine;
  run::LoadReply loaded;
  run::LoadRequest request = request_of({{"fake.time", "virtual"},
                                         {"fake.distribution", "constant"},
                                         {"fake.median", "10ms"},
                                         {"fake.servers", "3"}},
                                        Mode::kThroughput);
  request.in_flight = 6;
  ASSERT_TRUE(engine.load(request, loaded).ok());
  EXPECT_EQ(loaded.slots, 6);
  run::MeasureOptions options;
  options.mode = Mode::kThroughput;
  options.in_flight = 6;
  options.stopping.fixed_count = 60;
  Patient observer;
  run::MeasureReply reply;
  ASSERT_TRUE(run::measure(engine, options, true, observer, reply).ok());
  EXPECT_EQ(reply.completed, 60);
  EXPECT_EQ(reply.window, 200ms);  // 3 calls each 10 ms
  EXPECT_THAT(reply.samples.host_ns, testing::Each(20'000'000));
}

TEST(FakeEngine, DoesNotFitAboveItsBatch) {
  FakeEngine engine;
  run::LoadReply loaded;
  run::LoadRequest request = request_of({{"fake.most_batch", "8"}, {"fake.bytes_per_sample", "1000"}});
  request.batch = 8;
  EXPECT_TRUE(engine.load(request, loaded).ok());
  request.batch = 16;
  const auto outcome = engine.load(request, loaded);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.failure().kind, "out_of_memory");
  EXPECT_EQ(outcome.failure().bytes_asked, Bytes{16'000});
}

TEST(FakeEngine, OutputsErrByPrecision) {
  const auto outputs = [](Precision precision) {
    FakeEngine engine;
    run::LoadReply loaded;
    run::LoadRequest request = request_of({});
    request.precision = precision;
    request.batch = 100;
    EXPECT_TRUE(engine.load(request, loaded).ok());
    std::vector<run::Tensor> tensors;
    EXPECT_TRUE(engine.outputs({}, tensors).ok());
    std::vector<float> values(1000);
    std::memcpy(values.data(), tensors.at(0).bytes.data(), 4000);
    return values;
  };
  const auto exact = outputs(Precision::kFp32), bf16 = outputs(Precision::kBf16),
             int8 = outputs(Precision::kInt8);
  const auto error = [&](const std::vector<float>& values) {
    double square = 0, norm = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      square += std::pow(static_cast<double>(values[i] - exact[i]), 2);
      norm += std::pow(static_cast<double>(exact[i]), 2);
    }
    return std::sqrt(square / norm);
  };
  EXPECT_EQ(outputs(Precision::kFp32), exact);
  EXPECT_NEAR(error(bf16), 1.0 / 256, 0.3 / 256);
  EXPECT_NEAR(error(int8), 1.0 / 64, 0.3 / 64);
}

}  // namespace
}  // namespace deepgap::fake
