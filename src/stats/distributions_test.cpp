#include "stats/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/multiple.h"

namespace deepgap::stats {
namespace {

// Reference values: mpmath 1.3 at 40 digits (tools named in docs/statistics.md), rounded to 17.
constexpr double kTolerance = 1e-10;

void expect_close(double value, double expected) {
  EXPECT_LE(std::abs(value - expected), kTolerance * std::abs(expected)) << value << " is not " << expected;
}

TEST(Distributions, NormalAgreesWithMpmath) {
  expect_close(normal_quantile(0.975), 1.9599639845400542);
  expect_close(normal_quantile(0.5001), 0.0002506628300880351);
  expect_close(normal_quantile(1e-9), -5.9978070150076869);
  expect_close(normal_quantile(0.025), -1.9599639845400542);
  expect_close(normal_quantile(0.9999), 3.7190164854556806);
  expect_close(normal_cdf(1.5), 0.93319279873114193);
  expect_close(normal_cdf(-3), 0.0013498980316300945);
  expect_close(normal_cdf(-8), 6.2209605742717841e-16);
}

TEST(Distributions, StudentAgreesWithMpmath) {
  expect_close(student_t_quantile(0.975, 1), 12.706204736174705);
  expect_close(student_t_quantile(0.975, 2), 4.3026527297494639);
  expect_close(student_t_quantile(0.975, 2.5), 3.5746548420036832);
  expect_close(student_t_quantile(0.975, 4), 2.7764451051977944);
  expect_close(student_t_quantile(0.975, 29), 2.0452296421327043);
  expect_close(student_t_quantile(0.9, 0.7), 5.0099479596464043);
  expect_close(student_t_quantile(0.995, 1000), 2.5807546980659511);
  expect_close(student_t_quantile(0.025, 3), -3.1824463052837096);
  expect_close(student_t_cdf(2, 5), 0.94903026058507082);
  expect_close(student_t_cdf(-1.3, 2.7), 0.14672632185192272);
}

TEST(Distributions, IncompleteBetaAgreesWithMpmath) {
  expect_close(incomplete_beta(2, 3, 0.4), 0.5248);
  expect_close(incomplete_beta(0.5, 0.5, 0.1), 0.20483276469913345);
  expect_close(incomplete_beta(20, 350, 0.06), 0.71120801003992189);
  expect_close(incomplete_beta(5000, 5001, 0.49), 0.023281712519269383);
}

TEST(Distributions, BinomialTailsOfManyTrials) {
  // Sums of the binomial terms by mpmath at 40 digits.
  expect_close(binomial_at_most(360, 368, 0.99), 0.033557076358988096);
  expect_close(binomial_at_most(39, 100, 0.5), 0.017600100108852408);
  expect_close(binomial_at_most(499020, 1000000, 0.5), 0.025056366266393121);
  expect_close(binomial_at_most(9899400, 10000000, 0.99), 0.028456730666901122);
}

TEST(Distributions, KuiperAgreesWithItsSeries) {
  expect_close(kuiper_tail(0.8), 0.97835107499565088);
  expect_close(kuiper_tail(1.2), 0.5348406352935141);
  expect_close(kuiper_tail(1.747), 0.050074681853745285);
  expect_close(kuiper_tail(2.001), 0.0099943209368938912);
  EXPECT_DOUBLE_EQ(kuiper_tail(0), 1);
}

TEST(Distributions, OutsideTheRangeIsNan) {
  EXPECT_TRUE(std::isnan(normal_quantile(0)));
  EXPECT_TRUE(std::isnan(normal_quantile(1)));
  EXPECT_TRUE(std::isnan(student_t_quantile(0.5, 0)));
  EXPECT_TRUE(std::isnan(incomplete_beta(-1, 1, 0.5)));
  EXPECT_TRUE(std::isnan(incomplete_beta(1, 1, 1.5)));
}

TEST(Distributions, BinomialTailsAreSumsOfTheirTerms) {
  // Binomial(5, 0.3) by hand: terms 0.16807, 0.36015, 0.3087, 0.1323, 0.02835, 0.00243.
  EXPECT_NEAR(binomial_at_most(-1, 5, 0.3), 0, 0);
  EXPECT_NEAR(binomial_at_most(0, 5, 0.3), 0.16807, 1e-15);
  EXPECT_NEAR(binomial_at_most(2, 5, 0.3), 0.83692, 1e-15);
  EXPECT_NEAR(binomial_at_most(5, 5, 0.3), 1, 0);
  EXPECT_NEAR(binomial_at_least(0, 5, 0.3), 1, 0);
  EXPECT_NEAR(binomial_at_least(3, 5, 0.3), 0.16308, 1e-15);
  EXPECT_NEAR(binomial_at_least(5, 5, 0.3), 0.00243, 1e-15);
  EXPECT_NEAR(binomial_at_least(6, 5, 0.3), 0, 0);
}

TEST(Holm, AdjustsByRankAndNeverFalls) {
  // By hand: 0.01 x 3, 0.03 x 2, then max(0.06, 0.04 x 1).
  const double p[] = {0.01, 0.04, 0.03};
  const auto adjusted = holm_adjusted(p);
  ASSERT_EQ(adjusted.size(), 3U);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.03);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.06);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.06);
  const double large[] = {0.9, 0.6};
  EXPECT_DOUBLE_EQ(holm_adjusted(large)[0], 1);
  EXPECT_TRUE(holm_adjusted({}).empty());
}

}  // namespace
}  // namespace deepgap::stats
