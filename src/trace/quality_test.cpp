#include "trace/quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "trace/kineto/kineto.h"
#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

Quality quality_of(const Timeline& timeline, std::optional<std::int64_t> unprofiled_ns = std::nullopt) {
  const Steps steps = find_steps(timeline);
  return judge(timeline, steps, attribute(timeline, steps), unprofiled_ns);
}

auto is(const DiagnosticKind& kind, const std::string& text = "", std::int64_t count = 1) {
  return AllOf(Field(&Diagnostic::id, std::string(kind.id)), Field(&Diagnostic::text, HasSubstr(text)),
               Field(&Diagnostic::count, count));
}

// Three steps of 100 us, each with ten launches and, but for `missing` of the second, their kernels.
TimelineBuilder three_steps(int missing = 0) {
  TimelineBuilder builder;
  std::uint64_t id = 0;
  for (std::int64_t step = 0; step < 3; ++step) {
    builder.annotation("ProfilerStep#" + std::to_string(step + 1), step * 100, 100);
    for (std::int64_t i = 0; i < 10; ++i) {
      builder.launch(step * 100 + i * 8, 2, ++id);
      if (step != 1 || i >= missing) builder.kernel("k", step * 100 + i * 8 + 4, 3, id);
    }
  }
  return builder;
}

TEST(Judge, AWholeTraceIsUsable) {
  const Quality quality = quality_of(three_steps().build());
  EXPECT_EQ(quality.verdict, Verdict::kUsable);
  EXPECT_THAT(quality.diagnostics, IsEmpty());
  EXPECT_THAT(quality.broken, ElementsAre(false, false, false));
}

TEST(Judge, AStepThatLacksKernelsIsLeftOutOfAverages) {
  const Timeline timeline = three_steps(4).build();
  const Quality quality = quality_of(timeline);
  EXPECT_EQ(quality.verdict, Verdict::kUsableWithLoss);
  EXPECT_THAT(
      quality.diagnostics,
      ElementsAre(AllOf(is(diagnostics::kLaunchesWithoutKernels, "4 of 10 launches have no kernel", 4),
                        Field(&Diagnostic::where, "ProfilerStep#2"))));
  EXPECT_THAT(quality.broken, ElementsAre(false, true, false));
  EXPECT_THAT(steps_to_average(find_steps(timeline), quality), ElementsAre(0U, 2U));
}

TEST(Judge, LaunchesOfWhichNoneHasAKernelTellNothing) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100)
      .annotation("ProfilerStep#2", 100, 100)
      .launch(10, 2, 1)
      .launch(20, 2, 2);
  const Quality quality = quality_of(builder.build());
  EXPECT_EQ(quality.verdict, Verdict::kUnusable);
  EXPECT_THAT(quality.diagnostics, Contains(is(diagnostics::kNoDeviceActivity)));
  EXPECT_EQ(quality_of(TimelineBuilder().build()).verdict, Verdict::kUnusable);
}

TEST(Judge, OneIdForAllKernelsIsNoLoss) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).call("cudaGraphLaunch", 0, 5, 1);
  for (std::int64_t i = 0; i < 9; ++i) builder.kernel("k", 10 + i * 5, 4, 1);
  EXPECT_EQ(quality_of(builder.build()).verdict, Verdict::kUsable);
  TimelineBuilder launches;  // a file in which a tool gave every kernel the first one's
  launches.annotation("ProfilerStep#1", 0, 100)
      .launch(0, 2, 1)
      .launch(4, 2, 2)
      .kernel("a", 10, 5, 1)
      .kernel("b", 20, 5, 1);
  EXPECT_EQ(quality_of(launches.build()).verdict, Verdict::kUsable);
}

TEST(Judge, GraphsWithoutTheirKernelsAreOpaque) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).call("cudaGraphLaunch", 0, 5, 1).kernel("other", 50, 5);
  const Quality quality = quality_of(builder.build());
  EXPECT_THAT(quality.diagnostics, Contains(is(diagnostics::kOpaqueGraphs, "1 of 1 graph launches")));
  EXPECT_EQ(quality.verdict, Verdict::kUnusable);
}

