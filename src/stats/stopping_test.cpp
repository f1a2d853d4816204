#include "stats/stopping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "stats/quantile.h"

namespace deepgap::stats {
namespace {

using namespace std::chrono_literals;

std::vector<std::int64_t> normal_samples(std::size_t n, double deviation, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> samples(n);
  for (auto& sample : samples) sample = static_cast<std::int64_t>(1e7 * (1 + deviation * random.normal()));
  return samples;
}

struct Outcome {
  StopReason reason;
  std::size_t count;
  std::vector<std::size_t> looked_at;
};

// Feeds the rule sample by sample, `per_call` each, until it stops.
Outcome feed(StoppingRule& rule, const std::vector<std::int64_t>& samples, Nanoseconds per_call) {
  Outcome run{StopReason::kCancelled, 0, {}};
  for (std::size_t n = 1; n <= samples.size(); ++n) {
    run.count = n;
    const Nanoseconds elapsed = per_call * static_cast<std::int64_t>(n);
    if (!rule.due(static_cast<std::int64_t>(n), elapsed)) continue;
    run.looked_at.push_back(n);
    if (const auto reason = rule.look(std::span<const std::int64_t>(samples).first(n), elapsed)) {
      run.reason = *reason;
      return run;
    }
  }
  return run;
}

TEST(StoppingRule, StopsWhenTheIntervalIsWithinTheTarget) {
  // Half width of the median's interval, normal noise: 1.96 * 1.2533 * 5 % / sqrt(n) = 1 % at n = 151.
  StoppingRule rule({.min_time = 0ns});
  const Outcome run = feed(rule, normal_samples(5000, 0.05, 1), 1ms);
  EXPECT_EQ(run.reason, StopReason::kPrecisionReached);
  EXPECT_GT(run.count, 80U);
  EXPECT_LT(run.count, 450U);
  EXPECT_LE(*relative_half_width(*rule.estimate()), 0.01);
  EXPECT_EQ(rule.estimate()->n, static_cast<std::int64_t>(run.count));
}

TEST(StoppingRule, LooksOnAGeometricSchedule) {
  StoppingRule rule({.min_time = 0ns});
  const Outcome run = feed(rule, normal_samples(300, 0.5, 2), 1us);
  // 50, then times 1.3, rounded up.
  const std::vector<std::size_t> expected{50, 65, 85, 111, 145, 189, 246};
  EXPECT_EQ(run.looked_at, expected);
  EXPECT_EQ(rule.looks(), 7);
}

TEST(StoppingRule, DoesNotStopBeforeItsMinima) {
  const std::vector<std::int64_t> level(4000, 1000);
  StoppingRule by_samples({.min_samples = 70, .min_time = 0ns});
  EXPECT_EQ(feed(by_samples, level, 1s / 100).count, 70U);
  StoppingRule by_time({.min_samples = 50, .min_time = 500ms});
  EXPECT_EQ(feed(by_time, level, 1ms).count, 500U);
}

TEST(StoppingRule, SaysWhichLimitEndedIt) {
  const auto noisy = normal_samples(3000, 0.5, 3);
  StoppingRule by_time({.time_limit = 2s});
  const Outcome timed = feed(by_time, noisy, 10ms);
  EXPECT_EQ(timed.reason, StopReason::kTimeLimit);
  EXPECT_EQ(timed.count, 200U);
  EXPECT_TRUE(by_time.estimate());
  StoppingRule by_count({.min_time = 0ns, .max_samples = 333});
  const Outcome counted = feed(by_count, noisy, 1us);
  EXPECT_EQ(counted.reason, StopReason::kSampleLimit);
  EXPECT_EQ(counted.count, 333U);
  // A limit below the minimum of samples: it ends all the same, with what it has.
  StoppingRule hasty({.time_limit = 30ms});
  const Outcome early = feed(hasty, noisy, 10ms);
  EXPECT_EQ(early.reason, StopReason::kTimeLimit);
  EXPECT_EQ(early.count, 3U);
  EXPECT_FALSE(hasty.estimate()->lower);
}

TEST(StoppingRule, TakesAFixedCountAsItIs) {
  const std::vector<std::int64_t> level(500, 1000);
  StoppingRule rule({.fixed_count = 100});
  const Outcome run = feed(rule, level, 1us);
  EXPECT_EQ(run.reason, StopReason::kFixedCount);
  EXPECT_EQ(run.count, 100U);
  EXPECT_EQ(run.looked_at.size(), 1U);
  StoppingRule limited({.time_limit = 20us, .fixed_count = 100});
  EXPECT_EQ(feed(limited, level, 1us).reason, StopReason::kTimeLimit);
}

TEST(StoppingRule, ALookThatIsNotDueChangesNothing) {
  StoppingRule rule;
  EXPECT_FALSE(rule.look(normal_samples(10, 0.01, 4), 1s));
  EXPECT_EQ(rule.looks(), 0);
  EXPECT_FALSE(rule.estimate());
}

TEST(StoppingRule, DoesNotStopOnOneModeOfAnEvenMixture) {
  // Two sharp modes of equal share: the median lies in the gap between them, and so must not be claimed to 1
  // %.
  Random random(5);
  std::vector<std::int64_t> samples(5000);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<std::int64_t>((i % 2 == 0 ? 1e7 : 1.2e7) * (1 + 0.005 * random.normal()));
  }
  StoppingRule rule({.min_time = 0ns, .max_samples = 5000});
  EXPECT_EQ(feed(rule, samples, 1us).reason, StopReason::kSampleLimit);
}

TEST(StoppingRule, DoesNotStopNextToAnotherMode) {
  // 65 fast calls of 100: the 95 % interval of the median lies within them, the 99.99 % one does not.
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 100; ++i) samples.push_back(i < 65 ? 10'000'000 + i * 100 : 12'000'000 + i * 100);
  Random random(11);
  random.shuffle(std::span<std::int64_t>(samples));
  StoppingRule rule({.min_samples = 100, .min_time = 0ns, .max_samples = 100});
  EXPECT_EQ(rule.look(samples, 1us), StopReason::kSampleLimit);
  EXPECT_LE(*relative_half_width(*rule.estimate()), 0.01);
  // All of them fast: nothing to fear.
  for (std::int64_t& sample : samples) sample = sample >= 12'000'000 ? sample - 2'000'000 : sample;
  StoppingRule alone({.min_samples = 100, .min_time = 0ns, .max_samples = 100});
  EXPECT_EQ(alone.look(samples, 1us), StopReason::kPrecisionReached);
}

