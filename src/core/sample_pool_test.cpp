#include "core/sample_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace deepgap {
namespace {

using Samples = std::vector<std::int64_t>;

Samples copy_of(std::span<const std::int64_t> samples) {
  return {samples.begin(), samples.end()};
}

void expect_sorted(const std::vector<Samples>& processes) {
  std::vector<std::span<const std::int64_t>> spans;
  Samples all;
  for (const Samples& samples : processes) {
    spans.emplace_back(samples);
    all.insert(all.end(), samples.begin(), samples.end());
  }
  std::sort(all.begin(), all.end());
  const SamplePool pool(spans);
  EXPECT_EQ(copy_of(pool.sorted()), all);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    Samples own = processes[i];
    std::sort(own.begin(), own.end());
    EXPECT_EQ(copy_of(pool.sorted_of(i)), own) << "process " << i;
  }
}

TEST(SamplePool, OfAFewSamplesIsSorted) {
  expect_sorted({{3, 1, 2}, {5, 4}, {9}});
  expect_sorted({{7}});
  expect_sorted({});
  expect_sorted({{}, {2, 1}, {}});
}

TEST(SamplePool, EqualSamplesAndTiesBetweenProcesses) {
  expect_sorted({Samples(100, 5), Samples(101, 5)});
  expect_sorted({Samples(60, 5), Samples(70, 4), Samples(80, 5)});
}

// Sizes around where comparing ends and counting digits begins, ranges of one to eight digits.
TEST(SamplePool, IsSortedAtAnySizeAndRange) {
  Random random(7);
  for (std::size_t size : {1U, 2U, 31U, 32U, 33U, 64U, 65U, 500U}) {
    for (unsigned bits : {1U, 8U, 9U, 20U, 40U, 62U}) {
      std::vector<Samples> processes(3);
      for (Samples& samples : processes) {
        for (std::size_t i = 0; i < size; ++i) {
          samples.push_back(1'000 + static_cast<std::int64_t>(random.below(std::uint64_t{1} << bits)));
        }
        ++size;  // odd and even
      }
      expect_sorted(processes);
    }
  }
}

TEST(SamplePool, ARangeTooWideForKeysIsSortedToo) {
  Samples wide(100, 0);
  wide[3] = std::numeric_limits<std::int64_t>::max();
  wide[5] = std::numeric_limits<std::int64_t>::min();
  expect_sorted({wide, {1, 2, 3}});
}

}  // namespace
}  // namespace deepgap
