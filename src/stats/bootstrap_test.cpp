#include "stats/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace deepgap::stats {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(Bootstrap, LeavesOutTheTailsRoundedOutwards) {
  std::vector<double> replicates(1000);
  std::iota(replicates.rbegin(), replicates.rend(), 1.0);
  // 25 of 1,000 are left out on either side.
  const Interval interval = internal::percentile_interval(replicates, 0.95);
  EXPECT_EQ(interval.lower, 26);
  EXPECT_EQ(interval.upper, 975);
  std::vector<double> few(30);
  std::iota(few.begin(), few.end(), 1.0);
  EXPECT_EQ(internal::percentile_interval(few, 0.95).lower, 1);
  EXPECT_EQ(internal::percentile_interval(few, 0.95).upper, 30);
}

TEST(Bootstrap, OfTheMeanHasItsStandardError) {
  Random random(1);
  std::vector<double> samples(400);
  for (double& sample : samples) sample = 10 + random.normal();
  const auto estimate = *bootstrap(samples, mean, {.replicates = 4000, .seed = 2});
  const double center = mean(samples);
  double squares = 0;
  for (const double sample : samples) squares += (sample - center) * (sample - center);
  const double error = std::sqrt(squares / 400 / 400);  // of the mean of a resample
  EXPECT_EQ(estimate.value, center);
  EXPECT_NEAR(*estimate.upper - *estimate.lower, 2 * 1.96 * error, 0.06 * 2 * 1.96 * error);
  EXPECT_EQ(estimate.n, 400);
}

TEST(Bootstrap, IsTheSameForTheSameSeedOnly) {
  const std::vector<double> samples{1, 2, 4, 8, 16, 32, 64};
  const auto first = *bootstrap(samples, mean, {.replicates = 200, .seed = 5});
  const auto again = *bootstrap(samples, mean, {.replicates = 200, .seed = 5});
  const auto other = *bootstrap(samples, mean, {.replicates = 200, .seed = 6});
  EXPECT_EQ(first.lower, again.lower);
  EXPECT_EQ(first.upper, again.upper);
  EXPECT_TRUE(first.lower != other.lower || first.upper != other.upper);
}

TEST(Bootstrap, OfOneSampleHasNoBounds) {
  EXPECT_FALSE(bootstrap({}, mean));
  const double one[] = {4};
  const auto estimate = *bootstrap(one, mean);
  EXPECT_EQ(estimate.value, 4);
  EXPECT_FALSE(estimate.lower);
}

TEST(BootstrapNested, DrawsProcessesFirst) {
  // No variation within processes: each resample's mean is a mean of 8 drawn process values, deviation 1 /
  // sqrt(8) of theirs.
  std::vector<std::vector<double>> processes;
  for (int i = 0; i < 8; ++i) processes.push_back(std::vector<double>(50, i));
  std::vector<std::span<const double>> spans(processes.begin(), processes.end());
  const auto nested = *bootstrap_nested(spans, mean, {.replicates = 4000, .seed = 3});
  const double error = std::sqrt(5.25 / 8);  // variance of 0..7 is 5.25
  EXPECT_EQ(nested.value, 3.5);
  EXPECT_NEAR(*nested.upper - *nested.lower, 2 * 1.96 * error, 0.1 * 2 * 1.96 * error);
  EXPECT_TRUE(nested.between_processes);
  const auto one = *bootstrap_nested(std::span(spans).first(1), mean);
  EXPECT_FALSE(one.between_processes);
  EXPECT_EQ(one.method, kMethodBootstrapOneProcess);
  EXPECT_FALSE(bootstrap_nested({}, mean));
}

}  // namespace
}  // namespace deepgap::stats
