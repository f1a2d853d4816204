#include "stats/quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace deepgap::stats {
namespace {

std::vector<std::int64_t> first_integers(std::int64_t n) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(Quantile, NearestRankIsTheInverseOfTheDistributionFunction) {
  EXPECT_EQ(nearest_rank(100, 0.99), 99);
  EXPECT_EQ(nearest_rank(101, 0.99), 100);
  EXPECT_EQ(nearest_rank(99, 0.99), 99);
  EXPECT_EQ(nearest_rank(10, 0.9), 9);
  EXPECT_EQ(nearest_rank(11, 0.9), 10);
  EXPECT_EQ(nearest_rank(20, 0.95), 19);
  EXPECT_EQ(nearest_rank(1, 0.99), 1);
  EXPECT_EQ(nearest_rank(100, 1e-9), 1);
  // 0.07 * 100 is 7.000000000000001 in floating point.
  EXPECT_EQ(nearest_rank(100, 0.07), 7);
  // Against integers: rank = ceil(n k / 1000).
  for (std::int64_t n = 1; n <= 400; ++n) {
    for (std::int64_t k = 1; k < 1000; ++k) {
      ASSERT_EQ(nearest_rank(n, static_cast<double>(k) / 1000), (n * k + 999) / 1000) << n << " " << k;
    }
  }
}

TEST(Quantile, OfSmallSamples) {
  const std::vector<std::int64_t> odd{10, 20, 30};
  const std::vector<std::int64_t> even{10, 20, 31, 40};
  EXPECT_EQ(median(odd), 20);
  EXPECT_EQ(median(even), 25.5);
  EXPECT_EQ(quantile_sorted(std::span<const std::int64_t>(even), 0.9), 40);
  EXPECT_EQ(quantile_sorted(std::span<const std::int64_t>(even), 0.75), 31);
  EXPECT_EQ(quantile_sorted(std::span<const std::int64_t>(even), 0.76), 40);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
}

TEST(Quantile, SumOfTheMiddleTwoDoesNotOverflow) {
  const std::int64_t large = std::numeric_limits<std::int64_t>::max() - 10;
  EXPECT_EQ(median(std::vector<std::int64_t>{large, large}), static_cast<double>(large));
}

TEST(Quantile, SelectionAgreesWithSorting) {
  Random random(3);
  for (std::size_t n = 1; n <= 60; ++n) {
    std::vector<std::int64_t> values(n);
    for (auto& value : values) value = static_cast<std::int64_t>(random.below(25));  // with ties
    std::vector<std::int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const double p : {0.01, 0.25, 0.5, 0.9, 0.95, 0.99}) {
      const double expected = quantile_sorted(std::span<const std::int64_t>(sorted), p);
      EXPECT_EQ(quantile(values, p), expected);
      std::vector<std::int64_t> copy = values;
      EXPECT_EQ(quantile_in_place(std::span<std::int64_t>(copy), p), expected);
    }
  }
}

struct RankCase {
  std::int64_t n;
  double p;
  double confidence;
  std::int64_t lower;  // 0: absent
  std::int64_t upper;  // 0: absent
  double coverage;     // 0: not stated
};

// By scipy 1.17's binom.cdf and binom.sf, searching all ranks; the two largest n by sums of terms in mpmath
// at 40 digits. tests/statistical/reference.py makes them again.
constexpr RankCase kRankCases[] = {
    {5, 0.5, 0.95, 0, 0, 1},
    {6, 0.5, 0.95, 1, 6, 0.96875},
    {10, 0.5, 0.95, 2, 9, 0.978515625},
    {30, 0.5, 0.95, 10, 21, 0.9572260547429323},
    {100, 0.5, 0.95, 40, 61, 0.9647997997822952},
    {400, 0.5, 0.95, 180, 221, 0.9597692603193622},
    {1000, 0.5, 0.95, 469, 532, 0.9537088026395018},
    {10000, 0.5, 0.95, 4902, 5099, 0.9511670501036189},
    {28, 0.9, 0.95, 22, 0, 0.982093310100574},
    {35, 0.9, 0.95, 28, 0, 0.9800097663728364},
    {36, 0.9, 0.95, 29, 36, 0.9539621052026521},
    {100, 0.9, 0.95, 84, 96, 0.955690107191223},
    {71, 0.95, 0.95, 63, 0, 0.991205101618846},
    {72, 0.95, 0.95, 64, 72, 0.9654900479083739},
    {100, 0.95, 0.95, 90, 100, 0.9826070607121812},
    {1000, 0.95, 0.95, 936, 964, 0.9580952682226541},
    {100, 0.99, 0.95, 97, 0, 0.9816259635553503},
    {367, 0.99, 0.95, 359, 0, 0.9873807468697264},
    {368, 0.99, 0.95, 360, 368, 0.9624158204108587},
    {1000, 0.99, 0.95, 983, 997, 0.976094763497977},
    {100, 0.5, 0.99, 37, 64, 0},
    {30, 0.5, 0.9, 11, 20, 0},
    {4, 0.9, 0.95, 2, 0, 0},
    {3, 0.5, 0.95, 0, 0, 0},
    {1'000'000, 0.5, 0.95, 499'020, 500'981, 0},
    {1'000'000, 0.99, 0.95, 989'805, 990'196, 0},
    {10'000'000, 0.5, 0.95, 4'996'901, 5'003'100, 0},
    {10'000'000, 0.99, 0.95, 9'899'383, 9'900'617, 0},
};

