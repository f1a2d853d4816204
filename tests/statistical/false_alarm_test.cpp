// Change points and modes where there are none, and where they are planted.
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "simulation.h"
#include "stats/regimes.h"

namespace deepgap::stats {
namespace {

// No practical threshold: every significant change would be reported.
RegimeOptions any_size() {
  RegimeOptions options;
  options.min_relative_change = 0;
  return options;
}

struct Alarms {
  double levels = 0;
  double modes = 0;
};

template <typename Draw>
Alarms alarms(int trials, int n, double phi, std::uint64_t seed, Draw draw) {
  Random random(seed);
  Alarms result;
  std::vector<std::int64_t> samples(static_cast<std::size_t>(n));
  for (int trial = 0; trial < trials; ++trial) {
    Autoregression noise(phi, random);
    for (auto& sample : samples) sample = to_ns(draw(noise.next()));
    if (find_level_changes(samples, any_size()).size() > 1) result.levels += 1.0 / trials;
    if (find_two_modes(samples, any_size())) result.modes += 1.0 / trials;
  }
  return result;
}

// Shapes as monotone functions of a standard normal number; uniform is the least favourable for the dip.
double normal(double x) {
  return 1 + 0.05 * x;
}
double lognormal(double x) {
  return std::exp(0.3 * x);
}
double uniform(double x) {
  return 1 + normal_cdf(x);
}
double exponential(double x) {
  return 1 - std::log(1 - normal_cdf(x));
}
double pareto(double x) {
  return std::pow(1 - normal_cdf(x), -0.5);
}  // infinite variance
double coarse(double x) {
  return 1 + 0.01 * std::floor(2 * x);
}  // a clock with few ticks

TEST(FalseAlarms, AreAtMostFivePercent) {
  const struct {
    const char* name;
    double (*draw)(double);
  } shapes[] = {{"normal", normal},           {"lognormal", lognormal}, {"uniform", uniform},
                {"exponential", exponential}, {"Pareto", pareto},       {"coarse clock", coarse}};
  for (const auto& shape : shapes) {
    for (const double phi : {0.0, 0.5}) {
      for (const int n : {30, 100, 400, 2000}) {
        const int trials = n > 1000 ? 300 : 1500;
        const Alarms found = alarms(trials, n, phi, static_cast<std::uint64_t>(n) + 3, shape.draw);
        std::printf("alarms    %-12s AR(1) %.1f, n %4d: level changes %.4f, modes %.4f\n", shape.name, phi, n,
                    found.levels, found.modes);
        EXPECT_LE(found.levels, 0.05) << shape.name << " " << phi << " " << n;
        EXPECT_LE(found.modes, 0.05) << shape.name << " " << phi << " " << n;
      }
    }
  }
}

TEST(Power, PlantedLevelsAndModesAreFound) {
  Random random(5);
  int steps = 0;
  int bumps = 0;
  int modes = 0;
  constexpr int kTrials = 500;
  for (int trial = 0; trial < kTrials; ++trial) {
    Autoregression noise(0.5, random);
    std::vector<std::int64_t> step;
    std::vector<std::int64_t> bump;
    std::vector<std::int64_t> mixture;
    for (int i = 0; i < 200; ++i) {
      step.push_back(to_ns(1 + 0.02 * noise.next() + (i >= 130 ? 0.08 : 0)));
      bump.push_back(to_ns(1 + 0.02 * random.normal() + (i >= 80 && i < 120 ? 0.06 : 0)));
      mixture.push_back(to_ns(1 + 0.02 * random.normal() + (random.uniform() < 0.4 ? 0.12 : 0)));
    }
    if (const auto found = find_level_changes(step);
        found.size() == 2 && found[0].end >= 125 && found[0].end <= 135)
      ++steps;
    if (find_level_changes(bump).size() == 3) ++bumps;
    if (find_two_modes(mixture)) ++modes;
  }
  std::printf("found     steps %.3f, bumps %.3f, modes %.3f\n", static_cast<double>(steps) / kTrials,
              static_cast<double>(bumps) / kTrials, static_cast<double>(modes) / kTrials);
  EXPECT_GE(steps, 0.85 * kTrials);
  EXPECT_GE(bumps, 0.9 * kTrials);
  EXPECT_GE(modes, 0.9 * kTrials);
}

}  // namespace
}  // namespace deepgap::stats
