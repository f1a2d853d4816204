#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace deepgap {
namespace {

std::array<std::uint64_t, 4> first_four(std::uint64_t seed) {
  Random random(seed);
  return {random.next(), random.next(), random.next(), random.next()};
}

// From a transcription of both algorithms in Python that gives the published first outputs of SplitMix64
// (seed 1234567: 6457827717110365317, ...) and of xoshiro256** (state 1, 2, 3, 4: 11520, 0, 1509978240, ...).
TEST(Random, GivesTheNumbersOfXoshiro256StarStar) {
  EXPECT_EQ(first_four(0), (std::array<std::uint64_t, 4>{11091344671253066420U, 13793997310169335082U,
                                                         1900383378846508768U, 7684712102626143532U}));
  EXPECT_EQ(first_four(42), (std::array<std::uint64_t, 4>{1546998764402558742U, 6990951692964543102U,
                                                          12544586762248559009U, 17057574109182124193U}));
  EXPECT_EQ(first_four(std::numeric_limits<std::uint64_t>::max()),
            (std::array<std::uint64_t, 4>{10328197420357168392U, 14156678507024973869U, 9357971779955476126U,
                                          13791585006304312367U}));
}

TEST(Random, UniformAndNormalFollowFromThem) {
  Random uniform(42);
  EXPECT_EQ(uniform.uniform(), 0.08386297105988216);
  EXPECT_EQ(uniform.uniform(), 0.3789802506626686);
  Random normal(42);
  EXPECT_DOUBLE_EQ(normal.normal(), -0.303263064678738);
  EXPECT_DOUBLE_EQ(normal.normal(), 1.3438117634372806);
}

// Bounds at 5 standard deviations of each statistic for n = 200'000: mean 1/sqrt(n), variance sqrt(2/n),
// share beyond 1.96 sqrt(0.05 * 0.95 / n).
TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  constexpr int kCount = 200'000;
  Random random(7);
  double sum = 0;
  double squares = 0;
  int beyond = 0;
  for (int i = 0; i < kCount; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
    beyond += std::fabs(value) > 1.959963985 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kCount, 0, 5 / std::sqrt(kCount));
  EXPECT_NEAR(squares / kCount, 1, 5 * std::sqrt(2.0 / kCount));
  EXPECT_NEAR(static_cast<double>(beyond) / kCount, 0.05, 5 * std::sqrt(0.05 * 0.95 / kCount));
}

TEST(Random, UniformStaysBelowOne) {
  Random random(3);
  double smallest = 1;
  double largest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = random.uniform();
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  EXPECT_GE(smallest, 0);
  EXPECT_LT(largest, 1);
  EXPECT_LT(smallest, 2e-4);  // missed by all with probability exp(-20)
  EXPECT_GT(largest, 1 - 2e-4);
}

// Chi-squared with 6 degrees of freedom is above 35.9 with probability 3e-6.
TEST(Random, BelowIsEven) {
  constexpr int kCount = 70'000;
  std::array<int, 7> seen{};
  Random random(11);
  for (int i = 0; i < kCount; ++i) ++seen.at(random.below(7));
  double chi_squared = 0;
  for (const int count : seen) chi_squared += std::pow(count - kCount / 7.0, 2) / (kCount / 7.0);
  EXPECT_LT(chi_squared, 35.9);
}

// With a bound of 3 * 2^62 plain remainders would give the lowest third twice as often: 1/2 instead of 1/3 of
// the draws. 5 standard deviations of a share of 1/3 at n = 10'000 are 0.0236.
TEST(Random, BelowIsEvenForLargeBounds) {
  constexpr std::uint64_t kThird = std::uint64_t{1} << 62;
  Random random(5);
  int lowest = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = random.below(3 * kThird);
    ASSERT_LT(value, 3 * kThird);
    lowest += value < kThird ? 1 : 0;
  }
  EXPECT_NEAR(lowest / 10'000.0, 1.0 / 3.0, 0.0236);
  EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, ForksDoNotDependOnThePositionNorOnEachOther) {
  Random random(42);
  const std::uint64_t before = random.fork(1).next();
  random.next();
  EXPECT_EQ(random.fork(1).next(), before);
  std::vector<std::uint64_t> firsts{random.next()};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    firsts.push_back(Random(seed).next());
    for (std::uint64_t stream = 0; stream < 20; ++stream) firsts.push_back(Random(seed).fork(stream).next());
  }
  std::sort(firsts.begin(), firsts.end());
  EXPECT_EQ(std::adjacent_find(firsts.begin(), firsts.end()), firsts.end());
}

// Each of 24 orders of 4 values; chi-squared with 23 degrees of freedom is above 66 with probability 5e-6.
TEST(Random, ShuffleGivesEachOrderEquallyOften) {
  constexpr int kCount = 24'000;
  std::array<int, 256> seen{};
  Random random(9);
  for (int i = 0; i < kCount; ++i) {
    std::array<unsigned, 4> values{0, 1, 2, 3};
    random.shuffle(std::span<unsigned>(values));
    ++seen.at(values[0] << 6 | values[1] << 4 | values[2] << 2 | values[3]);
  }
  double chi_squared = 0;
  int orders = 0;
  for (const int count : seen) {
    if (count == 0) continue;
    ++orders;
    chi_squared += std::pow(count - kCount / 24.0, 2) / (kCount / 24.0);
  }
  EXPECT_EQ(orders, 24);
  EXPECT_LT(chi_squared, 66);
}

}  // namespace
}  // namespace deepgap
