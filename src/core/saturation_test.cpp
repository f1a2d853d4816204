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
  EXPECT_EQ(found->batch, 64);
  EXPECT_FALSE(found->reached);
  EXPECT_NEAR(found->throughput.value, 4776.1, 0.1);
  EXPECT_EQ(found->throughput.unit, Unit::kSamplesPerSecond);
}

TEST(Saturation, MarginSaysWhatAGainIsWorth) {
  const auto at_7_percent = find_saturation(curve(kResnetOnA100), 0.07);
  ASSERT_TRUE(at_7_percent);
  EXPECT_EQ(at_7_percent->batch, 32);  // 64 gains 6.1 % on it, on 16 it gains 14.6 %
  EXPECT_TRUE(at_7_percent->reached);
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
  EXPECT_TRUE(found->reached);
  EXPECT_EQ(found->throughput.value, 284);
}

TEST(Saturation, ADipOnTheWayDoesNotEndIt) {
  const auto found = find_saturation(curve({{1, 100}, {2, 90}, {4, 180}, {8, 181}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->batch, 4);
}

TEST(Saturation, AGainThatTheIntervalsCannotTellIsNone) {
  // 8 % between 100 +- 6 and 108 +- 6.48: the difference of 8 is within hypot(6, 6.48) = 8.83.
  const auto wide = find_saturation(curve({{8, 100}, {16, 108}}, 0.06));
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->batch, 8);
  // With +- 5 %: hypot(5, 5.4) = 7.36.
  const auto narrower = find_saturation(curve({{8, 100}, {16, 108}}, 0.05));
  ASSERT_TRUE(narrower);
  EXPECT_EQ(narrower->batch, 16);
  EXPECT_FALSE(narrower->reached);
}

TEST(Saturation, WithoutIntervalsTheMarginDecides) {
  std::vector<CellSummary> cells = curve({{8, 100}, {16, 106}, {32, 110}});
  for (CellSummary& summary : cells) summary.throughput->lower = summary.throughput->upper = std::nullopt;
  const auto found = find_saturation(cells);
  ASSERT_TRUE(found);
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