TEST(Judge, WhatIsOddIsSaidWithItsCount) {
  TimelineBuilder builder = three_steps();
  builder.op("aten::relu", 1, 2).kernel("late", 296, 3).kernel("orphan", 297, 2);
  builder.launch(290, 2, 99).kernel("early", 280, 1, 99);
  const Quality quality = quality_of(builder.build());
  EXPECT_THAT(quality.diagnostics,
              Contains(is(diagnostics::kKernelsWithoutLaunches, "2 of 13 kernels without a launch", 2)));
  EXPECT_THAT(quality.diagnostics, Contains(is(diagnostics::kOverlappingKernels, "", 1)));
  EXPECT_THAT(quality.diagnostics, Contains(is(diagnostics::kClockSkew, "by up to 10 us", 1)));
  EXPECT_THAT(quality.diagnostics, Contains(is(diagnostics::kNoShapes, "none of 1 ops", 1)));
  EXPECT_EQ(quality.verdict, Verdict::kUsableWithLoss);  // for the clocks
}

TEST(Judge, StepsThatDifferAndColdOnes) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 900)
      .annotation("ProfilerStep#2", 1000, 100)
      .annotation("ProfilerStep#3", 1200, 140);
  builder.annotation("ProfilerStep#4", 1400, 100);
  for (const std::int64_t at : {10, 1010, 1210, 1410}) builder.kernel("k", at, 50);
  const Quality quality = quality_of(builder.build());
  EXPECT_THAT(quality.diagnostics, Contains(AllOf(is(diagnostics::kColdStart, "it takes 900 us"),
                                                  Field(&Diagnostic::where, "ProfilerStep#1"))));
  EXPECT_THAT(quality.diagnostics, Contains(is(diagnostics::kStepsDiffer, "from 100 us to 140 us", 3)));
}

TEST(Judge, TheProfilersCostIsSaidWhereItIsKnown) {
  EXPECT_THAT(quality_of(three_steps().build(), 50'000).diagnostics,
              ElementsAre(is(diagnostics::kProfilerInflation,
                             "takes 100 us in the trace and 50 us without the profiler: 2")));
  EXPECT_THAT(quality_of(three_steps().build(), 95'000).diagnostics, IsEmpty());
}

// Three kernels of the third step are behind the cut, with their launches.
TEST(Judge, AFileThatIsCutOffIsTrustedOnlyWhereStepsAreAlike) {
  const auto cut = [](TimelineBuilder& builder) {
    Timeline timeline = builder.build();
    timeline.diagnostics.push_back(diagnose(diagnostics::kFileCutOff, "", "cut"));
    timeline.devices.push_back({.id = 0, .name = "Some GPU"});
    return quality_of(timeline);
  };
  TimelineBuilder builder;
  for (std::int64_t step = 0; step < 3; ++step) {
    builder.annotation("ProfilerStep#" + std::to_string(step + 1), step * 100, 100);
    for (std::int64_t i = 0; i < (step == 2 ? 7 : 10); ++i) {
      const auto id = static_cast<std::uint64_t>(step * 10 + i);
      builder.launch(step * 100 + i * 8, 2, id).kernel("k", step * 100 + i * 8 + 4, 3, id);
    }
  }
  const Quality some = cut(builder);
  EXPECT_EQ(some.verdict, Verdict::kUsableWithLoss);
  EXPECT_THAT(some.broken, ElementsAre(false, false, true));
  TimelineBuilder one;
  one.annotation("ProfilerStep#1", 0, 100).launch(0, 2, 1).kernel("k", 10, 5, 1);
  EXPECT_EQ(cut(one).verdict, Verdict::kUnusable);
  TimelineBuilder none;  // the ops come first in such files
  none.annotation("ProfilerStep#1", 0, 100).annotation("ProfilerStep#2", 100, 100).op("aten::relu", 10, 5);
  EXPECT_EQ(cut(none).verdict, Verdict::kUnusable);
}

// A run on the CPU has lost nothing; launches without their kernels have.
TEST(Judge, ARunOnTheHostIsUsable) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).shaped("[[1]]").op("aten::mm", 10, 80);
  const Quality quality = quality_of(builder.build());
  EXPECT_EQ(quality.verdict, Verdict::kUsable);
  EXPECT_THAT(quality.diagnostics,
              ElementsAre(AllOf(is(diagnostics::kNoDeviceActivity, "the ops on the host are the work"),
                                Field(&Diagnostic::severity, Severity::kNote))));
  TimelineBuilder lost;
  lost.annotation("ProfilerStep#1", 0, 100).op("aten::mm", 10, 80).launch(20, 5, 1);
  EXPECT_EQ(quality_of(lost.build()).verdict, Verdict::kUnusable);
}

TEST(Judge, KernelsWithoutLaunchesAreALossWhereTheyAreMany) {
  const auto judged = [](std::int64_t orphans) {
    TimelineBuilder builder;
    builder.annotation("ProfilerStep#1", 0, 1000);
    for (std::int64_t i = 0; i < 100; ++i) {
      const auto id = static_cast<std::uint64_t>(i);
      if (i >= orphans) builder.launch(i * 10, 1, id);
      builder.kernel("k", i * 10 + 2, 5, id);
    }
    builder.kernel("behind", 2000, 5);
    return quality_of(builder.build());
  };
  EXPECT_EQ(judged(2).verdict, Verdict::kUsable);
  EXPECT_EQ(judged(3).verdict, Verdict::kUsableWithLoss);
  EXPECT_THAT(judged(3).diagnostics,
              IsSupersetOf({is(diagnostics::kKernelsWithoutLaunches, "3 of 100 kernels without a launch", 3),
                            is(diagnostics::kKernelsWithoutLaunches, "1 kernel without a launch", 1)}));
}

TEST(Judge, StepsThatAreLaunchedAheadAreSaid) {
  TimelineBuilder builder;
  for (std::int64_t step = 0; step < 3; ++step) {
    builder.annotation("ProfilerStep#" + std::to_string(step), step * 20, 20);
    builder.launch(step * 20 + 5, 5, static_cast<std::uint64_t>(step));
    builder.kernel("k", 10 + step * 50, 48, static_cast<std::uint64_t>(step));
  }
  const Quality quality = quality_of(builder.build());
  EXPECT_EQ(quality.verdict, Verdict::kUsable);
  EXPECT_THAT(quality.diagnostics,
              Contains(is(diagnostics::kHostRunsAhead,
                          "2 of 3 steps ends after the next step has begun, by up to 68 us", 2)));
}

TEST(Judge, ARunOnADeviceOfWhichNothingIsRecordedTellsNothing) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).shaped("[[1]]").op("aten::cudnn_convolution", 10, 80);
  const Quality quality = quality_of(builder.build());
  EXPECT_EQ(quality.verdict, Verdict::kUnusable);
  EXPECT_THAT(quality.diagnostics, ElementsAre(is(diagnostics::kNoDeviceActivity,
                                                  "though aten::cudnn_convolution runs on devices only")));
}

