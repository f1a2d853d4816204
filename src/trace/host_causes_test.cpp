#include "trace/host_causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/attribution_labels.h"
#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// The names of what was marked, in order.
std::vector<std::string> startup_of(const Timeline& timeline) {
  const HostNames host_names(timeline);
  const HostCauses causes = find_causes(timeline, host_names, HostThreads(timeline, host_names));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    if (causes.startup[i]) names.emplace_back(timeline.texts[timeline.events[i].name]);
  }
  return names;
}

TEST(FindCauses, AnOpThatTimesEventsTriesWhatItRuns) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 200)
      .op("aten::conv2d", 0, 120)
      .op("aten::cudnn_convolution", 5, 110)
      .call("cudaEventRecord", 10, 2)
      .launch(15, 5, 1)
      .kernel("sm80_implicit_gemm_1", 25, 20, 1)
      .call("cudaEventRecord", 22, 2)
      .call("cudaEventSynchronize", 25, 30)
      .call("cudaEventElapsedTime", 56, 1)
      .launch(100, 5, 2)
      .kernel("sm80_implicit_gemm_2", 110, 90, 2);
  const Timeline timeline = builder.build();
  EXPECT_THAT(startup_of(timeline), ElementsAre("aten::cudnn_convolution"));
  // 0..5 on the way there; 5..25 and 45..110 of trying.
  EXPECT_THAT(labels_of(timeline),
              ElementsAre(Pair("idle_host_launch", 5), Pair("idle_startup", 85), Pair("kernel", 110)));
}

// A collective records events and waits for none; a program that times its steps does so outside of ops.
TEST(FindCauses, RecordingEventsAloneTriesNothing) {
  TimelineBuilder builder;
  builder.op("c10d::allreduce_", 0, 50).call("cudaEventRecord", 5, 1).call("cudaEventRecord", 10, 1);
  builder.call("cudaEventRecord", 60, 1).op("aten::relu", 62, 5).launch(63, 2, 1).kernel("k", 70, 5, 1);
  builder.call("cudaEventRecord", 75, 1).call("cudaEventSynchronize", 77, 10);
  builder.op("aten::item", 90, 10).call("cudaEventRecord", 91, 1).call("cudaEventSynchronize", 93, 2);
  EXPECT_THAT(startup_of(builder.build()), IsEmpty());
}

// The first of four equal convolutions runs six kernels, the others one.
TEST(FindCauses, AnOpThatRunsManyMoreKernelsThanItsSiblingsTriesThem) {
  const auto traced = [](std::string_view last_shapes) {
    TimelineBuilder builder;
    builder.shaped("[[8, 3]]");
    std::uint64_t id = 0;
    for (std::int64_t op = 0; op < 4; ++op) {
      if (op == 3) builder.shaped(last_shapes);
      builder.op("aten::cudnn_convolution", op * 100, 90);
      for (std::int64_t i = 0; i < (op == 0 ? 6 : 1); ++i) {
        builder.launch(op * 100 + 1 + i * 10, 5, ++id);
        builder.kernel("k" + std::to_string(i), op * 100 + 8 + i * 10, 5, id);
      }
    }
    return startup_of(builder.build());
  };
  EXPECT_THAT(traced("[[8, 3]]"), ElementsAre("aten::cudnn_convolution"));
  EXPECT_THAT(traced("[[9, 3]]"), ElementsAre("aten::cudnn_convolution"));  // three are alike
}

// Where every one of them runs many kernels (a transform, products, a transform back), that is how it is
// done.
// Most launches are first ones here: their median is itself that of loading.
TEST(FindCauses, TheFirstLaunchOfAKernelLoadsItInAColdTrace) {
  const auto launches = [](bool cold) {
    TimelineBuilder builder;
    if (cold) builder.call("cuLibraryLoadData", 0, 10);
    builder.op("ProfilerStep#1", 20, 9000);
    for (std::uint64_t id = 1; id <= 4; ++id) {
      const auto start = static_cast<std::int64_t>(id) * 2000;
      builder.launch(start, id == 4 ? 300 : 1000, id)
          .kernel(id == 4 ? "1" : std::to_string(id), start + 1100, 5, id);
    }
    return builder.build();
  };
  EXPECT_THAT(startup_of(launches(true)),
              ElementsAre("cudaLaunchKernel", "cudaLaunchKernel", "cudaLaunchKernel"));
  EXPECT_THAT(startup_of(launches(false)), IsEmpty());
}

