// Traces of a shape that would take for ever where something is done for each of everything: they end, with
// the right sums. What is bounded is counted, not timed: moments of a thread, segments of a step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/attribution_labels.h"
#include "trace/quality.h"
#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr std::int64_t kMany = 100'000;

struct Whole {
  Steps steps;
  Attribution attribution;
  Quality quality;
};

Whole all_of(const Timeline& timeline) {
  Whole whole;
  whole.steps = find_steps(timeline);
  whole.attribution = attribute(timeline, whole.steps);
  whole.quality = judge(timeline, whole.steps, whole.attribution);
  EXPECT_EQ(whole.attribution.unaccounted_ns, 0);
  EXPECT_LE(whole.attribution.segments.size(), 3 * timeline.events.size() + 1);
  EXPECT_LE(whole.quality.diagnostics.size(), 100U);
  return whole;
}

TEST(Scale, OpsNestedDeeply) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < kMany; ++i) builder.op("aten::mm", i, 2 * (kMany - i) + 10);
  builder.launch(kMany, 5, 1).kernel("k", 3 * kMany, 10, 1);
  const Timeline timeline = builder.build();
  const HostLimits limits;
  const Host host(timeline, limits);
  const HostActivity activity(host, 0);
  std::int64_t moments = 0;
  std::int64_t sum = 0;
  activity.for_each(0, 4 * kMany * 1000, [&](const HostMoment& moment) {
    ++moments;
    sum += moment.end_ns - moment.start_ns;
  });
  EXPECT_LE(moments, 2 * kMany + 3);
  EXPECT_EQ(sum, (2 * kMany + 10) * 1000);
  EXPECT_EQ(all_of(timeline).attribution.steps[0].of(Label::kKernel), 10'000);
}

TEST(Scale, KernelsThatAllOverlap) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < kMany; ++i) builder.on(0, i % 128).kernel("k", i, 2 * kMany);
  const Whole whole = all_of(builder.build());
  EXPECT_EQ(whole.attribution.segments.size(), 1U);
  EXPECT_EQ(whole.attribution.steps[0].of(Label::kKernel), (3 * kMany - 1) * 1000);
}

// A device each, or a thread each.
TEST(Scale, ManyDevicesAndThreads) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < kMany; ++i) {
    const auto id = static_cast<std::uint64_t>(i);
    builder.op("aten::mm", i * 10, 9, static_cast<std::uint32_t>(3 + i))
        .launch(i * 10 + 1, 2, id, static_cast<std::uint32_t>(3 + i));
    builder.on(static_cast<std::int32_t>(i % 2 == 0 ? 0 : i), 7).kernel("k", i * 10 + 4, 5, id);
  }
  EXPECT_EQ(all_of(builder.build()).attribution.steps[0].of(Label::kKernel), kMany / 2 * 5 * 1000);
}

TEST(Scale, EverythingAtOnce) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < kMany; ++i) {
    builder.op("aten::mm", 7, 0)
        .launch(7, 0, static_cast<std::uint64_t>(i))
        .kernel("k", 7, 0, static_cast<std::uint64_t>(i));
  }
  EXPECT_EQ(all_of(builder.build()).steps.steps.size(), 1U);
}

TEST(Scale, ManySteps) {
  constexpr std::int64_t kSteps = 300'000;
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < kSteps; ++i)
    builder.annotation("ProfilerStep#1", i * 2, 2).launch(i * 2, 1, static_cast<std::uint64_t>(i % 7));
  builder.kernel("k", 0, kSteps, 1);
  const Whole whole = all_of(builder.build());
  EXPECT_EQ(whole.steps.steps.size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(whole.attribution.steps.back().of(Label::kKernel), 0);
  EXPECT_EQ(whole.attribution.steps.front().of(Label::kKernel), 2000);
}

// One name, one sequence, or the same launch again and again.
TEST(Scale, WhatComesBackAlways) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < kMany; ++i) {
    const auto id = static_cast<std::uint64_t>(i);
    builder.op("aten::mm", i * 10, 5).launch(i * 10 + 1, 2, id).kernel("k", i * 10 + 5, 2, id);
  }
  EXPECT_EQ(all_of(builder.build()).steps.steps.size(), 1U);  // one op or one kernel is no sequence
}

}  // namespace
}  // namespace deepgap::trace
