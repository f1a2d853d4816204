#include "trace/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;

// "name start..end", in microseconds; "!" behind a warm-up.
std::vector<std::string> texts_of(const Steps& steps) {
  std::vector<std::string> texts;
  for (const Step& step : steps.steps) {
    texts.push_back(step.name + " " + std::to_string(step.start_ns / 1000) + ".." +
                    std::to_string(step.end_ns / 1000) + (step.warmup ? "!" : ""));
  }
  return texts;
}

TEST(Launches, AreJoinedByCorrelation) {
  TimelineBuilder builder;
  builder.launch(0, 5, 1).launch(10, 5, 2).kernel("a", 20, 5, 2).kernel("b", 25, 5, 1).kernel("c", 30, 5, 1);
  builder.kernel("without a call", 40, 5, 9).kernel("without a correlation", 50, 5).op("aten::relu", 60, 1);
  const Timeline timeline = builder.build();
  EXPECT_THAT(timeline.calls, ElementsAre(kNoEvent, kNoEvent, 1U, 0U, 0U, kNoEvent, kNoEvent, kNoEvent));
}

// A process that restarts its numbers, and a work that the clocks show before its call.
TEST(Launches, OfSeveralCallsWithOneIdTakeTheLastBefore) {
  TimelineBuilder builder;
  builder.launch(0, 5, 1).kernel("a", 10, 5, 1).launch(20, 5, 1).kernel("b", 30, 5, 1);
  builder.kernel("c", 38, 5, 2).launch(40, 5, 2);
  EXPECT_THAT(builder.build().calls, ElementsAre(kNoEvent, 0U, kNoEvent, 2U, 5U, kNoEvent));
}

TEST(FindSteps, ProfilerStepsReachToTheirLastWork) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#4", 0, 100).launch(90, 5, 1).kernel("a", 95, 40, 1);
  // Runs into the next step, where it is charged.
  builder.annotation("ProfilerStep#5", 200, 100).launch(290, 5, 2).kernel("b", 295, 50, 2);
  builder.annotation("ProfilerStep#6", 310, 90).launch(380, 5, 3).kernel("c", 390, 30, 3);
  builder.op("aten::relu", 500, 10);
  const Steps steps = find_steps(builder.build());
  EXPECT_EQ(steps.basis, StepBasis::kProfilerSteps);
  EXPECT_THAT(texts_of(steps),
              ElementsAre("ProfilerStep#4 0..135", "ProfilerStep#5 200..310", "ProfilerStep#6 310..420"));
  EXPECT_EQ(steps.steps[0].host_end_ns, 100'000);
}

TEST(FindSteps, AColdFirstStepIsWarmup) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 400)
      .annotation("ProfilerStep#2", 500, 100)
      .annotation("ProfilerStep#3", 600, 100);
  EXPECT_THAT(texts_of(find_steps(builder.build())),
              ElementsAre("ProfilerStep#1 0..400!", "ProfilerStep#2 500..600", "ProfilerStep#3 600..700"));
  TimelineBuilder alike;
  alike.annotation("ProfilerStep#1", 0, 140)
      .annotation("ProfilerStep#2", 500, 100)
      .annotation("ProfilerStep#3", 600, 100);
  EXPECT_FALSE(find_steps(alike.build()).steps[0].warmup);
}

TEST(FindSteps, AnnotationsThatComeBackAreSteps) {
  TimelineBuilder builder;
  for (std::int64_t i = 0; i < 3; ++i) {
    builder.annotation("batch " + std::to_string(i), i * 100, 90).annotation("forward", i * 100 + 10, 40);
  }
  const Steps steps = find_steps(builder.build());
  EXPECT_EQ(steps.basis, StepBasis::kAnnotations);
  EXPECT_THAT(texts_of(steps), ElementsAre("batch 0 0..90", "batch 1 100..190", "batch 2 200..290"));
}

TEST(FindSteps, AnnotationsOfASmallPartAreNoSteps) {
  TimelineBuilder builder;
  builder.annotation("copy", 0, 5).annotation("copy", 50, 5).op("aten::conv2d", 0, 300);
  EXPECT_EQ(find_steps(builder.build()).basis, StepBasis::kWholeTrace);
}

TEST(FindSteps, ASequenceOfOpsThatComesBackIsAStep) {
  TimelineBuilder builder;
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t at = step * 100;
    builder.op("aten::conv2d", at, 20).op("aten::convolution", at + 1, 18).op("aten::relu", at + 30, 10);
    builder.op("aten::conv2d", at + 45, 20).op("aten::linear", at + 70, 20);
  }
  builder.op("aten::conv2d", 300, 20);  // of a step that was not recorded whole
  const Steps steps = find_steps(builder.build());
  EXPECT_EQ(steps.basis, StepBasis::kRepeatedOps);
  EXPECT_THAT(texts_of(steps), ElementsAre("sequence 1 0..90", "sequence 2 100..190", "sequence 3 200..290"));
}

// Twelve equal layers behind an embedding are one pass, not twelve.
TEST(FindSteps, LayersAreNoSteps) {
  TimelineBuilder builder;
  builder.op("aten::embedding", 0, 5);
  for (std::int64_t layer = 0; layer < 12; ++layer) {
    builder.op("aten::linear", 10 + layer * 30, 5)
        .op("aten::gelu", 20 + layer * 30, 5)
        .op("aten::add", 30 + layer * 30, 5);
  }
  const Steps steps = find_steps(builder.build());
  EXPECT_EQ(steps.basis, StepBasis::kWholeTrace);
  EXPECT_THAT(texts_of(steps), ElementsAre("trace 0..365"));
}

TEST(FindSteps, NothingHasNone) {
  EXPECT_TRUE(find_steps(TimelineBuilder().build()).steps.empty());
}

}  // namespace
}  // namespace deepgap::trace