TEST(FindCauses, WhatIsLookedUpForLongIsLoaded) {
  TimelineBuilder builder;
  builder.call("cudaFuncGetAttributes", 0, 500).call("cudaFuncGetAttributes", 600, 500);
  EXPECT_THAT(startup_of(builder.build()), ElementsAre("cudaFuncGetAttributes")) << "the first of its name";
  TimelineBuilder cold;
  cold.call("cuModuleLoadData", 0, 10)
      .call("cudaFuncGetAttributes", 20, 500)
      .call("cudaFuncGetAttributes", 600, 500);
  cold.call("cudaFuncGetAttributes", 1200, 100).call("cudaFuncGetAttributes", 1400, 100);
  EXPECT_THAT(startup_of(cold.build()), ElementsAre("cudaFuncGetAttributes", "cudaFuncGetAttributes"));
}

TEST(FindCauses, ManyKernelsInEachTryNothing) {
  TimelineBuilder builder;
  builder.shaped("[[8, 3]]");
  std::uint64_t id = 0;
  for (std::int64_t op = 0; op < 4; ++op) {
    builder.op("aten::cudnn_convolution", op * 100, 90);
    for (std::int64_t i = 0; i < 6; ++i) {
      builder.launch(op * 100 + 1 + i * 10, 5, ++id);
      builder.kernel("k" + std::to_string(i), op * 100 + 8 + i * 10, 5, id);
    }
  }
  EXPECT_THAT(startup_of(builder.build()), IsEmpty());
}

// Ten launches of 5 us and one of 3 ms, for which the device is idle.
Timeline interrupted(std::string_view call, bool loads, std::int64_t long_one = 3000) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 5000);
  std::int64_t at = 0;
  for (std::uint64_t i = 0; i < 11; ++i) {
    const std::int64_t duration = i == 5 ? long_one : 5;
    builder.call(call, at, duration, i);
    at += duration;
    builder.kernel("k", at, 5, i);
    at += 5;
  }
  if (loads) builder.call("cuModuleLoadData", 4900, 10);
  return builder.build();
}

TEST(FindCauses, ALongStretchOfALaunchIsAnInterruption) {
  EXPECT_THAT(labels_of(interrupted("cudaLaunchKernel", false)),
              ElementsAre(Pair("idle_contention", 3000), Pair("idle_framework", 1895),
                          Pair("idle_host_launch", 50), Pair("kernel", 55)));
}

// In a cold trace it is a first time; a wait may take as long as it likes; and 900 us are no interruption.
TEST(FindCauses, OtherLongStretchesAreNone) {
  EXPECT_EQ(labels_of(interrupted("cudaLaunchKernel", true)).count("idle_contention"), 0);
  EXPECT_EQ(labels_of(interrupted("cudaLaunchKernel", true))["idle_startup"], 3000 + 10);
  EXPECT_EQ(labels_of(interrupted("cudaStreamSynchronize", false)).count("idle_contention"), 0);
  EXPECT_EQ(labels_of(interrupted("cudaLaunchKernel", false, 900)).count("idle_contention"), 0);
}

// An op that makes views, seen often, once for 20 ms.
TEST(FindCauses, SoIsOneOfBookkeeping) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 30'000);
  for (std::int64_t i = 0; i < 5; ++i) builder.op("aten::relu", i * 50, 40);
  builder.op("aten::relu", 300, 20'000).launch(20'290, 5, 1).kernel("k", 20'300, 9'700, 1);
  EXPECT_THAT(labels_of(builder.build()),
              ElementsAre(Pair("idle_contention", 19'990), Pair("idle_cpu_op", 200),
                          Pair("idle_framework", 100), Pair("idle_host_launch", 10), Pair("kernel", 9'700)));
}

}  // namespace
}  // namespace deepgap::trace
