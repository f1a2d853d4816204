#include "stats/autocorrelation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/random.h"

namespace deepgap::stats {
namespace {

std::vector<double> autoregressive(double phi, std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> series(n);
  double x = random.normal();
  for (double& value : series) value = x = phi * x + std::sqrt(1 - phi * phi) * random.normal();
  return series;
}

TEST(Autocorrelation, AgreesWithNumpy) {
  // sum(c[:-k] c[k:]) / sum(c^2), numpy 2.
  const double series[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  EXPECT_NEAR(autocorrelation(series, 0), 1, 1e-15);
  EXPECT_NEAR(autocorrelation(series, 1), 0.1810344827586207, 1e-14);
  EXPECT_NEAR(autocorrelation(series, 2), 0.13793103448275862, 1e-14);
  EXPECT_NEAR(autocorrelation(series, 3), 0.15517241379310345, 1e-14);
}

TEST(EffectiveSampleSize, AgreesWithTheDefinitionWrittenInPython) {
  // tests/statistical/reference.py, effective_sample_size().
  const double digits[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
  EXPECT_NEAR(effective_sample_size(digits), 2.7422782657010356, 1e-10);
  const double blocks[] = {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0};
  EXPECT_NEAR(effective_sample_size(blocks), 9.945056656371918, 1e-10);
}

TEST(EffectiveSampleSize, PairsOfLagsDoNotRise) {
  // Pairs of autocovariances 5.78, 0.25, 0.59: the third counts as 0.25. tests/statistical/reference.py as
  // above.
  const double series[] = {7, 9, 0, 7, 2, 5, 9, 2, 7, 1, 3, 9, 4, 5, 2, 1, 4, 6, 4, 7, 3, 6, 7, 9};
  EXPECT_NEAR(effective_sample_size(series), 19.49495007625242, 1e-10);
}

TEST(EffectiveSampleSize, ApproachesTheTheoryOfAutoregression) {
  // tau = (1 + phi) / (1 - phi).
  for (const double phi : {0.0, 0.5, 0.9}) {
    for (const std::size_t n : {20'000U, 200'000U}) {
      const double tau = static_cast<double>(n) / effective_sample_size(autoregressive(phi, n, 5));
      // Raised by up to one standard error where dependence is strong: not below the theory by more than
      // chance.
      EXPECT_GT(tau, 0.9 * (1 + phi) / (1 - phi)) << phi << " " << n;
      EXPECT_LT(tau, 1.3 * (1 + phi) / (1 - phi)) << phi << " " << n;
    }
  }
}

TEST(EffectiveSampleSize, SeesDependenceLongerThanItsLags) {
  // phi = 0.995: tau = 399, far beyond 64 lags; the series is halved until it is seen.
  const double tau = 400'000 / effective_sample_size(autoregressive(0.995, 400'000, 6));
  EXPECT_NEAR(tau, 399, 120);
}

TEST(EffectiveSampleSize, OfAQuantileIsThatOfItsIndicators) {
  // Normal autoregression: indicators at the median have autocorrelations 2 / pi asin(phi^k).
  double tau = 1;
  for (int k = 1; k < 60; ++k) tau += 4 / std::numbers::pi * std::asin(std::pow(0.5, k));
  const auto series = autoregressive(0.5, 100'000, 7);
  EXPECT_NEAR(100'000 / quantile_effective_sample_size(series, 0.0), tau, 0.1 * tau);
}

TEST(EffectiveSampleSize, StaysWithinOneAndN) {
  const std::vector<double> constant(50, 3.0);
  EXPECT_EQ(effective_sample_size(constant), 50);
  EXPECT_EQ(effective_sample_size({}), 1);
  const double two[] = {1, 2};
  EXPECT_EQ(effective_sample_size(two), 2);
  std::vector<double> alternating(100);
  for (std::size_t i = 0; i < 100; ++i) alternating[i] = i % 2 == 0 ? 1 : -1;
  EXPECT_EQ(effective_sample_size(alternating), 100);
  std::vector<double> ramp(5000);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<double>(i);
  EXPECT_GE(effective_sample_size(ramp), 1);
  EXPECT_LT(effective_sample_size(ramp), 20);
}

TEST(Dependence, SeesRegimesAwayFromTheQuantile) {
  // 20 calls in 100 are slow and come together: at the median of the fast ones nothing is seen of it.
  Random random(8);
  std::vector<std::int64_t> series;
  for (int i = 0; i < 2000; ++i) {
    series.push_back(static_cast<std::int64_t>((i % 100 < 80 ? 1e6 : 1.5e6) + 1e4 * random.normal()));
  }
  std::vector<std::int64_t> sorted = series;
  std::sort(sorted.begin(), sorted.end());
  const Dependence found = dependence(series, sorted, 0.5);
  EXPECT_LT(found.effective_n, 200);
  EXPECT_LE(found.smallest, found.effective_n);
}

TEST(Dependence, OfIndependentSamplesIsThatOfTheQuantile) {
  Random random(9);
  std::vector<std::int64_t> series;
  for (int i = 0; i < 2000; ++i) series.push_back(static_cast<std::int64_t>(1e6 + 1e4 * random.normal()));
  std::vector<std::int64_t> sorted = series;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_GT(dependence(series, sorted, 0.5).effective_n, 1500);
}

}  // namespace
}  // namespace deepgap::stats
