#include "trace/time_shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Steps steps_of(std::initializer_list<std::pair<std::int64_t, std::int64_t>> ranges) {
  Steps steps;
  for (const auto& [start, end] : ranges) steps.steps.push_back({.start_ns = start, .end_ns = end});
  return steps;
}

TEST(TimeShares, OneAfterTheOtherHaveTheirOwn) {
  const Charges found = share_time({{10, 20, 0}, {20, 50, 1}, {60, 65, 0}}, steps_of({{0, 100}}));
  EXPECT_THAT(found.charges, ElementsAre(Charge{0, 0, 15}, Charge{0, 1, 30}));
  EXPECT_THAT(found.computed_ns, ElementsAre(45));
}

TEST(TimeShares, SideBySideShare) {
  // 0..4 the first alone, 4..10 both, 10..30 the second alone.
  const Charges found = share_time({{0, 10, 0}, {4, 30, 1}}, steps_of({{0, 100}}));
  EXPECT_THAT(found.charges, ElementsAre(Charge{0, 0, 7}, Charge{0, 1, 23}));
  EXPECT_THAT(found.computed_ns, ElementsAre(30));
}

TEST(TimeShares, AnOpBesideItselfCountsOnce) {
  // From 2 to 8 the first op has two runs, and shares with the second as if it had one.
  const Charges found = share_time({{0, 10, 0}, {2, 8, 0}, {2, 8, 1}}, steps_of({{0, 100}}));
  EXPECT_THAT(found.charges, ElementsAre(Charge{0, 0, 7}, Charge{0, 1, 3}));
}

TEST(TimeShares, WholeNanosecondsByLargestRemainderThenTheFirst) {
  // Ten for three: 3.33 each, and one for the first.
  const Charges thirds = share_time({{0, 10, 0}, {0, 10, 1}, {0, 10, 2}}, steps_of({{0, 10}}));
  EXPECT_THAT(thirds.charges, ElementsAre(Charge{0, 0, 4}, Charge{0, 1, 3}, Charge{0, 2, 3}));
  // 3.33 and 3.33 of ten, and the third has 3.33 and 0.5 of another: its fraction is the largest.
  const Charges more =
      share_time({{0, 10, 0}, {0, 10, 1}, {0, 10, 2}, {20, 21, 2}, {20, 21, 3}}, steps_of({{0, 30}}));
  EXPECT_THAT(more.charges, ElementsAre(Charge{0, 0, 3}, Charge{0, 1, 3}, Charge{0, 2, 4}, Charge{0, 3, 1}));
}

TEST(TimeShares, StepsCutAndWhatIsBetweenThemIsNobodys) {
  const Charges found =
      share_time({{5, 35, 0}, {30, 60, 1}}, steps_of({{0, 10}, {20, 40}, {50, 55}, {70, 80}}));
  EXPECT_THAT(found.charges,
              ElementsAre(Charge{0, 0, 5}, Charge{1, 0, 13}, Charge{1, 1, 7}, Charge{2, 1, 5}));
  EXPECT_THAT(found.computed_ns, ElementsAre(5, 20, 5, 0));
}

TEST(TimeShares, WhatNeverEndsIsNamedInTwoStepsAlone) {
  const Charges found =
      share_time({{0, 100, 0}, {25, 28, 1}}, steps_of({{0, 10}, {10, 20}, {20, 30}, {30, 40}}));
  EXPECT_THAT(found.charges, ElementsAre(Charge{0, 0, 10}, Charge{1, 0, 10}, Charge{2, 1, 2},
                                         Charge{2, kNoOp, 8}, Charge{3, kNoOp, 10}));
}

TEST(TimeShares, OfTheTimesThatCountAlone) {
  const Charges found =
      share_time({{0, 10, 0}, {20, 30, 1}}, steps_of({{0, 100}}), {{5, 15}, {18, 25}, {90, 120}});
  EXPECT_THAT(found.charges, ElementsAre(Charge{0, 0, 5}, Charge{0, 1, 5}, Charge{0, kNoOp, 17}));
  EXPECT_THAT(found.computed_ns, ElementsAre(27));
}

