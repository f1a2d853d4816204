// Medians, ratios and throughputs from processes that differ.
#include <string>
#include <vector>

#include "simulation.h"
#include "stats/nested.h"
#include "stats/ratio.h"

namespace deepgap::stats {
namespace {

constexpr int kTrials = 10'000;
constexpr std::size_t kSamples = 40;
constexpr double kWithin = 0.02;

// `count` processes of `size` samples: a normal offset each, normal samples around it.
std::vector<std::vector<std::int64_t>> processes(Random& random, std::size_t count, double between,
                                                 double centre = 1, std::size_t size = kSamples) {
  std::vector<std::vector<std::int64_t>> result(count, std::vector<std::int64_t>(size));
  for (auto& samples : result) {
    const double own = centre * (1 + between * random.normal());
    for (auto& sample : samples) sample = to_ns(own * (1 + kWithin * random.normal()));
  }
  return result;
}

std::vector<ProcessSamples> spans(const std::vector<std::vector<std::int64_t>>& from) {
  return {from.begin(), from.end()};
}

TEST(NestedMedianCoverage, CountsTheVariationBetweenProcesses) {
  for (const double between : {0.0, 0.01, 0.05}) {
    for (const std::size_t count : {2U, 3U, 5U, 10U}) {
      Random random(count * 100 + static_cast<std::uint64_t>(between * 1000));
      Coverage coverage;
      for (int trial = 0; trial < kTrials; ++trial) {
        coverage.add(*nested_median(spans(processes(random, count, between))), kBase);
      }
      coverage.print("median, " + std::to_string(count) + " processes, deviation between " +
                     std::to_string(between).substr(0, 4) + ", within 0.02");
      EXPECT_GE(coverage.covered(), 0.93) << between << " " << count;
      // Where processes differ far more than samples, the t alone decides, and is exact. (With none between,
      // the within-process interval is a second chance to hold the truth: conservative.)
      if (between == 0.05 && count >= 5) {
        EXPECT_LE(coverage.covered(), 0.97) << between << " " << count;
      }
    }
  }
}

// Processes whose samples depend on each other so much that they bound nothing: a slow swing through each, at
// a phase of its own. The medians of the processes alone give the interval.
TEST(NestedMedianCoverage, HoldsWhereTheSamplesOfAProcessAreWorthFew) {
  for (const std::size_t count : {3U, 4U, 6U}) {
    Random random(count);
    Coverage coverage;
    int without_bounds = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<std::vector<std::int64_t>> samples(count);
      for (auto& process : samples) {
        const double own = 1 + 0.02 * random.normal();
        const double slope = 0.05 * random.normal();
        for (int i = 0; i < 20; ++i)
          process.push_back(to_ns(own + slope * (i - 9.5) / 20 + 0.0005 * random.normal()));
      }
      const auto estimate = *nested_median(spans(samples));
      if (!estimate.lower) ++without_bounds;
      coverage.add(estimate, kBase);
    }
    coverage.print("median, " + std::to_string(count) + " processes of 20 samples in a row");
    EXPECT_EQ(without_bounds, 0);
    EXPECT_GE(coverage.covered(), 0.93) << count;
  }
}

// Of the percentile of a typical process: the one whose offset is 0.
TEST(NestedQuantileCoverage, CountsTheVariationBetweenProcesses) {
  const struct {
    double p;
    std::size_t count;
    std::size_t size;
  } cases[] = {{0.9, 3, 40},   {0.9, 3, 200},  {0.95, 3, 40},   {0.95, 3, 200},
               {0.99, 3, 200}, {0.99, 10, 40}, {0.99, 10, 100}, {0.9, 10, 100}};
  for (const double between : {0.0, 0.01, 0.05}) {
    for (const auto& setting : cases) {
      Random random(setting.count * setting.size + static_cast<std::uint64_t>(between * 1000));
      Coverage coverage;
      const double truth = 1 + kWithin * normal_quantile(setting.p);
      for (int trial = 0; trial < kTrials / 4; ++trial) {
        const auto samples = processes(random, setting.count, between, 1, setting.size);
        coverage.add(*nested_quantile(spans(samples), setting.p), kBase * truth);
      }
      coverage.print("p" + std::to_string(setting.p * 100).substr(0, 2) + ", " +
                     std::to_string(setting.count) + " processes of " + std::to_string(setting.size) +
                     ", deviation between " + std::to_string(between).substr(0, 4) + ", within 0.02");
      EXPECT_GE(coverage.covered(), 0.93) << setting.p << " " << setting.count << " " << between;
    }
  }
}

TEST(RatioCoverage, CountsTheVariationBetweenProcesses) {
  const struct {
    std::size_t a;
    std::size_t b;
    double between_a;
    double between_b;
  } cases[] = {{2, 2, 0.05, 0.05},  {3, 3, 0.05, 0.05},   {3, 3, 0.01, 0.05}, {5, 5, 0.05, 0.05},
               {3, 10, 0.05, 0.01}, {10, 10, 0.05, 0.05}, {3, 3, 0, 0}};
  for (const auto& setting : cases) {
    Random random(setting.a * 10 + setting.b);
    Coverage coverage;
    for (int trial = 0; trial < kTrials; ++trial) {
      coverage.add(*ratio_of_medians(spans(processes(random, setting.a, setting.between_a)),
                                     spans(processes(random, setting.b, setting.between_b, 1.1))),
                   1.1);
    }
    coverage.print("ratio, " + std::to_string(setting.a) + " and " + std::to_string(setting.b) +
                   " processes, between " + std::to_string(setting.between_a).substr(0, 4) + " and " +
                   std::to_string(setting.between_b).substr(0, 4));
    EXPECT_GE(coverage.covered(), 0.93);
    if (setting.a >= 5 && setting.between_a == 0.05 && setting.between_b == 0.05) {
      EXPECT_LE(coverage.covered(), 0.97);
    }
  }
}

TEST(WelchCoverage, IsNominal) {
  for (const std::size_t count : {2U, 3U, 5U, 10U}) {
    Random random(count);
    Coverage coverage;
    std::vector<double> a(count);
    std::vector<double> b(count);
    for (int trial = 0; trial < kTrials; ++trial) {
      for (double& value : a) value = std::exp(0.05 * random.normal());
      for (double& value : b) value = std::exp(0.05 * random.normal());
      coverage.add(*ratio_of_values(a, b), 1);
    }
    coverage.print("Welch on logarithms, " + std::to_string(count) + " values a side, equal deviations");
    EXPECT_GE(coverage.covered(), 0.93) << count;
    if (count >= 3) {
      EXPECT_LE(coverage.covered(), 0.97) << count;  // two values a side: conservative
    }
  }
}

TEST(ThroughputCoverage, BatchMeansSeeDependentCalls) {
  for (const double phi : {0.0, 0.5}) {
    for (const int calls : {50, 200, 1000}) {
      Random random(static_cast<std::uint64_t>(calls) + 5);
      Coverage coverage;
      for (int trial = 0; trial < kTrials / (1 + calls / 200); ++trial) {
        Autoregression noise(phi, random);
        std::vector<std::int64_t> finished{0};
        for (int call = 0; call < calls; ++call)
          finished.push_back(finished.back() + to_ns(0.001 * (1 + 0.2 * noise.next())));
        const ThroughputWindow window{
            .samples = static_cast<double>(calls), .window_ns = finished.back(), .finished_at = finished};
        coverage.add(*nested_throughput(std::span(&window, 1)), 1000);
      }
      coverage.print("throughput of one window, AR(1) " + std::to_string(phi).substr(0, 3) + ", " +
                     std::to_string(calls) + " calls");
      // Batches of 5 calls are themselves dependent under AR(1): 50 calls are too few to see that.
      EXPECT_GE(coverage.covered(), phi > 0 && calls < 200 ? 0.80 : 0.92) << phi << " " << calls;
    }
  }
}

}  // namespace
}  // namespace deepgap::stats
