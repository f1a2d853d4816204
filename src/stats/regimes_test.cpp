#include "stats/regimes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace deepgap::stats {
namespace {

// The congruential generator of tests/statistical/reference.py, so that both have the same numbers.
std::vector<double> congruential(std::size_t n, std::uint64_t state) {
  std::vector<double> values(n);
  for (double& value : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<double>(state >> 11) * 0x1p-53;
  }
  return values;
}

std::vector<double> two_groups(std::size_t n, std::uint64_t seed) {
  const auto place = congruential(n, seed);
  const auto group = congruential(n, seed + 100);
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = place[i] * 0.3 + (group[i] < 0.4 ? 0 : 0.8);
  return values;
}

double dip_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return dip(values);
}

TEST(Dip, AgreesWithThePackageDiptest) {
  // Python package diptest 0.12 (a port of Maechler's C code): dipstat().
  EXPECT_NEAR(dip_of(congruential(5, 1)), 0.1, 1e-14);
  EXPECT_NEAR(dip_of(congruential(10, 2)), 0.1015620962419124, 1e-14);
  EXPECT_NEAR(dip_of(congruential(25, 3)), 0.06778597543472191, 1e-14);
  EXPECT_NEAR(dip_of(congruential(100, 4)), 0.032488584385226366, 1e-14);
  EXPECT_NEAR(dip_of(congruential(1000, 5)), 0.01031882262689885, 1e-14);
  EXPECT_NEAR(dip_of(two_groups(10, 2)), 0.10520584141601952, 1e-14);
  EXPECT_NEAR(dip_of(two_groups(100, 4)), 0.123505184334915, 1e-14);
  EXPECT_NEAR(dip_of(two_groups(1000, 5)), 0.12669505155380326, 1e-14);
  EXPECT_NEAR(dip_of({1, 1.1, 1.2, 5, 5.1, 5.2}), 0.2375, 1e-14);
  EXPECT_NEAR(dip_of({1, 2, 3, 7, 8, 9, 10, 30}), 0.125, 1e-14);
  EXPECT_NEAR(dip_of({1, 2, 3, 4, 5}), 0.1, 1e-14);  // the least there is, 1 / (2 n)
  EXPECT_NEAR(dip_of({3}), 0.5, 1e-14);
}

TEST(Dip, ProbabilityFallsBetweenThePublishedValues) {
  EXPECT_EQ(dip_p_value(0.01, 100), 1);
  EXPECT_NEAR(dip_p_value(0.05452, 100), 0.05, 1e-9);
  EXPECT_NEAR(dip_p_value(0.06327, 100), 0.01, 1e-9);
  EXPECT_EQ(dip_p_value(0.2, 1000), 0.0001);
  EXPECT_LT(dip_p_value(0.056, 100), dip_p_value(0.055, 100));
}

// Noise of 2 % around the level that `level` gives for each index.
template <typename Level>
std::vector<std::int64_t> noisy(std::size_t n, std::uint64_t seed, Level level) {
  Random random(seed);
  std::vector<std::int64_t> samples(n);
  for (std::size_t i = 0; i < n; ++i) {
    samples[i] = static_cast<std::int64_t>(1e7 * level(i) * (1 + 0.02 * random.normal()));
  }
  return samples;
}

TEST(LevelChanges, FindsAClockDrop) {
  const auto samples = noisy(600, 1, [](std::size_t i) { return i < 400 ? 1.0 : 1.1; });
  const auto found = find_level_changes(samples);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].begin, 0U);
  EXPECT_NEAR(static_cast<double>(found[0].end), 400, 2);
  EXPECT_EQ(found[1].begin, found[0].end);
  EXPECT_EQ(found[1].end, 600U);
  EXPECT_NEAR(found[0].median, 1e7, 5e4);
  EXPECT_NEAR(found[1].median, 1.1e7, 5e4);
  EXPECT_NEAR(found[0].share + found[1].share, 1, 1e-12);
}

