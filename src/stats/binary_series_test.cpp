#include "stats/binary_series.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "stats/autocorrelation.h"

namespace deepgap::stats {
namespace {

std::vector<double> indicators(const std::vector<std::int64_t>& series, double level) {
  std::vector<double> result;
  for (const std::int64_t value : series) result.push_back(static_cast<double>(value) <= level ? 1.0 : 0.0);
  return result;
}

// By the definition: sum of products of what is left after the mean, divisor n.
double autocovariance_of(const std::vector<double>& series, std::size_t lag) {
  double mean = 0;
  for (const double value : series) mean += value / static_cast<double>(series.size());
  double sum = 0;
  for (std::size_t i = 0; i + lag < series.size(); ++i) sum += (series[i] - mean) * (series[i + lag] - mean);
  return sum / static_cast<double>(series.size());
}

// AR(1) around 1000.
std::vector<std::int64_t> dependent_series(Random& random, std::size_t n, double correlation) {
  std::vector<std::int64_t> series;
  double state = 0;
  for (std::size_t i = 0; i < n; ++i) {
    state = correlation * state + std::sqrt(1 - correlation * correlation) * random.normal();
    series.push_back(1'000 + static_cast<std::int64_t>(100 * state));
  }
  return series;
}

TEST(BinarySeries, AutocovarianceIsThatOfTheDefinition) {
  Random random(3);
  // Around whole words, and beyond what is held without allocation.
  for (const std::size_t n : {1U, 2U, 63U, 64U, 65U, 127U, 128U, 200U, 511U, 512U, 513U, 700U}) {
    const std::vector<std::int64_t> series = dependent_series(random, n, 0.6);
    for (const double level : {0.0, 950.0, 1000.0, 1000.5, 2000.0}) {
      const BinarySeries bits(std::span<const std::int64_t>(series), level);
      const std::vector<double> expected = indicators(series, level);
      for (const std::size_t lag : {0U, 1U, 2U, 31U, 63U, 64U, 65U, 130U, 600U}) {
        if (lag >= n) continue;
        EXPECT_NEAR(bits.autocovariance(lag), autocovariance_of(expected, lag), 1e-13)
            << n << " " << level << " " << lag;
      }
    }
  }
}

TEST(BinarySeries, OfFractionsComparesThemAsTheyAre) {
  const std::vector<double> series{0.5, 1.5, 1.25, 2.0};
  // At most 1.25: 1, 0, 1, 0.
  EXPECT_DOUBLE_EQ(BinarySeries(std::span<const double>(series), 1.25).autocovariance(0), 0.25);
  EXPECT_DOUBLE_EQ(BinarySeries(std::span<const double>(series), 1.25).autocovariance(1),
                   -0.1875);  // 3 x -1/4 / 4
}

TEST(BinarySeries, GivesTheEffectiveSizeOfTheIndicators) {
  Random random(5);
  for (const double correlation : {-0.5, 0.0, 0.5, 0.98}) {
    for (const std::size_t n : {3U, 30U, 67U, 250U, 1000U}) {
      const std::vector<std::int64_t> series = dependent_series(random, n, correlation);
      for (const double level : {870.0, 1000.0, 1130.0}) {
        EXPECT_NEAR(quantile_effective_sample_size(series, level),
                    effective_sample_size(indicators(series, level)), 1e-6)
            << correlation << " " << n << " " << level;
      }
    }
  }
}

}  // namespace
}  // namespace deepgap::stats
