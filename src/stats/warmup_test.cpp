#include "stats/warmup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace deepgap::stats {
namespace {

using namespace std::chrono_literals;

// exp decay from (1 + excess) to 1 over `calls`, noise of `noise`.
std::vector<std::int64_t> warming(std::size_t n, double excess, double calls, double noise,
                                  std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> samples(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double level = 1 + excess * std::exp(-static_cast<double>(i) / calls);
    samples[i] = static_cast<std::int64_t>(1e7 * level * (1 + noise * random.normal()));
  }
  return samples;
}

TEST(Steadiness, FewCallsAreNotSteady) {
  const std::vector<std::int64_t> seven(7, 100);
  EXPECT_FALSE(steadiness(seven).steady);
  EXPECT_EQ(steadiness(seven).steady_from, 7U);
  const std::vector<std::int64_t> eight(8, 100);
  EXPECT_TRUE(steadiness(eight).steady);
  EXPECT_EQ(steadiness(eight).steady_from, 0U);
}

TEST(Steadiness, ASlowFirstCallIsLeftOut) {
  std::vector<std::int64_t> samples(32, 1000);
  samples[0] = 50'000;
  const Steadiness found = steadiness(samples);
  EXPECT_TRUE(found.steady);
  EXPECT_GE(found.steady_from, 1U);
  EXPECT_LE(found.steady_from, 2U);
}

TEST(Steadiness, ADriftIsNotSteady) {
  std::vector<std::int64_t> falling(64);
  for (std::size_t i = 0; i < falling.size(); ++i) falling[i] = static_cast<std::int64_t>(200'000 - 1000 * i);
  EXPECT_FALSE(steadiness(falling).steady);
  EXPECT_EQ(steadiness(falling).steady_from, 64U);
}

TEST(Steadiness, StartsWhereTheLevelIsReached) {
  const Steadiness found = steadiness(warming(400, 1, 20, 0.003, 1));
  EXPECT_TRUE(found.steady);
  // The excess is below 1 % from call 92 on (20 ln 100), and within a step of a sixteenth, 25 calls, above.
  EXPECT_GE(found.steady_from, 60U);
  EXPECT_LE(found.steady_from, 140U);
}

std::size_t calls_until_done(WarmupRule& rule, const std::vector<std::int64_t>& series) {
  std::size_t calls = 1;
  while (!rule.done(std::span<const std::int64_t>(series).first(calls), 1ms * calls)) ++calls;
  return calls;
}

TEST(WarmupRule, EndsSoonAfterTheDriftAndNotBefore) {
  // The drift is 50 % at first, 7 % after 60 calls, 3e-8 after 500. Early on, few calls may hide it; 12 of
  // 100 times now.
  int early = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    WarmupRule rule({.min_time = 0ns});
    const std::size_t calls = calls_until_done(rule, warming(2000, 0.5, 30, 0.005, seed));
    EXPECT_TRUE(rule.result().steady);
    EXPECT_LT(calls, 500U);
    if (calls < 60) ++early;
  }
  EXPECT_LE(early, 20);
}

TEST(WarmupRule, WantsTwoSteadyLooks) {
  // 8 level calls satisfy the first look; the second comes at 10.
  WarmupRule rule({.min_time = 0ns});
  EXPECT_EQ(calls_until_done(rule, std::vector<std::int64_t>(100, 1000)), 10U);
}

TEST(WarmupRule, ANoisySeriesEndsToo) {
  const auto series = warming(2000, 0, 1, 0.2, 3);
  WarmupRule rule({.min_time = 0ns});
  EXPECT_LT(calls_until_done(rule, series), 60U);
  EXPECT_TRUE(rule.result().steady);
}

TEST(WarmupRule, HonoursItsLimits) {
  std::vector<std::int64_t> rising;
  for (std::int64_t i = 0; i < 500; ++i) rising.push_back(1000 * (i + 1));
  const std::span<const std::int64_t> samples(rising);
  WarmupRule by_calls({.min_time = 0ns, .max_calls = 100, .time_limit = 1h});
  EXPECT_FALSE(by_calls.done(samples.first(99), 1s));
  EXPECT_TRUE(by_calls.done(samples.first(100), 1s));
  EXPECT_FALSE(by_calls.result().steady);
  WarmupRule by_time({.min_time = 0ns, .time_limit = 5s});
  EXPECT_FALSE(by_time.done(samples.first(50), 4s));
  EXPECT_TRUE(by_time.done(samples.first(51), 5s));
  // Steady from the first, but the minimum of time comes first.
  const std::vector<std::int64_t> level(100, 1000);
  WarmupRule patient({.min_time = 2s});
  EXPECT_FALSE(patient.done(level, 1s));
  EXPECT_FALSE(patient.done(std::span(level).first(50), 2s));
  EXPECT_TRUE(patient.done(level, 3s));
  EXPECT_TRUE(patient.result().steady);
}

}  // namespace
}  // namespace deepgap::stats