TEST(StoppingRule, ALimitBeforeTheMinimumOfTimeIsNotPrecision) {
  const std::vector<std::int64_t> level(60, 1000);
  StoppingRule rule({.min_time = 500ms, .max_samples = 60});
  EXPECT_EQ(feed(rule, level, 1us).reason, StopReason::kSampleLimit);
}

TEST(StoppingRule, WantsMoreOfDependentSamples) {
  Random random(6);
  std::vector<std::int64_t> samples;
  double x = 0;
  for (int i = 0; i < 20'000; ++i) {
    x = 0.9 * x + std::sqrt(1 - 0.81) * random.normal();
    samples.push_back(static_cast<std::int64_t>(1e7 * (1 + 0.03 * x)));
  }
  std::vector<std::int64_t> shuffled = samples;
  random.shuffle(std::span<std::int64_t>(shuffled));
  StoppingRule dependent({.min_time = 0ns});
  StoppingRule independent({.min_time = 0ns});
  EXPECT_GT(feed(dependent, samples, 1us).count, 4 * feed(independent, shuffled, 1us).count);
}

TEST(StoppingRule, NamesItsReasons) {
  EXPECT_EQ(to_string(StopReason::kPrecisionReached), "precision reached");
  EXPECT_EQ(to_string(StopReason::kTimeLimit), "time limit");
  EXPECT_EQ(to_string(StopReason::kSampleLimit), "sample limit");
  EXPECT_EQ(to_string(StopReason::kFixedCount), "fixed count");
  EXPECT_EQ(to_string(StopReason::kCancelled), "cancelled");
}

TEST(MedianWithinProcess, UsesTheEffectiveSampleSize) {
  std::vector<std::int64_t> samples = normal_samples(400, 0.02, 7);
  std::vector<std::int64_t> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  const auto independent = *quantile_estimate(sorted, 0.5);
  const auto shuffled = *median_within_process(samples);
  const auto ordered = *median_within_process(sorted);  // the strongest dependence there is
  EXPECT_EQ(shuffled.value, independent.value);
  EXPECT_LE(*shuffled.lower, *independent.lower);
  EXPECT_TRUE(!ordered.lower || *ordered.lower < *shuffled.lower);
  EXPECT_FALSE(median_within_process({}));
}

}  // namespace
}  // namespace deepgap::stats
