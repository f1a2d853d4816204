#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/summary.h"

namespace deepgap {
namespace {

CellSummary cell(std::int64_t batch, double throughput, double half_width = 0.001) {
  CellSummary summary;
  summary.key.workload.batch = batch;
  summary.throughput = Estimate{throughput,
                                throughput * (1 - half_width),
                                throughput * (1 + half_width),
                                0.95,
                                100,
                                Unit::kSamplesPerSecond,
                                "test"};
  return summary;
}

struct Point {
  std::int64_t batch;
  double throughput;
};

std::vector<CellSummary> curve(const std::vector<Point>& points, double half_width = 0.001) {
  std::vector<CellSummary> cells;
  for (const Point& point : points) cells.push_back(cell(point.batch, point.throughput, half_width));
  return cells;
}

// ResNet-50 as on an A100: 1.41, 2.27, 3.84, 7.11 and 13.40 ms at batch 4 to 64, so 2837, 3524, 4167, 4501
// and 4776 samples/s: +24.2, +18.2, +8.0 and +6.1 % from one to the next.
const std::vector<Point> kResnetOnA100{
    {4, 4e3 / 1.41}, {8, 8e3 / 2.27}, {16, 16e3 / 3.84}, {32, 32e3 / 7.11}, {64, 64e3 / 13.40}};

// A detector as on a T4: the best is 284 samples/s at batch 16, at 256 it is down to 228.
const std::vector<Point> kDetectorOnT4{{1, 96},   {4, 205},  {8, 262},   {16, 284},
                                       {32, 279}, {64, 268}, {128, 249}, {256, 228}};

TEST(Saturation, IsNotReachedWhileTheLastStepGainsMoreThanTheMargin) {
  const auto found = find_saturation(curve(kResnetOnA100));  // 6.1 % > 5 %
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, SaturationState::kStillGrowing);
  EXPECT_EQ(found->batch, 64);
  ASSERT_TRUE(found->throughput);
  EXPECT_NEAR(found->throughput->value, 4776.1, 0.1);
  EXPECT_EQ(found->throughput->unit, Unit::kSamplesPerSecond);
}

TEST(Saturation, MarginSaysWhatAGainIsWorth) {
  const auto at_7_percent = find_saturation(curve(kResnetOnA100), 0.07);
  ASSERT_TRUE(at_7_percent);
  EXPECT_EQ(at_7_percent->batch, 32);  // 64 gains 6.1 % on it, on 16 it gains 14.6 %
  EXPECT_EQ(at_7_percent->state, SaturationState::kReached);
  const auto at_15_percent = find_saturation(curve(kResnetOnA100), 0.15);
  ASSERT_TRUE(at_15_percent);
  EXPECT_EQ(at_15_percent->batch, 16);
}

TEST(Saturation, LooksAtAllLargerBatchesNotOnlyTheNext) {
  // Each step gains 4 %, below the margin; 64 gains 17 % on 4, 8.2 % on 16 and 4 % on 32.
  const auto found = find_saturation(curve({{4, 100}, {8, 104}, {16, 108.16}, {32, 112.49}, {64, 116.99}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->batch, 32);
}

TEST(Saturation, OfACurveThatFallsIsAtItsPeak) {
  const auto found = find_saturation(curve(kDetectorOnT4));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->batch, 16);  // 284 is 8.4 % above the 262 of batch 8
  EXPECT_EQ(found->state, SaturationState::kReached);
  EXPECT_EQ(found->throughput->value, 284);
}

TEST(Saturation, ADipOnTheWayDoesNotEndIt) {
  const auto found = find_saturation(curve({{1, 100}, {2, 90}, {4, 180}, {8, 181}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->batch, 4);
}

// Limits on the logarithms: ln(108 / 100) = 0.07696. At +- 6 % hypot(ln(1 / 0.94), ln(1.06)) = 0.08501, at +-
// 5 % hypot(ln(1 / 0.95), ln(1.05)) = 0.07079.
TEST(Saturation, IsNotClaimedWhereTheIntervalsHideAGain) {
  const auto wide = find_saturation(curve({{8, 100}, {16, 108}}, 0.06));
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->state, SaturationState::kCannotTell);
  EXPECT_EQ(wide->batch, 8);
  EXPECT_FALSE(wide->at_most);  // or beyond 16: nothing larger was measured
  EXPECT_FALSE(wide->throughput);
  const auto narrower = find_saturation(curve({{8, 100}, {16, 108}}, 0.05));
  ASSERT_TRUE(narrower);
  EXPECT_EQ(narrower->batch, 16);
  EXPECT_EQ(narrower->state, SaturationState::kStillGrowing);
}

// A gain of 2.08 % at +- 6 % may be one of exp(ln(98 / 96) + 0.08501) - 1 = 11.1 %, more than twice the
// margin; at +- 5 % of 9.57 %.
TEST(Saturation, ByTheValuesAloneIsSaidWhereTheIntervalsCannotTell) {
  const auto wide = find_saturation(curve(kDetectorOnT4, 0.5));
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->state, SaturationState::kCannotTell);
  EXPECT_EQ(wide->by_values, 16);  // 284 is 8 % above batch 8, and nothing is 5 % above it
  EXPECT_EQ(find_saturation(curve(kResnetOnA100, 0.5))->by_values, 64);
}

TEST(Saturation, IsClaimedOnlyWhereALargerGainIsExcluded) {
  const std::vector<Point> points{{1, 31}, {8, 88}, {16, 96}, {32, 98}, {64, 97}};
  const auto wide = find_saturation(curve(points, 0.06));
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->state, SaturationState::kCannotTell);
  EXPECT_EQ(wide->batch, 16);  // 98 is shown to be above the 88 of batch 8: ln(98 / 88) = 0.1076
  EXPECT_EQ(wide->at_most, 32);
  for (const double half_width : {0.05, 0.01}) {
    const auto told = find_saturation(curve(points, half_width));
    ASSERT_TRUE(told);
    EXPECT_EQ(told->state, SaturationState::kReached);
    EXPECT_EQ(told->batch, 16);
  }
  // At +- 30 % only batch 1 is shown to be below the others.
  const auto widest = find_saturation(curve(points, 0.3));
  ASSERT_TRUE(widest);
  EXPECT_EQ(widest->state, SaturationState::kCannotTell);
  EXPECT_EQ(widest->batch, 8);
  EXPECT_FALSE(widest->at_most);
}

TEST(Saturation, IsNotClaimedWithoutIntervals) {
  std::vector<CellSummary> cells = curve({{8, 100}, {16, 106}, {32, 107}});
  EXPECT_EQ(find_saturation(cells)->batch, 16);
  for (CellSummary& summary : cells) summary.throughput->lower = summary.throughput->upper = std::nullopt;
  const auto found = find_saturation(cells);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, SaturationState::kCannotTell);
  EXPECT_EQ(found->batch, 8);
  EXPECT_FALSE(found->at_most);
}

