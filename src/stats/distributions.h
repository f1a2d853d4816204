// The distribution functions that the other headers need, by Boost.Math (headers only, included by the one
// .cpp).
//
// All are accurate to 1e-10 relative or better over the ranges named. An argument outside its range gives a
// NaN.
#pragma once

#include <cstdint>

namespace deepgap::stats {

double normal_cdf(double x);
double normal_quantile(double probability);  // 0 < probability < 1

// Student's t with any positive, also fractional, number of degrees of freedom.
double student_t_cdf(double x, double degrees_of_freedom);
double student_t_quantile(double probability, double degrees_of_freedom);  // 0 < probability < 1

// Regularised incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

// P(B <= successes) and P(B >= successes) for B ~ Binomial(trials, p), each without cancellation in its small
// tail; trials up to 1e9. P(B <= k) = I_{1-p}(n - k, k + 1) (Abramowitz and Stegun 26.5.24).
double binomial_at_most(std::int64_t successes, std::int64_t trials, double p);
double binomial_at_least(std::int64_t successes, std::int64_t trials, double p);

// P(V > x) for the range V of a Brownian bridge: the limit of Kuiper's statistic (Kuiper 1960),
// 2 sum_{j>=1} (4 j^2 x^2 - 1) exp(-2 j^2 x^2).
double kuiper_tail(double x);

}  // namespace deepgap::stats
