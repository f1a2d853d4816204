// Seeded series with known quantiles, and the counting of trials, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/random.h"
#include "stats/distributions.h"
#include "stats/interval.h"

namespace deepgap::stats {

// Latencies are planted around 1e9 ns, so that rounding to whole nanoseconds does not count.
inline constexpr double kBase = 1e9;

inline std::int64_t to_ns(double relative) {
  return static_cast<std::int64_t>(std::llround(kBase * relative));
}

// A stationary normal AR(1) series, variance 1.
class Autoregression {
 public:
  Autoregression(double phi, Random& random) : phi_(phi), random_(random), x_(random.normal()) {}
  double next() {
    const double x = x_;
    x_ = phi_ * x_ + std::sqrt(1 - phi_ * phi_) * random_.normal();
    return x;
  }

 private:
  double phi_;
  Random& random_;
  double x_;
};

// Calls that are fast (1) or slow (1.2), with relative normal noise, and change between the two: a Markov
// chain whose slow stretches last slow_calls on average; 1 / slow share: independent calls.
struct TwoRegimes {
  double fast_share = 0.6;
  double slow_calls = 5;  // below 1: each call is drawn anew
  double noise = 0.01;
  static constexpr double kSlow = 1.2;

  double distribution(double x) const {
    return fast_share * normal_cdf((x - 1) / noise) + (1 - fast_share) * normal_cdf((x - kSlow) / noise);
  }
  // The median of the mixture by bisection; for equal shares the middle of the gap, by symmetry.
  double median() const {
    double low = 0;
    double high = 2;
    for (int i = 0; i < 200; ++i) {
      const double middle = (low + high) / 2;
      (distribution(middle) < 0.5 ? low : high) = middle;
    }
    return fast_share == 0.5 ? (1 + kSlow) / 2 : (low + high) / 2;
  }
};

class RegimeSeries {
 public:
  RegimeSeries(const TwoRegimes& regimes, Random& random)
      : regimes_(regimes), random_(random), fast_(random.uniform() < regimes.fast_share) {}
  double next() {
    const double value = (fast_ ? 1 : TwoRegimes::kSlow) + regimes_.noise * random_.normal();
    if (regimes_.slow_calls < 1) {
      fast_ = random_.uniform() < regimes_.fast_share;
    } else {
      const double leave_slow = 1 / regimes_.slow_calls;
      const double leave_fast = leave_slow * (1 - regimes_.fast_share) / regimes_.fast_share;
      if (random_.uniform() < (fast_ ? leave_fast : leave_slow)) fast_ = !fast_;
    }
    return value;
  }

 private:
  TwoRegimes regimes_;
  Random& random_;
  bool fast_;
};

// Counts whether intervals hold the truth; an absent bound never misses.
class Coverage {
 public:
  void add(const Estimated& estimate, double truth) {
    ++trials_;
    if (estimate.lower && *estimate.lower > truth) ++above_;
    if (estimate.upper && *estimate.upper < truth) ++below_;
  }
  double covered() const { return 1 - missed_above() - missed_below(); }
  double missed_above() const {
    return static_cast<double>(above_) / trials_;
  }  // the whole interval lies above the truth
  double missed_below() const { return static_cast<double>(below_) / trials_; }
  // Four standard errors of a count with this probability.
  double allowance(double probability) const {
    return 4 * std::sqrt(probability * (1 - probability) / trials_) + 1e-9;
  }

  // A line of the tables in docs/statistics.md.
  void print(const std::string& what) const {
    std::printf("coverage  %-68s %.4f\n", what.c_str(), covered());
  }

 private:
  double trials_ = 0;
  int above_ = 0;
  int below_ = 0;
};

}  // namespace deepgap::stats
