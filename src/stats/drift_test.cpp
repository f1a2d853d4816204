#include "stats/drift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "base/random.h"

namespace deepgap::stats {
namespace {

using Series = std::vector<std::int64_t>;

std::optional<Drift> drift_of(const Series& samples) {
  return find_drift(samples, find_level_changes(samples));
}

// Times of 5 ms by what `level` gives for the place in the series, from 0 to 1, with normal noise.
template <typename Level>
Series series(Random& random, std::size_t n, double noise, Level level) {
  Series samples;
  for (std::size_t i = 0; i < n; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(n);
    samples.push_back(static_cast<std::int64_t>(5e6 * level(place) * (1 + noise * random.normal())));
  }
  return samples;
}

Series autoregressive(Random& random, std::size_t n, double phi) {
  Series samples;
  double deviation = random.normal();
  for (std::size_t i = 0; i < n; ++i) {
    samples.push_back(static_cast<std::int64_t>(5e6 * (1 + 0.05 * deviation)));
    deviation = phi * deviation + std::sqrt(1 - phi * phi) * random.normal();
  }
  return samples;
}

Series switching(Random& random, std::size_t n, double dwell) {
  Series samples;
  bool slow = false;
  for (std::size_t i = 0; i < n; ++i) {
    slow = slow ? random.uniform() >= 1 / dwell : random.uniform() < 0.5 / dwell;
    samples.push_back(static_cast<std::int64_t>(5e6 * (slow ? 1.3 : 1) * (1 + 0.03 * random.normal())));
  }
  return samples;
}

// How many of `trials` series have a drift.
template <typename Draw>
int found(int trials, std::uint64_t seed, Draw draw) {
  int count = 0;
  for (int trial = 0; trial < trials; ++trial) {
    Random random = Random(seed).fork(static_cast<std::uint64_t>(trial));
    count += drift_of(draw(random)) ? 1 : 0;
  }
  return count;
}

TEST(Kendall, CountsDiscordantPairsExactly) {
  // Orders of 4 values with 0, 1, 2, 3 descending pairs: 1, 3, 5, 6 of 24 (Mahonian numbers).
  EXPECT_NEAR(kendall_at_most(0, 4), 1.0 / 24, 1e-15);
  EXPECT_NEAR(kendall_at_most(1, 4), 4.0 / 24, 1e-15);
  EXPECT_NEAR(kendall_at_most(2, 4), 9.0 / 24, 1e-15);
  EXPECT_NEAR(kendall_at_most(3, 4), 15.0 / 24, 1e-15);
  EXPECT_NEAR(kendall_at_most(6, 4), 1, 1e-15);
  EXPECT_EQ(kendall_at_most(-1, 4), 0);
  // Of 8 values: 1 + 7 + 27 of 40320.
  EXPECT_NEAR(kendall_at_most(2, 8), 35.0 / 40320, 1e-15);
}

TEST(Drift, IsFoundWithItsSize) {
  // What the fake engine plants: each call longer by 0.0001 of the first.
  Random random(1);
  const auto drift = drift_of(series(random, 15435, 0.02, [](double place) { return 1 + 1.5435 * place; }));
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->first, 5e6, 5e4);
  EXPECT_NEAR(drift->last, 5e6 * 2.5435, 1e5);
  EXPECT_NEAR(drift->relative_change, 1.5435 / 1.77175, 0.02);
}

TEST(Drift, IsFoundInMostSeriesWhereItStandsOutOfTheNoise) {
  const auto power = [](double total, double noise, std::size_t n) {
    return found(100, 2, [&](Random& random) {
      return series(random, n, noise, [&](double place) { return 1 + total * place; });
    });
  };
  EXPECT_GE(power(0.02, 0.005, 400), 90);
  EXPECT_GE(power(0.05, 0.02, 400), 80);
  EXPECT_GE(power(0.1, 0.005, 45), 90);
  EXPECT_GE(power(0.3, 0.02, 45), 90);
  EXPECT_GE(power(1, 0.05, 100), 95);
  EXPECT_GE(power(-0.3, 0.05, 400), 95);
}

TEST(Drift, OfHeatThatLevelsOffIsFound) {
  EXPECT_GE(found(100, 3,
                  [](Random& random) {
                    return series(random, 400, 0.02,
                                  [](double place) { return 1.2 - 0.2 * std::exp(-place); });
                  }),
            90);
}

// Below 1 % of 2000 series. The measured rates are at most a fifth of that where nothing else is said.
TEST(Drift, IsNotFoundInNoise) {
  for (const std::size_t n : {45U, 100U, 400U}) {
    EXPECT_LT(
        found(2000, 4, [&](Random& random) { return series(random, n, 0.1, [](double) { return 1.0; }); }),
        20)
        << n;
    EXPECT_LT(found(2000, 5, [&](Random& random) { return autoregressive(random, n, 0.5); }), 20) << n;
  }
}

TEST(Drift, IsNotFoundInRegimesThatSwitch) {
  for (const std::size_t n : {45U, 100U, 400U}) {
    for (const double dwell : {1.0, 5.0, 20.0}) {
      EXPECT_LT(found(2000, 6, [&](Random& random) { return switching(random, n, dwell); }), 20)
          << n << ", " << dwell;
    }
  }
}

TEST(Drift, IsNotFoundInALevelShift) {
  for (const std::size_t n : {45U, 100U, 400U}) {
    for (const double at : {0.2, 0.5, 0.7}) {
      for (const double factor : {1.02, 1.05, 1.3}) {
        EXPECT_LT(found(2000, 7,
                        [&](Random& random) {
                          return series(random, n, 0.02,
                                        [&](double place) { return place < at ? 1.0 : factor; });
                        }),
                  20)
            << n << ", " << at << ", " << factor;
      }
    }
  }
}

TEST(Drift, NeedsSamplesAndASize) {
  Random random(8);
  const auto rising = [](double total) { return [=](double place) { return 1 + total * place; }; };
  EXPECT_FALSE(drift_of(series(random, 39, 0.001, rising(0.5))));
  EXPECT_TRUE(drift_of(series(random, 40, 0.001, rising(0.5))));
  EXPECT_FALSE(drift_of(series(random, 4000, 0.001, rising(0.008))));
  EXPECT_TRUE(drift_of(series(random, 4000, 0.001, rising(0.012))));
  EXPECT_FALSE(drift_of({}));
  EXPECT_FALSE(drift_of(Series(500, 7)));
}

TEST(Drift, WithoutNoiseIsFound) {
  Series samples;
  for (std::int64_t i = 0; i < 200; ++i) samples.push_back(1000 + i);
  const auto drift = drift_of(samples);
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->first, 1000, 2);
  EXPECT_NEAR(drift->last, 1200, 2);
}

}  // namespace
}  // namespace deepgap::stats
