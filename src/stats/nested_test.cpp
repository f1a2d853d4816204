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

// Ten samples that rise from 9.5 to 10.5 ms in each process are worth one or two independent ones, too few
// for a bound; their medians are 10, 10.1, 10.3 ms.
TEST(NestedMedian, OfSeveralProcessesNeedsNoBoundOfItsSamples) {
  const auto rising = [](std::int64_t centre) {
    Samples samples;
    for (std::int64_t i = 0; i < 11; ++i) samples.push_back(centre - 500'000 + i * 100'000);
    return samples;
  };
  const std::vector<Samples> processes{rising(10'000'000), rising(10'100'000), rising(10'300'000)};
  const auto estimate = *nested_median(spans(processes));
  const std::vector<double> medians{1e7, 1.01e7, 1.03e7};
  const auto alone = *process_mean(medians);
  EXPECT_EQ(estimate.lower, alone.lower);
  EXPECT_EQ(estimate.upper, alone.upper);
  EXPECT_TRUE(estimate.between_processes);
  // Two processes say too little about what they vary by, and a percentile is not that of its process.
  EXPECT_FALSE(nested_median(spans({processes[0], processes[1]}))->lower);
  EXPECT_FALSE(nested_quantile(spans(processes), 0.9)->upper);
  // Nor do single samples.
  EXPECT_FALSE(nested_median(spans({{1000}, {1010}, {1030}}))->lower);
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

TEST(NestedQuantile, ComparesProcessesAtALevelThatAllHave) {
  EXPECT_EQ(process_level(1, 0.5), 0.5);
  EXPECT_EQ(process_level(2, 0.5), 0.5);
  EXPECT_EQ(process_level(100, 0.99), 0.99);  // 1 / (1 - p) samples: the 99th of 100
  EXPECT_EQ(process_level(20, 0.95), 0.95);
  EXPECT_EQ(process_level(10, 0.9), 0.9);
  EXPECT_EQ(process_level(50, 0.99), 0.98);  // the 49th of 50 instead of the largest
  EXPECT_EQ(process_level(4, 0.95), 0.75);
  EXPECT_EQ(process_level(1, 0.99), 0.5);
  EXPECT_EQ(process_level(4, 0.1), 0.25);
}

TEST(NestedQuantile, CarriesTheVariationAtANearLevelOverToItsOwn) {
  // Ten own quantiles, logarithms ln(1.1) / 2 to both sides of their mean: deviation ln(1.1) / 2 sqrt(10 /
  // 9), times 2.2621572 (scipy.stats.t.ppf(0.975, 9)) / sqrt(10) is 0.035934434.
  std::vector<double> own(5, 49'000.0);
  own.resize(10, 53'900.0);
  const Estimated within{
      .value = 53'900, .lower = 52'800, .upper = 55'000, .n = 500, .method = kMethodOrderStatisticEffective};
  const Estimated near = with_processes(within, own, 0.99, 0.98);
  EXPECT_EQ(near.value, 53'900);
  // The t's own lower bound, sqrt(49000 x 53900) = 51391.634 over exp(0.0359), is one of any higher quantile.
  EXPECT_NEAR(*near.lower, 49'577.691, 0.001);
  EXPECT_NEAR(*near.upper, 55'872.087, 0.001);  // 53900 exp(0.0359)
  EXPECT_EQ(near.method, kMethodNestedQuantileNear);
  EXPECT_TRUE(near.between_processes);
  const Estimated at_own_level = with_processes(within, own, 0.98, 0.98);
  EXPECT_NEAR(*at_own_level.lower, 49'577.691, 0.001);
  EXPECT_EQ(*at_own_level.upper, 55'000);
  EXPECT_EQ(at_own_level.method, kMethodNestedQuantile);
  // On the values themselves where one is not positive: -1, 2, 4 as in ProcessMean above, 5 higher.
  const double any_sign[] = {-1, 2, 4};
  const Estimated linear =
      with_processes({.value = 5 + 5.0 / 3, .lower = 6, .upper = 7}, any_sign, 0.9, 0.75);
  EXPECT_NEAR(*linear.lower, -4.584942812709108, 1e-12);
  EXPECT_NEAR(*linear.upper, 5 + 7.918276146042442, 1e-12);
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