TEST(QuantileRanks, AreTheTightestThatHold) {
  for (const RankCase& expected : kRankCases) {
    const QuantileRanks ranks = quantile_ranks(expected.n, expected.p, expected.confidence);
    EXPECT_EQ(ranks.lower.value_or(0), expected.lower) << expected.n << " " << expected.p;
    EXPECT_EQ(ranks.upper.value_or(0), expected.upper) << expected.n << " " << expected.p;
    if (expected.coverage > 0) {
      EXPECT_NEAR(rank_coverage(expected.n, ranks, expected.p), expected.coverage, 1e-12);
    }
  }
}

TEST(QuantileRanks, BoundsAppearWithTheFirstSampleThatSupportsThem) {
  // Upper: p^n <= 0.025, n >= ln 0.025 / ln p. Lower: (1 - p)^n <= 0.025.
  const struct {
    double p;
    std::int64_t upper_from;
    std::int64_t lower_from;
  } cases[] = {{0.5, 6, 6}, {0.9, 36, 2}, {0.95, 72, 2}, {0.99, 368, 1}};
  for (const auto& expected : cases) {
    for (std::int64_t n = 1; n < 400; ++n) {
      const QuantileRanks ranks = quantile_ranks(n, expected.p);
      EXPECT_EQ(ranks.upper.has_value(), n >= expected.upper_from) << n << " " << expected.p;
      EXPECT_EQ(ranks.lower.has_value(), n >= expected.lower_from) << n << " " << expected.p;
    }
  }
}

TEST(QuantileRanks, ARankFurtherInWouldMissTooOften) {
  // The obvious check of every n: each tail within 2.5 %, and beyond it one rank further in.
  for (std::int64_t n = 1; n <= 500; n += 7) {
    for (const double p : {0.1, 0.5, 0.9, 0.99}) {
      const QuantileRanks ranks = quantile_ranks(n, p);
      const auto lower_misses = [&](std::int64_t r) { return 1 - rank_coverage(n, {r, std::nullopt}, p); };
      const auto upper_misses = [&](std::int64_t s) { return 1 - rank_coverage(n, {std::nullopt, s}, p); };
      if (ranks.lower) {
        EXPECT_LE(lower_misses(*ranks.lower), 0.025 + 1e-12);
      }
      if (ranks.lower.value_or(0) < n) {
        EXPECT_GT(lower_misses(ranks.lower.value_or(0) + 1), 0.025 - 1e-12);
      }
      if (ranks.upper) {
        EXPECT_LE(upper_misses(*ranks.upper), 0.025 + 1e-12);
      }
      if (ranks.upper.value_or(n + 1) > 1) {
        EXPECT_GT(upper_misses(ranks.upper.value_or(n + 1) - 1), 0.025 - 1e-12);
      }
    }
  }
}

TEST(QuantileRanks, AreMirrored) {
  for (std::int64_t n = 1; n <= 300; n += 3) {
    const QuantileRanks low = quantile_ranks(n, 0.25);
    const QuantileRanks high = quantile_ranks(n, 0.75);
    ASSERT_EQ(low.lower.has_value(), high.upper.has_value());
    if (low.lower) {
      EXPECT_EQ(*low.lower, n + 1 - *high.upper);
    }
    if (low.upper) {
      EXPECT_EQ(*low.upper, n + 1 - *high.lower);
    }
  }
}

TEST(QuantileRanks, OfDependentSamplesAreThoseOfFewerStretched) {
  // 101 samples worth 10: ranks 2 and 9 of 10 times (101 + 1) / (10 + 1), outwards: 18.5 -> 18, 83.5 -> 84.
  const QuantileRanks ranks = quantile_ranks(101, 10.9, 0.5, 0.95);
  EXPECT_EQ(ranks.lower, 18);
  EXPECT_EQ(ranks.upper, 84);
  // As many as there are, or more: as for independent ones.
  EXPECT_EQ(quantile_ranks(100, 100.0, 0.5, 0.95).lower, 40);
  EXPECT_EQ(quantile_ranks(100, 250.0, 0.5, 0.95).upper, 61);
  // Worth 5: no bounds, however many samples.
  EXPECT_FALSE(quantile_ranks(1000, 5.9, 0.5, 0.95).lower);
  EXPECT_FALSE(quantile_ranks(1000, 5.9, 0.5, 0.95).upper);
}

TEST(QuantileEstimate, PicksTheRankedSamples) {
  const auto values = first_integers(100);
  const auto middle = *quantile_estimate(values, 0.5);
  EXPECT_EQ(middle.value, 50.5);
  EXPECT_EQ(middle.lower, 40);
  EXPECT_EQ(middle.upper, 61);
  EXPECT_EQ(middle.n, 100);
  EXPECT_EQ(middle.method, kMethodOrderStatistic);
  EXPECT_NEAR(*relative_half_width(middle), 10.5 / 50.5, 1e-15);
  const auto tail = *quantile_estimate(values, 0.99);
  EXPECT_EQ(tail.value, 99);
  EXPECT_EQ(tail.lower, 97);
  EXPECT_FALSE(tail.upper);
  EXPECT_FALSE(relative_half_width(tail));
}

TEST(QuantileEstimate, OfNothingIsAbsent) {
  EXPECT_FALSE(quantile_estimate(std::span<const double>(), 0.5));
  const double one[] = {3.5};
  const auto single = *quantile_estimate(std::span<const double>(one), 0.5);
  EXPECT_EQ(single.value, 3.5);
  EXPECT_FALSE(single.lower);
  EXPECT_FALSE(single.upper);
}

}  // namespace
}  // namespace deepgap::stats