TEST(Judge, AWaitThatReturnsEarlyIsTheClocks) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 300).shaped("[[1]]").op("aten::mm", 0, 8);
  builder.launch(2, 5, 1).kernel("k", 150, 100, 1).call("cudaDeviceSynchronize", 10, 140);
  const Quality quality = quality_of(builder.build());
  EXPECT_EQ(quality.verdict, Verdict::kUsableWithLoss);
  EXPECT_THAT(quality.diagnostics,
              Contains(is(diagnostics::kClockSkew, "1 of 1 waits return before the work", 1)));
}

// Of three steps of a run on the CPU the file ends within the last.
TEST(Judge, ARunOnTheHostThatIsCutOffIsJudgedByItsOps) {
  TimelineBuilder builder;
  for (std::int64_t step = 0; step < 3; ++step) {
    builder.annotation("ProfilerStep#" + std::to_string(step), step * 100, 100);
    for (std::int64_t i = 0; i < (step == 2 ? 4 : 10); ++i) builder.op("aten::mm", step * 100 + i * 10, 8);
  }
  Timeline timeline = builder.build();
  timeline.diagnostics.push_back(diagnose(diagnostics::kFileCutOff, "", "cut"));
  EXPECT_THAT(quality_of(timeline).broken, ElementsAre(false, false, true));
}

TEST(Judge, KernelsThatTheHostDoesNotKnowOfAreOutsideItsWindow) {
  TimelineBuilder before = three_steps();
  before.kernel("before", -500, 5);
  const Quality early = quality_of(before.build());
  EXPECT_THAT(early.diagnostics, Contains(is(diagnostics::kKernelsOutsideWindow, "1 of 31 kernels", 1)));
  TimelineBuilder late = three_steps();  // by another clock: 11 s behind its launch
  late.launch(299, 1, 77).kernel("late", 11'000'300, 5, 77);
  EXPECT_THAT(quality_of(late.build()).diagnostics,
              Contains(is(diagnostics::kKernelsOutsideWindow, "1 of 31 kernels", 1)));
  EXPECT_EQ(early.verdict, Verdict::kUsableWithLoss);
  TimelineBuilder drained = three_steps();  // runs on behind the host's last record, as it was told to
  drained.launch(299, 1, 77).kernel("late", 301, 900, 77);
  EXPECT_THAT(quality_of(drained.build()).diagnostics, Not(Contains(is(diagnostics::kKernelsOutsideWindow))));
}

