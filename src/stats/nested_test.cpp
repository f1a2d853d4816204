#include "stats/nested.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "stats/quantile.h"

namespace deepgap::stats {
namespace {

using Samples = std::vector<std::int64_t>;

// Independent samples around `centre`, deviation `deviation`, ns.
Samples normal_samples(Random& random, std::size_t n, double centre, double deviation) {
  Samples samples(n);
  for (auto& sample : samples) sample = static_cast<std::int64_t>(centre + deviation * random.normal());
  return samples;
}

std::vector<ProcessSamples> spans(const std::vector<Samples>& processes) {
  return {processes.begin(), processes.end()};
}

TEST(ProcessMean, AgreesWithScipyOnLogarithms) {
  // numpy and scipy.stats.t.ppf(0.975, 2) on log([10, 10.2, 10.5] * 1e6).
  const double values[] = {10e6, 10.2e6, 10.5e6};
  const auto estimate = *process_mean(values);
  EXPECT_NEAR(estimate.value, 10231276.546839982, 1e-5);
  EXPECT_NEAR(*estimate.lower, 9626230.565336557, 1e-5);
  EXPECT_NEAR(*estimate.upper, 10874352.018417297, 1e-5);
  EXPECT_TRUE(estimate.between_processes);
}

TEST(ProcessMean, IsLinearWhereAValueIsNotPositive) {
  const double values[] = {-1, 2, 4};
  const auto estimate = *process_mean(values);
  EXPECT_NEAR(estimate.value, 1.6666666666666667, 1e-14);
  EXPECT_NEAR(*estimate.lower, -4.584942812709108, 1e-12);
  EXPECT_NEAR(*estimate.upper, 7.918276146042442, 1e-12);
  EXPECT_FALSE(process_mean({}));
  const double one[] = {7};
  EXPECT_EQ(process_mean(one)->value, 7);
  EXPECT_FALSE(process_mean(one)->lower);
}

TEST(NestedMedian, ManyEqualProcessesGiveTheTInterval) {
  // Within a process nothing varies: only the t on process medians remains, as above.
  const std::vector<Samples> processes{Samples(40, 10'000'000), Samples(40, 10'200'000),
                                       Samples(40, 10'500'000)};
  const auto estimate = *nested_median(spans(processes));
  EXPECT_EQ(estimate.value, 10'200'000);
  // The pooled samples' own interval is 10.0 .. 10.5: inside of the t's.
  EXPECT_NEAR(*estimate.lower, 9626230.565336557, 1e-5);
  EXPECT_NEAR(*estimate.upper, 10874352.018417297, 1e-5);
  EXPECT_EQ(estimate.n, 120);
  EXPECT_EQ(estimate.method, kMethodNested);
  EXPECT_TRUE(estimate.between_processes);
}

TEST(NestedMedian, IsNeverNarrowerThanWithinProcesses) {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Samples> processes;
    Samples pooled;
    for (int process = 0; process < 3; ++process) {
      processes.push_back(normal_samples(random, 50, 1e7, 1e6));
      pooled.insert(pooled.end(), processes.back().begin(), processes.back().end());
    }
    std::sort(pooled.begin(), pooled.end());
    const auto within = *quantile_estimate(pooled, 0.5);
    const auto nested = *nested_median(spans(processes));
    EXPECT_EQ(nested.value, within.value);
    EXPECT_LE(*nested.lower, *within.lower);
    EXPECT_GE(*nested.upper, *within.upper);
  }
}

TEST(NestedMedian, OfOneProcessSaysSo) {
  Random random(5);
  const std::vector<Samples> processes{normal_samples(random, 200, 1e7, 1e5), Samples()};
  const auto estimate = *nested_median(spans(processes));
  EXPECT_EQ(estimate.method, kMethodOneProcess);
  EXPECT_FALSE(estimate.between_processes);
  EXPECT_LT(*estimate.lower, estimate.value);
  EXPECT_GT(*estimate.upper, estimate.value);
  EXPECT_FALSE(nested_median({}));
  EXPECT_FALSE(nested_median(spans({Samples(), Samples()})));
}

TEST(NestedQuantile, LacksABoundThatThePoolLacks) {
  Random random(6);
  std::vector<Samples> processes;
  for (int process = 0; process < 3; ++process) processes.push_back(normal_samples(random, 100, 1e7, 1e5));
  const auto p99 = *nested_quantile(spans(processes), 0.99);  // 300 samples: no upper bound below 368
  EXPECT_TRUE(p99.lower);
  EXPECT_FALSE(p99.upper);
  EXPECT_EQ(p99.method, kMethodNestedQuantile);
}

// 21 stamps with these gaps.
std::vector<std::int64_t> stamps() {
  std::vector<std::int64_t> at{1000};
  for (const int gap : {10, 12, 11, 9, 10, 10, 13, 12, 9, 8, 10, 11, 12, 10, 9, 11, 10, 10, 12, 11}) {
    at.push_back(at.back() + gap);
  }
  return at;
}

TEST(NestedThroughput, OfOneWindowByBatchMeans) {
  // numpy: the 20 gaps in 10 batches of 2, t(9) times relative standard error = 0.07358797800652718.
  const auto at = stamps();
  const ThroughputWindow window{.samples = 42, .window_ns = 210, .finished_at = at};
  const auto estimate = *nested_throughput(std::span(&window, 1));
  EXPECT_DOUBLE_EQ(estimate.value, 42 / 210e-9);
  EXPECT_NEAR(*estimate.lower, 2e8 / 1.07358797800652718, 1e-3);
  EXPECT_NEAR(*estimate.upper, 2e8 / (1 - 0.07358797800652718), 1e-3);
  EXPECT_EQ(estimate.n, 21);
  EXPECT_EQ(estimate.method, kMethodThroughputOneProcess);
}

TEST(NestedThroughput, TheOrderOfStampsDoesNotMatterAndTooFewGiveNoBounds) {
  auto at = stamps();
  std::reverse(at.begin(), at.end());
  ThroughputWindow window{.samples = 42, .window_ns = 210, .finished_at = at};
  EXPECT_NEAR(*nested_throughput(std::span(&window, 1))->lower, 2e8 / 1.07358797800652718, 1e-3);
  window.finished_at = std::span<const std::int64_t>(at).first(19);
  EXPECT_FALSE(nested_throughput(std::span(&window, 1))->lower);
  window.finished_at = {};
  EXPECT_EQ(nested_throughput(std::span(&window, 1))->n, 1);
}

TEST(NestedThroughput, OfSeveralWindowsByTheirSpread) {
  const ThroughputWindow windows[] = {{.samples = 10e6, .window_ns = 1'000'000'000, .finished_at = {}},
                                      {.samples = 10.2e6, .window_ns = 1'000'000'000, .finished_at = {}},
                                      {.samples = 0, .window_ns = 1'000'000'000, .finished_at = {}},
                                      {.samples = 10.5e6, .window_ns = 1'000'000'000, .finished_at = {}}};
  const auto estimate = *nested_throughput(windows);
  EXPECT_NEAR(estimate.value, 30.7e6 / 3, 1e-6);
  EXPECT_NEAR(*estimate.lower, 9626230.565336557, 1e-5);
  EXPECT_NEAR(*estimate.upper, 10874352.018417297, 1e-5);
  EXPECT_TRUE(estimate.between_processes);
  EXPECT_FALSE(nested_throughput(std::span(&windows[2], 1)));
}

}  // namespace
}  // namespace deepgap::stats
