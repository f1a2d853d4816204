#include "stats/ratio.h"

#include <gtest/gtest.h>

#include <vector>

namespace deepgap::stats {
namespace {

using Samples = std::vector<std::int64_t>;

std::vector<ProcessSamples> spans(const std::vector<Samples>& processes) {
  return {processes.begin(), processes.end()};
}

// scipy.stats.ttest_ind(log b, log a, equal_var=False).confidence_interval(0.95), exponentiated.
constexpr double kA[] = {100, 101, 103};
constexpr double kB[] = {110, 108, 115, 111};
constexpr double kRatio = 1.0951907879132077;
constexpr double kLower = 1.0511253669558673;
constexpr double kUpper = 1.141103525456362;

TEST(RatioOfValues, AgreesWithScipysWelch) {
  const auto ratio = *ratio_of_values(kA, kB);
  EXPECT_NEAR(ratio.value, kRatio, 1e-12);
  EXPECT_NEAR(*ratio.lower, kLower, 1e-10);
  EXPECT_NEAR(*ratio.upper, kUpper, 1e-10);
  EXPECT_EQ(ratio.n, 7);
  // Swapped, everything is inverted.
  const auto swapped = *ratio_of_values(kB, kA);
  EXPECT_NEAR(*swapped.lower, 1 / *ratio.upper, 1e-12);
}

TEST(RatioOfValues, OfOneValueHasNoBounds) {
  const auto ratio = *ratio_of_values(std::span(kA).first(1), kB);
  EXPECT_FALSE(ratio.lower);
  EXPECT_FALSE(ratio.between_processes);
  const double zero[] = {0};
  EXPECT_FALSE(ratio_of_values(zero, kB));
  EXPECT_FALSE(ratio_of_values({}, kB));
}

TEST(RatioOfMedians, WithoutVariationInsideProcessesIsWelch) {
  std::vector<Samples> a;
  std::vector<Samples> b;
  for (const double value : kA) a.push_back(Samples(30, static_cast<std::int64_t>(value * 1e6)));
  for (const double value : kB) b.push_back(Samples(30, static_cast<std::int64_t>(value * 1e6)));
  const auto ratio = *ratio_of_medians(spans(a), spans(b));
  EXPECT_NEAR(ratio.value, 110.5 / 101, 1e-12);  // pooled medians
  EXPECT_NEAR(*ratio.lower, kLower, 1e-10);
  EXPECT_NEAR(*ratio.upper, kUpper, 1e-10);
  EXPECT_EQ(ratio.n, 210);
  EXPECT_TRUE(ratio.between_processes);
  EXPECT_EQ(ratio.method, kMethodRatio);
}

TEST(RatioOfMedians, OfOneProcessHasOnlyTheWithinInterval) {
  Samples a;
  Samples b;
  for (int i = 0; i < 100; ++i) {
    a.push_back(1000 + (i * 37) % 100);  // every value of 1000 .. 1099 once, shuffled
    b.push_back(2 * (1000 + (i * 37) % 100));
  }
  const auto ratio = *ratio_of_medians(spans({a}), spans({b, b}));
  EXPECT_NEAR(ratio.value, 2, 1e-12);
  EXPECT_EQ(ratio.method, kMethodRatioWithin);
  EXPECT_FALSE(ratio.between_processes);
  EXPECT_LT(*ratio.lower, 2);
  EXPECT_GT(*ratio.upper, 2);
  EXPECT_FALSE(ratio_of_medians({}, spans({b})));
}

TEST(RatioOfPairs, IsTheMedianOfRatios) {
  // Ratios 1.01 .. 1.20 in steps of 0.01, n = 20: ranks 6 and 15 (scipy), median between the 10th and 11th.
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 20; ++i) {
    const double drift = 100 + 10 * i;
    a.push_back(drift);
    b.push_back(drift * (1.01 + 0.01 * ((i * 7) % 20)));
  }
  const auto ratio = *ratio_of_pairs(a, b);
  EXPECT_NEAR(ratio.value, 1.105, 1e-12);
  EXPECT_NEAR(*ratio.lower, 1.06, 1e-12);
  EXPECT_NEAR(*ratio.upper, 1.15, 1e-12);
  EXPECT_EQ(ratio.n, 20);
  EXPECT_FALSE(ratio_of_pairs(a, std::span<const double>(b).first(3)));
}

}  // namespace
}  // namespace deepgap::stats