TEST(TimeShares, NothingOfNothing) {
  EXPECT_THAT(share_time({}, steps_of({})).charges, IsEmpty());
  EXPECT_THAT(share_time({{5, 5, 0}, {7, 7, 1}}, steps_of({{5, 7}})).charges, IsEmpty());
  EXPECT_THAT(share_time({}, steps_of({{0, 5}, {5, 9}})).computed_ns, ElementsAre(0, 0));
}

// Against the obvious way: each nanosecond by itself.
TEST(TimeShares, AgreesWithCountingEachNanosecond) {
  std::mt19937 random(7);
  const auto below = [&random](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  for (int round = 0; round < 300; ++round) {
    std::vector<OpRun> runs;
    const std::uint32_t ops = 1 + below(6);
    for (std::uint32_t i = 0; i < 1 + below(20); ++i) {
      const auto start = static_cast<std::int64_t>(below(90));
      runs.push_back({start, start + static_cast<std::int64_t>(below(25)), below(ops)});
    }
    std::stable_sort(runs.begin(), runs.end(),
                     [](const OpRun& a, const OpRun& b) { return a.start_ns < b.start_ns; });
    const Steps steps = steps_of({{3, 31}, {31, 60}, {66, 101}});
    const Charges found = share_time(runs, steps);
    for (std::size_t step = 0; step < steps.steps.size(); ++step) {
      std::vector<double> expected(ops, 0);
      std::int64_t computed = 0;
      for (std::int64_t at = steps.steps[step].start_ns; at < steps.steps[step].end_ns; ++at) {
        std::vector<bool> runs_now(ops, false);
        for (const OpRun& run : runs) {
          if (run.start_ns <= at && at < run.end_ns) runs_now[run.op] = true;
        }
        const auto count = std::count(runs_now.begin(), runs_now.end(), true);
        computed += count > 0 ? 1 : 0;
        for (std::uint32_t op = 0; op < ops; ++op)
          expected[op] += runs_now[op] ? 1.0 / static_cast<double>(count) : 0;
      }
      std::int64_t sum = 0;
      for (const Charge& charge : found.charges) {
        if (charge.step != step) continue;
        sum += charge.ns;
        ASSERT_NE(charge.op, kNoOp);
        EXPECT_NEAR(static_cast<double>(charge.ns), expected[charge.op], 1);
        expected[charge.op] = 0;
      }
      EXPECT_EQ(found.computed_ns[step], computed);
      EXPECT_EQ(sum, computed);
      for (const double rest : expected) EXPECT_LT(rest, 1);
    }
  }
}

// Ten thousand that never end, over as many steps: named ones alone would be a hundred million.
TEST(TimeShares, ManyThatNeverEndStayFew) {
  std::vector<OpRun> runs;
  Steps steps;
  for (std::int64_t i = 0; i < 10'000; ++i) {
    runs.push_back({i * 10, 1'000'000'000, static_cast<std::uint32_t>(i)});
    steps.steps.push_back({.start_ns = i * 10, .end_ns = i * 10 + 10});
  }
  const Charges found = share_time(runs, steps);
  EXPECT_LE(found.charges.size(), 30'000U);
  std::int64_t sum = 0;
  for (const Charge& charge : found.charges) sum += charge.ns;
  EXPECT_EQ(sum, 100'000);
}

TEST(TimeShares, TimesAtTheEdges) {
  const Charges found = share_time({{kEarliestNs, kLatestNs + kLongestNs, 0}, {0, kLongestNs, 1}},
                                   steps_of({{kEarliestNs, kLatestNs + kLongestNs - 1}}));
  ASSERT_EQ(found.charges.size(), 2U);
  EXPECT_EQ(found.charges[0].ns + found.charges[1].ns, found.computed_ns[0]);
  EXPECT_EQ(found.charges[1].ns, kLongestNs / 2);
}

}  // namespace
}  // namespace deepgap::trace