TEST(Judge, KernelsOfNoTimeAreCounted) {
  TimelineBuilder builder = three_steps();
  builder.launch(285, 1, 50).kernel("k", 290, 0, 50).launch(287, 1, 51).kernel("k", 292, 0, 51);
  const Quality quality = quality_of(builder.build());
  EXPECT_THAT(quality.diagnostics, Contains(is(diagnostics::kZeroDurations, "2 kernels of 0 ns", 2)));
  EXPECT_EQ(quality.verdict, Verdict::kUsable);
}

TEST(Judge, AnOverlapSaysWhatTheDeviceIs) {
  TimelineBuilder builder = three_steps();
  builder.launch(285, 1, 50).kernel("a", 286, 5, 50).launch(287, 1, 51).kernel("b", 290, 5, 51);
  Timeline timeline = builder.build();
  timeline.devices.push_back({.id = 0, .name = "Some GPU", .compute_capability = "9.0"});
  const Quality quality = quality_of(timeline);
  EXPECT_THAT(quality.diagnostics,
              Contains(is(diagnostics::kOverlappingKernels, "the device has compute capability 9.0")));
  EXPECT_EQ(quality.verdict, Verdict::kUsable);
}

// The last step of a profiler's schedule.
TEST(Judge, AStepThatLaunchesNothingIsInNoAverage) {
  TimelineBuilder builder = three_steps();
  builder.annotation("ProfilerStep#4", 300, 1);
  const Timeline timeline = builder.build();
  const Quality quality = quality_of(timeline);
  EXPECT_EQ(quality.verdict, Verdict::kUsable);
  EXPECT_THAT(quality.diagnostics,
              ElementsAre(AllOf(is(diagnostics::kEmptySteps, "1 of 4 steps launch nothing"),
                                Field(&Diagnostic::where, "ProfilerStep#4"))));
  EXPECT_THAT(steps_to_average(find_steps(timeline), quality), ElementsAre(0U, 1U, 2U));
}

