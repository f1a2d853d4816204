#include "stats/distributions.h"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <limits>

#include "stats/memo.h"

namespace deepgap::stats {
namespace {

namespace policies = boost::math::policies;
// No exceptions: what is out of range is a NaN or an infinity.
using Policy =
    policies::policy<policies::domain_error<policies::ignore_error>,
                     policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;
using Normal = boost::math::normal_distribution<double, Policy>;
using StudentT = boost::math::students_t_distribution<double, Policy>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool is_probability(double p) {
  return p > 0 && p < 1;
}

}  // namespace

double normal_cdf(double x) {
  return boost::math::cdf(Normal(), x);
}

double normal_quantile(double probability) {
  return is_probability(probability) ? boost::math::quantile(Normal(), probability) : kNan;
}

double student_t_cdf(double x, double degrees_of_freedom) {
  return degrees_of_freedom > 0 ? boost::math::cdf(StudentT(degrees_of_freedom), x) : kNan;
}

double student_t_quantile(double probability, double degrees_of_freedom) {
  if (!is_probability(probability) || !(degrees_of_freedom > 0)) return kNan;
  thread_local Memo<double, 2> memo;
  return memo.at({probability, degrees_of_freedom},
                 [&] { return boost::math::quantile(StudentT(degrees_of_freedom), probability); });
}

double incomplete_beta(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1)) return kNan;
  return boost::math::ibeta(a, b, x, Policy());
}

double binomial_at_most(std::int64_t successes, std::int64_t trials, double p) {
  if (successes < 0) return 0;
  if (successes >= trials) return 1;
  return boost::math::ibetac(static_cast<double>(successes + 1), static_cast<double>(trials - successes), p,
                             Policy());
}

double binomial_at_least(std::int64_t successes, std::int64_t trials, double p) {
  if (successes <= 0) return 1;
  if (successes > trials) return 0;
  return boost::math::ibeta(static_cast<double>(successes), static_cast<double>(trials - successes + 1), p,
                            Policy());
}

double kuiper_tail(double x) {
  if (x < 0.4) return 1;  // 1 - 1e-9 there, and the series converges slowly
  double sum = 0;
  for (int j = 1; j < 100; ++j) {
    const double square = j * j * x * x;
    const double term = (4 * square - 1) * std::exp(-2 * square);
    sum += term;
    if (std::abs(term) < 1e-17) break;
  }
  return std::fmin(1.0, 2 * sum);
}

}  // namespace deepgap::stats