TEST(LevelChanges, FindsADropThatRecovers) {
  const auto samples = noisy(600, 2, [](std::size_t i) { return i >= 250 && i < 350 ? 1.2 : 1.0; });
  const auto found = find_level_changes(samples);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(static_cast<double>(found[1].begin), 250, 2);
  EXPECT_NEAR(static_cast<double>(found[1].end), 350, 2);
}

TEST(LevelChanges, FindsAChangeWithoutNoise) {
  std::vector<std::int64_t> samples(100, 1000);
  std::fill(samples.begin() + 60, samples.end(), 1200);
  const auto found = find_level_changes(samples);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].end, 60U);
  EXPECT_EQ(found[1].median, 1200);
  std::reverse(samples.begin(), samples.end());
  const auto mirrored = find_level_changes(samples);
  ASSERT_EQ(mirrored.size(), 2U);
  EXPECT_EQ(mirrored[0].end, 40U);
}

TEST(LevelChanges, LeavesSmallChangesOutliersAndConstantsAlone) {
  EXPECT_EQ(find_level_changes(noisy(2000, 3, [](std::size_t i) { return i < 1000 ? 1.0 : 1.01; })).size(),
            1U);
  EXPECT_EQ(
      find_level_changes(noisy(500, 4, [](std::size_t i) { return i == 77 || i == 78 ? 50.0 : 1.0; })).size(),
      1U);
  EXPECT_EQ(find_level_changes(std::vector<std::int64_t>(300, 5)).size(), 1U);
  EXPECT_TRUE(find_level_changes({}).empty());
  EXPECT_EQ(find_level_changes(std::vector<std::int64_t>{4}).size(), 1U);
}

TEST(TwoModes, FindsThemWithTheirShares) {
  Random random(5);
  const auto samples = noisy(1000, 6, [&](std::size_t) { return random.uniform() < 0.3 ? 1.3 : 1.0; });
  const auto modes = find_two_modes(samples);
  ASSERT_TRUE(modes);
  EXPECT_NEAR(modes->fast.median, 1e7, 5e4);
  EXPECT_NEAR(modes->slow.median, 1.3e7, 1e5);
  EXPECT_NEAR(modes->slow.share, 0.3, 0.05);
  EXPECT_NEAR(modes->fast.share + modes->slow.share, 1, 1e-12);
  const auto fast = std::count_if(samples.begin(), samples.end(), [&](std::int64_t sample) {
    return static_cast<double>(sample) <= modes->boundary;
  });
  EXPECT_NEAR(modes->fast.share, static_cast<double>(fast) / 1000, 1e-12);
  EXPECT_LT(modes->boundary, modes->slow.median);
}

TEST(TwoModes, AFewSlowCallsAreNoMode) {
  // 3 % of the calls, clearly apart: below the least share of 5 %. So are 3 % fast ones.
  Random random(6);
  EXPECT_FALSE(
      find_two_modes(noisy(4000, 7, [&](std::size_t) { return random.uniform() < 0.03 ? 1.4 : 1.0; })));
  EXPECT_FALSE(
      find_two_modes(noisy(4000, 8, [&](std::size_t) { return random.uniform() < 0.03 ? 0.7 : 1.0; })));
  EXPECT_TRUE(
      find_two_modes(noisy(4000, 9, [&](std::size_t) { return random.uniform() < 0.09 ? 1.4 : 1.0; })));
}

// A Markov chain between a fast and a slow level, `dwell` calls long at the slow one on average.
std::vector<std::int64_t> switching(std::uint64_t seed, std::size_t n, double dwell, double share,
                                    double factor) {
  Random random(seed);
  bool slow = false;
  const double leave = 1 / dwell;
  const double enter = leave * share / (1 - share);
  std::vector<std::int64_t> samples;
  for (std::size_t i = 0; i < n; ++i) {
    const double draw = random.uniform();
    slow = dwell <= 1 ? draw < share : slow ? draw >= leave : draw < enter;
    samples.push_back(static_cast<std::int64_t>(5e6 * (slow ? factor : 1) * (1 + 0.03 * random.normal())));
  }
  return samples;
}