TEST(Judge, ARangeOfSecondsAroundMicrosecondsIsSaid) {
  const auto traced = [](std::int64_t session) {
    TimelineBuilder builder = three_steps();
    builder.annotation("session", 0, session);
    return quality_of(builder.build()).diagnostics;
  };
  EXPECT_THAT(traced(43'000'000), Contains(AllOf(is(diagnostics::kStretchedByAnnotations, "it takes 43 s"),
                                                 Field(&Diagnostic::where, "session"))));
  EXPECT_THAT(traced(900'000), IsEmpty());
}

// In time alike: one has an op more, one a kernel more, one other ops.
TEST(Judge, StepsThatRunOtherThingsDiffer) {
  const auto said = [](std::int64_t more_ops, std::int64_t more_kernels, std::string_view second) {
    TimelineBuilder builder;
    builder.shaped("[[1]]");
    std::uint64_t id = 0;
    for (std::int64_t step = 0; step < 2; ++step) {
      const std::int64_t at = step * 100;
      builder.annotation("ProfilerStep#" + std::to_string(step), at, 100).op("aten::relu", at, 5);
      builder.op(step == 1 ? second : "aten::mm", at + 6, 5);
      for (std::int64_t i = 0; i < step * more_ops; ++i) builder.op("aten::add", at + 12 + i * 4, 3);
      for (std::int64_t i = 0; i < 2 + step * more_kernels; ++i) {
        builder.launch(at + i * 8, 1, ++id);
        builder.kernel("k", at + i * 8 + 2, 5, id);
      }
    }
    return quality_of(builder.build()).diagnostics;
  };
  EXPECT_THAT(said(0, 0, "aten::mm"), IsEmpty());
  EXPECT_THAT(said(1, 0, "aten::mm"), ElementsAre(is(diagnostics::kStepsDiffer, "from 2 to 3 ops", 2)));
  EXPECT_THAT(said(0, 2, "aten::mm"), ElementsAre(is(diagnostics::kStepsDiffer, "from 2 to 4 kernels", 2)));
  EXPECT_THAT(said(0, 0, "aten::bmm"), ElementsAre(is(diagnostics::kStepsDiffer, "they run other ops", 2)));
}

// A thousand steps with the same fault are not a thousand sentences.
TEST(Judge, FaultsOfManyStepsAreSaidTogether) {
  TimelineBuilder builder;
  for (std::int64_t step = 0; step < 1000; ++step) {
    const auto id = static_cast<std::uint64_t>(step * 2);
    builder.annotation("ProfilerStep#" + std::to_string(step), step * 100, 100);
    builder.launch(step * 100, 2, id).launch(step * 100 + 10, 2, id + 1).kernel("k", step * 100 + 20, 5, id);
  }
  const Quality quality = quality_of(builder.build());
  EXPECT_EQ(quality.diagnostics.size(), 11U);
  EXPECT_THAT(quality.diagnostics,
              Contains(AllOf(is(diagnostics::kLaunchesWithoutKernels, "990 of 1980", 990),
                             Field(&Diagnostic::where, "990 more steps"))));
}

TEST(Judge, LabelsThatDoNotSumAreAFaultOfOurs) {
  const Timeline timeline = three_steps().build();
  const Steps steps = find_steps(timeline);
  Attribution attribution = attribute(timeline, steps);
  attribution.unaccounted_ns = 1;
  const Quality quality = judge(timeline, steps, attribution);
  EXPECT_EQ(quality.verdict, Verdict::kUnusable);
  EXPECT_THAT(quality.diagnostics, ElementsAre(is(diagnostics::kLabelsDoNotSum, "1 ns")));
}

// A note of a reader is no loss, a warning is.
TEST(Judge, OnlyWhatAReaderWarnsOfIsALoss) {
  const auto verdict = [](const DiagnosticKind& kind) {
    Timeline timeline = three_steps().build();
    timeline.diagnostics.push_back(diagnose(kind, "", "said"));
    return quality_of(timeline).verdict;
  };
  EXPECT_EQ(verdict(diagnostics::kImportAssumption), Verdict::kUsable);
  EXPECT_EQ(verdict(diagnostics::kTextRepaired), Verdict::kUsableWithLoss);
}

TEST(Judge, BrokenFilesGetTheirVerdict) {
  struct Broken {
    const char* name;
    Verdict verdict;
    const DiagnosticKind* kind;
  };
  const std::string folder = DEEPGAP_SOURCE_FOLDER "/../shared/traces/third-party/derived/";
  if (!std::ifstream(folder + "trailing_comma.json"))
    GTEST_SKIP() << "there is no ../shared/traces/third-party";
  using namespace diagnostics;
  for (const Broken& file : {Broken{"trailing_comma.json", Verdict::kUsableWithLoss, &kTextRepaired},
                             Broken{"utf8_bom.json", Verdict::kUsableWithLoss, &kTextRepaired},
                             Broken{"nan_infinity.json", Verdict::kUsableWithLoss, &kTextRepaired},
                             Broken{"raw_control_char.json", Verdict::kUsableWithLoss, &kTextRepaired},
                             Broken{"windows_backslash.json", Verdict::kUsableWithLoss, &kTextRepaired},
                             Broken{"negative_dur.json", Verdict::kUnusable, &kNegativeDurations},
                             Broken{"trunc_mid_event.json", Verdict::kUnusable, &kFileCutOff},
                             Broken{"trunc.json.gz", Verdict::kUnusable, &kFileCutOff},
                             Broken{"deep_nesting.json", Verdict::kUnusable, nullptr},
                             Broken{"two_members.json.gz", Verdict::kUsable, nullptr},
                             Broken{"string_ts_dur.json", Verdict::kUsable, nullptr},
                             Broken{"reversed_order.json", Verdict::kUsable, nullptr},
                             Broken{"bare_array.json", Verdict::kUsable, nullptr},
                             Broken{"one_correlation_for_all_kernels.json", Verdict::kUsable, nullptr}}) {
    Result<ByteSource> source = ByteSource::open(folder + file.name);
    ASSERT_TRUE(source.ok());
    const Result<Timeline> timeline = read_kineto(*source);
    ASSERT_TRUE(timeline.ok()) << file.name;
    const Quality quality = quality_of(*timeline);
    EXPECT_EQ(name_of(quality.verdict), name_of(file.verdict)) << file.name;
    if (file.kind != nullptr) {
      EXPECT_THAT(quality.diagnostics, Contains(Field(&Diagnostic::id, std::string(file.kind->id))))
          << file.name;
    }
  }
}

}  // namespace
}  // namespace deepgap::trace
