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

// Each step's launches take 10 us of its 20, its work 50: the device is ever further behind.
TEST(FindSteps, StepsThatAreLaunchedAheadAreToldByTheDevice) {
  TimelineBuilder builder;
  for (std::int64_t step = 0; step < 4; ++step) {
    builder.annotation("ProfilerStep#" + std::to_string(step), step * 20, 20);
    if (step == 2) continue;  // launches nothing
    const auto id = static_cast<std::uint64_t>(step);
    const std::int64_t device = 10 + (step == 3 ? 2 : step) * 50;
    builder.launch(step * 20 + 5, 5, id).kernel("k", device, 48, id);
  }
  const Steps steps = find_steps(builder.build());
  EXPECT_EQ(steps.extent, StepExtent::kCompletion);
  EXPECT_THAT(texts_of(steps), ElementsAre("ProfilerStep#0 0..58", "ProfilerStep#1 58..108",
                                           "ProfilerStep#2 108..108", "ProfilerStep#3 108..158"));
  EXPECT_TRUE(is_empty(steps, 2));
  EXPECT_EQ(steps.ahead, 2U);
  EXPECT_EQ(steps.most_ahead_ns, 68'000);
  EXPECT_EQ(steps.of_host(25'000), 1U);
  EXPECT_EQ(steps.of_device(25'000), 0U);
  EXPECT_EQ(steps.of_device(108'000), 3U);
  EXPECT_EQ(steps.of_device(158'000), std::nullopt);
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

// Worker threads have the steps too, one of them shorter and before the main thread.
TEST(FindSteps, OfStepsInSeveralThreadsTheFullestStands) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 10, 1).annotation("ProfilerStep#1", 5, 95);
  builder.annotation("ProfilerStep#2", 100, 100).annotation("ProfilerStep#2", 104, 20, 1);
  builder.annotation("ProfilerStep#3", 200, 100).op("ProfilerStep#3", 201, 98);
  EXPECT_THAT(texts_of(find_steps(builder.build())),
              ElementsAre("ProfilerStep#1 5..100", "ProfilerStep#2 100..200", "ProfilerStep#3 200..300"));
}

TEST(FindSteps, StepsThatOverlapEndWhereTheNextBegins) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 120)
      .annotation("ProfilerStep#2", 100, 110)
      .annotation("ProfilerStep#3", 200, 100);
  EXPECT_THAT(texts_of(find_steps(builder.build())),
              ElementsAre("ProfilerStep#1 0..100", "ProfilerStep#2 100..200", "ProfilerStep#3 200..300"));
}

// A range that names the whole session is no measure of what its steps cover, and no part of the trace.
TEST(FindSteps, AnAnnotationAroundEverythingStretchesNothing) {
  TimelineBuilder builder;
  builder.annotation("session", 0, 40'000'000);
  for (std::int64_t i = 0; i < 3; ++i)
    builder.annotation("run", 1000 + i * 100, 90).op("aten::mm", 1010 + i * 100, 70);
  const Steps steps = find_steps(builder.build());
  EXPECT_EQ(steps.basis, StepBasis::kAnnotations);
  EXPECT_THAT(texts_of(steps), ElementsAre("run 1000..1090", "run 1100..1190", "run 1200..1290"));
  TimelineBuilder once;
  once.annotation("session", 0, 40'000'000).op("aten::mm", 1000, 70).op("aten::relu", 1080, 20);
  EXPECT_THAT(texts_of(find_steps(once.build())), ElementsAre("trace 1000..1100"));
}

// Ops of the backward pass run on another thread, nested ones within others: neither is part of the sequence.
TEST(FindSteps, TheSequenceIsOneThreads) {
  TimelineBuilder builder;
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::int64_t at = step * 100;
    builder.op("aten::conv2d", at, 20).op("aten::relu", at + 30, 10).op("aten::linear", at + 45, 20);
    builder.op("aten::addmm", at + 46, 15 - step).op("ReluBackward0", at + 70 + step, 9, 1);
    if (step == 1) builder.op("aten::mm", at + 72, 3, 1);
  }
  const Steps steps = find_steps(builder.build());
  EXPECT_EQ(steps.basis, StepBasis::kRepeatedOps);
  EXPECT_THAT(texts_of(steps), ElementsAre("sequence 1 0..65", "sequence 2 100..165"));
}

// A graph is replayed: its launches are all that the host does.
TEST(FindSteps, GraphsThatAreReplayedAreSteps) {
  TimelineBuilder builder;
  for (std::int64_t step = 0; step < 3; ++step) {
    const auto id = static_cast<std::uint64_t>(step + 1);
    builder.call("cudaGraphLaunch", step * 100, 10, id);
    for (std::int64_t i = 0; i < 4; ++i)
      builder.kernel("k" + std::to_string(i), step * 100 + 15 + i * 20, 20, id);
    builder.call("cudaDeviceSynchronize", step * 100 + 12, 86);
  }
  const Steps steps = find_steps(builder.build());
  EXPECT_EQ(steps.basis, StepBasis::kRepeatedLaunches);
  EXPECT_THAT(texts_of(steps), ElementsAre("sequence 1 0..95", "sequence 2 100..195", "sequence 3 200..295"));
  EXPECT_EQ(steps.steps[0].launched, 4);
}

// Without ops, as some tools record: three kernels that come back; but not one kernel in a loop.
TEST(FindSteps, LaunchesThatComeBackAreSteps) {
  const auto basis = [](std::int64_t kinds) {
    TimelineBuilder builder;
    for (std::int64_t i = 0; i < 9; ++i) {
      const auto id = static_cast<std::uint64_t>(i);
      builder.launch(i * 10, 3, id).kernel("k" + std::to_string(i % kinds), i * 10 + 4, 5, id);
    }
    return find_steps(builder.build());
  };
  EXPECT_THAT(texts_of(basis(3)), ElementsAre("sequence 1 0..29", "sequence 2 30..59", "sequence 3 60..89"));
  EXPECT_EQ(basis(1).basis, StepBasis::kWholeTrace);
}

// The profiler's last step holds nothing: beside it the first is no cold start.
TEST(FindSteps, AStepWithoutWorkIsNoMeasure) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 400).launch(10, 5, 1).kernel("k", 20, 300, 1);
  builder.annotation("ProfilerStep#2", 400, 5);
  EXPECT_THAT(texts_of(find_steps(builder.build())),
              ElementsAre("ProfilerStep#1 0..400", "ProfilerStep#2 400..405"));
}

TEST(FindSteps, NothingHasNone) {
  EXPECT_TRUE(find_steps(TimelineBuilder().build()).steps.empty());
}

}  // namespace
}  // namespace deepgap::trace