TEST(Saturation, ABoundThatDoesNotMatterMayBeAbsent) {
  std::vector<CellSummary> cells = curve({{8, 100}, {16, 120}, {32, 119}});
  cells[0].throughput->lower.reset();  // a gain is shown by what lies above batch 8
  cells[1].throughput->upper.reset();  // and excluded by what lies below batch 16
  const auto found = find_saturation(cells);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->state, SaturationState::kReached);
  EXPECT_EQ(found->batch, 16);
}

TEST(Saturation, OrderOfTheCellsDoesNotMatter) {
  std::vector<CellSummary> cells = curve(kDetectorOnT4);
  std::reverse(cells.begin(), cells.end());
  std::swap(cells[1], cells[4]);
  EXPECT_EQ(find_saturation(cells)->batch, 16);
}

TEST(Saturation, TakesTheNewestOfABatchMeasuredTwice) {
  std::vector<CellSummary> cells = curve({{1, 100}, {2, 300}, {2, 101}});
  cells[1].created_realtime_ns = 2;
  cells[2].created_realtime_ns = 1;
  EXPECT_EQ(find_saturation(cells)->batch, 2);
  cells[2].created_realtime_ns = 3;
  EXPECT_EQ(find_saturation(cells)->batch, 1);
}

TEST(Saturation, NeedsTwoBatchesWithAThroughput) {
  EXPECT_FALSE(find_saturation({}));
  EXPECT_FALSE(find_saturation(curve({{1, 100}})));
  EXPECT_FALSE(find_saturation(curve({{1, 100}, {1, 120}})));
  std::vector<CellSummary> cells = curve({{1, 100}, {2, 200}});
  cells[1].throughput.reset();  // it failed
  EXPECT_FALSE(find_saturation(cells));
}

}  // namespace
}  // namespace deepgap
