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
              Contains(is(diagnostics::kKernelsWithoutLaunches, "2 kernels have no launch", 2)));
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
                             Broken{"negative_dur.json", Verdict::kUsableWithLoss, &kNegativeDurations},
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