TEST(TwoModes, AreFoundHoweverLongTheyDwell) {
  // The effective size of regimes that dwell is that of their visits, too small for the dip test alone.
  for (const double dwell : {1.0, 5.0, 20.0, 50.0}) {
    for (const double share : {0.2, 0.35, 0.5}) {
      for (const double factor : {1.2, 1.3, 1.5}) {
        int named = 0;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
          const Regimes regimes = find_regimes(switching(seed, 2603, dwell, share, factor));
          named += regimes.modes ? 1 : 0;
        }
        // Of the slowest and rarest switching, some series have a slow stretch that is a segment, or too few.
        EXPECT_GE(named, share < 0.3 && dwell > 20 ? 13 : 17) << dwell << ", " << share << ", " << factor;
      }
    }
  }
}

TEST(TwoModes, AreNotFoundInOneModeHoweverDependent) {
  // Below 1 % of 2000 series of each kind.
  for (const std::size_t n : {100U, 400U}) {
    int noise = 0;
    int autoregressive = 0;
    int tails = 0;
    int drifts = 0;
    Random random(n);
    const auto add = [](const std::vector<double>& times, int& count) {
      std::vector<std::int64_t> samples;
      for (const double time : times) samples.push_back(static_cast<std::int64_t>(5e6 * time));
      count += find_two_modes(samples) ? 1 : 0;
    };
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> normal(n);
      std::vector<double> dependent(n);
      std::vector<double> lognormal(n);
      std::vector<double> drift(n);
      double deviation = random.normal();
      for (std::size_t i = 0; i < n; ++i) {
        const double fresh = random.normal();
        deviation = 0.5 * deviation + std::sqrt(0.75) * fresh;
        normal[i] = 1 + 0.05 * fresh;
        dependent[i] = 1 + 0.05 * deviation;
        lognormal[i] = std::exp(0.5 * fresh);
        drift[i] = (1 + 0.02 * fresh) * (1 + 0.5 * static_cast<double>(i) / static_cast<double>(n));
      }
      add(normal, noise);
      add(dependent, autoregressive);
      add(lognormal, tails);
      add(drift, drifts);
    }
    EXPECT_LT(noise, 20) << n;
    EXPECT_LT(autoregressive, 20) << n;
    EXPECT_LT(tails, 20) << n;
    EXPECT_LT(drifts, 20) << n;
  }
}

TEST(TwoModes, LevelsThatAreKeptAreNotVisited) {
  // One slow stretch is seen twice at most: by find_level_changes, not as modes.
  const auto bump = noisy(1000, 11, [](std::size_t i) { return i >= 400 && i < 600 ? 1.3 : 1.0; });
  EXPECT_FALSE(find_two_modes(bump));
}

TEST(TwoModes, ACoarseClockIsNotTwoModes) {
  Random random(7);
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 2000; ++i)
    samples.push_back(1000 + 100 * static_cast<std::int64_t>(2.5 + 0.6 * random.normal()));
  EXPECT_FALSE(find_two_modes(samples));
}

TEST(TwoModes, LongTailsAreNotTwoModes) {
  Random random(8);
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 2000; ++i)
    samples.push_back(static_cast<std::int64_t>(1e6 / std::sqrt(1 - random.uniform())));
  EXPECT_FALSE(find_two_modes(samples));
  EXPECT_FALSE(find_two_modes(std::vector<std::int64_t>(100, 3)));
  EXPECT_FALSE(find_two_modes({}));
}

TEST(Regimes, ModesAreThoseOfTheLongestSegment) {
  // Two levels one after the other are two segments, not two modes.
  const auto steps = find_regimes(noisy(1000, 9, [](std::size_t i) { return i < 500 ? 1.0 : 1.3; }));
  EXPECT_EQ(steps.segments.size(), 2U);
  EXPECT_FALSE(steps.modes);
  const auto alternating =
      find_regimes(noisy(1000, 10, [](std::size_t i) { return i % 3 == 0 ? 1.3 : 1.0; }));
  EXPECT_EQ(alternating.segments.size(), 1U);
  EXPECT_TRUE(alternating.modes);
  EXPECT_TRUE(find_regimes({}).segments.empty());
}

}  // namespace
}  // namespace deepgap::stats
