#include "trace/attribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/attribution_labels.h"
#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// A step of 100 us whose one kernel runs from 40 to 60.
TimelineBuilder one_kernel() {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).kernel("k", 40, 20, 1);
  return builder;
}

TEST(Attribute, TheHostsPlaceIsTheIdlesReason) {
  // 0..10 Python, 10..30 in an op, of it 20..28 in the launch, kernel from 40 on: 12 us of launch latency.
  EXPECT_THAT(labels_of(one_kernel().op("aten::relu", 10, 20).launch(20, 8, 1).build()),
              ElementsAre(Pair("idle_framework", 60), Pair("idle_host_launch", 20), Pair("kernel", 20)));
}

TEST(Attribute, WorkThatWasQueuedIsTheDevices) {
  // The launch returned at 7: from 27 on the work was in the queue.
  EXPECT_THAT(labels_of(one_kernel().op("aten::relu", 0, 30).launch(2, 5, 1).op("aten::view", 32, 2).build()),
              ElementsAre(Pair("idle_device_queue", 13), Pair("idle_framework", 40),
                          Pair("idle_host_launch", 27), Pair("kernel", 20)));
}

// A kernel until 10, and one that was launched by 12 and begins at 200.
TimelineBuilder long_wait() {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 300).op("aten::relu", 0, 3).launch(0, 2, 1).kernel("a", 0, 10, 1);
  builder.op("aten::relu", 6, 12).launch(8, 4, 2).kernel("b", 200, 50, 2);
  return builder;
}

TEST(Attribute, ALongWaitInTheQueueIsAnothers) {
  // At 10 the device falls idle; the launch of the next kernel returned at 12.
  EXPECT_THAT(labels_of(long_wait().build()),
              ElementsAre(Pair("idle_contention", 168), Pair("idle_framework", 64),
                          Pair("idle_host_launch", 8), Pair("kernel", 60)));
}

TEST(Attribute, BeforeTheFirstRecordTheDeviceMayHaveDoneAnything) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 300).op("aten::relu", 0, 10).launch(0, 5, 1);
  builder.kernel("k", 200, 50, 1);
  EXPECT_THAT(labels_of(builder.build()),
              ElementsAre(Pair("idle_framework", 65), Pair("idle_host_launch", 10), Pair("idle_unknown", 175),
                          Pair("kernel", 50)));
}

// Between the two launches something may have been put on the device that is not on record.
TEST(Attribute, AWaitBehindWorkThatIsNotOnRecordIsUnknown) {
  const Labels unknown{
      {"idle_framework", 64}, {"idle_host_launch", 8}, {"idle_unknown", 168}, {"kernel", 60}};
  EXPECT_EQ(labels_of(long_wait().op("aten::mm", 3, 2).build()), unknown) << "its launch is not recorded";
  EXPECT_EQ(labels_of(long_wait().launch(3, 2, 9).build()), unknown) << "its kernel is not recorded";
}

TEST(Attribute, InAJobThatCommunicatesALongWaitMayBeForAPeer) {
  TimelineBuilder builder = long_wait();
  builder.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 290, 10);
  EXPECT_THAT(labels_of(builder.build()),
              ElementsAre(Pair("idle_device_queue", 168), Pair("idle_framework", 54),
                          Pair("idle_host_launch", 8), Pair("kernel", 70)));
}

TEST(Attribute, KernelsThatOverlapCountOnceAndHideCopies) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100)
      .kernel("a", 0, 40)
      .kernel("b", 20, 40)
      .copy("c", 50, 30)
      .copy("d", 85, 5);
  EXPECT_THAT(labels_of(builder.build()),
              ElementsAre(Pair("copy_exposed", 25), Pair("idle_unknown", 15), Pair("kernel", 60)));
}

TEST(Attribute, AnOpThatLaunchesNothingIsTheHostsWork) {
  EXPECT_THAT(labels_of(one_kernel()
                            .op("aten::upsample_bilinear2d", 0, 20)
                            .op("aten::view", 22, 2)
                            .op("aten::relu", 30, 9)
                            .launch(31, 7, 1)
                            .build()),
              ElementsAre(Pair("idle_cpu_op", 20), Pair("idle_framework", 51), Pair("idle_host_launch", 9),
                          Pair("kernel", 20)));
}

// The synchronisation waits for the first kernel, which ends at 50. What follows until the next kernel is the
// wait's: without it, that kernel would have been launched before.
TEST(Attribute, WhatFollowsADrainedQueueIsTheDrains) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).op("aten::relu", 0, 10).launch(0, 5, 1).kernel("a", 10, 40, 1);
  builder.call("cudaStreamSynchronize", 20, 35).op("aten::item", 18, 40);
  builder.op("aten::relu", 62, 20).launch(65, 5, 2).kernel("b", 75, 25, 2);
  EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_host_launch", 10),
                                                      Pair("idle_synchronisation", 25), Pair("kernel", 65)));
}

// The host was 30 us ahead when it began to wait. 10 of them are in the tail; the other 20 are lost after the
// next kernel, in what the host then needs to launch.
TEST(Attribute, TheLostLeadIsTheDrainsUntilItIsPaid) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 200).op("aten::relu", 0, 10).launch(0, 5, 1).kernel("a", 10, 40, 1);
  builder.call("cudaStreamSynchronize", 20, 35);
  builder.op("aten::relu", 55, 10).launch(57, 5, 2).kernel("b", 65, 5, 2);     // 50..65 tail
  builder.op("aten::relu", 70, 50).launch(110, 5, 3).kernel("c", 120, 80, 3);  // 70..120 launching: 20 of it
  EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_host_launch", 40),
                                                      Pair("idle_synchronisation", 35), Pair("kernel", 125)));
}

TEST(Attribute, AllocationsAndCopiesHaveTheirOwn) {
  TimelineBuilder builder = one_kernel();
  builder.op("aten::empty", 0, 30).call("cudaMalloc", 2, 26).op("aten::relu", 30, 8).launch(31, 5, 1);
  EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_allocation", 26), Pair("idle_framework", 46),
                                                      Pair("idle_host_launch", 8), Pair("kernel", 20)));
  // A copy of 25 us from pageable memory holds its call; the 5 us before it runs are the call's.
  TimelineBuilder copying;
  copying.annotation("ProfilerStep#1", 0, 50).op("aten::copy_", 0, 40).call("cudaMemcpyAsync", 5, 33, 1);
  copying.copy("Memcpy HtoD (Pageable -> Device)", 10, 25, 1).kernel("k", 40, 10, 1);
  EXPECT_EQ(labels_of(copying.build())["idle_copy_wait"], 10);
}

// A synchronise behind a copy in the same op waits for that copy; behind a copy of nothing it waits for what
// was launched before.
TEST(Attribute, AWaitBehindACopyIsTheCopys) {
  const auto traced = [](std::int64_t copy) {
    TimelineBuilder builder;
    builder.annotation("ProfilerStep#1", 0, 200).op("aten::relu", 0, 5).launch(0, 3, 1).kernel("a", 5, 45, 1);
    builder.op("aten::copy_", 10, 110)
        .call("cudaMemcpyAsync", 12, 6, 2)
        .call("cudaStreamSynchronize", 20, 100);
    builder.copy("Memcpy DtoH (Device -> Pageable)", 50, copy, 2);
    builder.op("aten::relu", 122, 8).launch(123, 3, 3).kernel("b", 130, 70, 3);
    return labels_of(builder.build());
  };
  EXPECT_THAT(traced(40), ElementsAre(Pair("copy_exposed", 40), Pair("idle_copy_wait", 40),
                                      Pair("idle_host_launch", 5), Pair("kernel", 115)));
  EXPECT_THAT(traced(2), ElementsAre(Pair("copy_exposed", 2), Pair("idle_host_launch", 5),
                                     Pair("idle_synchronisation", 78), Pair("kernel", 115)));
}

TEST(Attribute, LaunchesThatBlockAreSynchronisation) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100);
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto id = static_cast<std::uint64_t>(i + 1);
    builder.op("aten::relu", i * 25, 25).launch(i * 25 + 5, 20, id).kernel("k", i * 25 + 10, 10, id);
  }
  const Timeline timeline = builder.build();
  EXPECT_TRUE(attribute(timeline, find_steps(timeline)).launches_block);
  EXPECT_THAT(labels_of(timeline), ElementsAre(Pair("idle_synchronisation", 60), Pair("kernel", 40)));
}

TEST(Attribute, FirstTimesAreStartupWhereLoadingIsShown) {
  const auto traced = [](bool loading) {
    TimelineBuilder builder;
    builder.annotation("ProfilerStep#1", 0, 1000)
        .op("aten::conv2d", 0, 500)
        .launch(10, 480, 1)
        .kernel("k", 500, 500, 1);
    if (loading) builder.call("cuModuleLoadData", 20, 100);
    return builder.build();
  };
  EXPECT_THAT(labels_of(traced(true)), ElementsAre(Pair("idle_startup", 500), Pair("kernel", 500)));
  EXPECT_THAT(labels_of(traced(false)), ElementsAre(Pair("idle_host_launch", 500), Pair("kernel", 500)));
}

TEST(Attribute, TakesTheBusiestDeviceOrTheOneAskedFor) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).kernel("a", 0, 30).on(1, 7).kernel("b", 0, 80);
  const Timeline timeline = builder.build();
  EXPECT_EQ(attribute(timeline, find_steps(timeline)).device, 1);
  EXPECT_EQ(labels_of(timeline)["kernel"], 80);
  EXPECT_EQ(labels_of(timeline, 0)["kernel"], 30);
}

// A kernel that runs on into the next step is charged there.
TEST(Attribute, AStepBeginsWithWhatStillRuns) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100)
      .annotation("ProfilerStep#2", 100, 100)
      .kernel("a", 90, 50)
      .kernel("b", 150, 50);
  const Timeline timeline = builder.build();
  const Attribution found = attribute(timeline, find_steps(timeline));
  EXPECT_EQ(found.steps[0].of(Label::kKernel), 10'000);
  EXPECT_EQ(found.steps[1].of(Label::kKernel), 90'000);
}

// Loading, an op on the CPU: what takes its time of itself is not the drain's.
TEST(Attribute, ADrainDoesNotTakeWhatStandsForItself) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 200).op("aten::relu", 0, 10).launch(0, 5, 1).kernel("a", 10, 40, 1);
  builder.call("cudaStreamSynchronize", 20, 35).op("aten::sort", 60, 100);
  builder.op("aten::relu", 165, 10).launch(166, 5, 2).kernel("b", 180, 20, 2);
  EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_cpu_op", 100), Pair("idle_host_launch", 10),
                                                      Pair("idle_synchronisation", 30), Pair("kernel", 60)));
}

// A kernel that waits for another stream's is hidden by it; so is a copy, and a collective counts as a
// kernel.
TEST(Attribute, StreamsOfADeviceAreOneDevice) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 1000)
      .op("aten::relu", 0, 5)
      .launch(0, 2, 1)
      .kernel("a", 10, 290, 1);
  builder.op("c10d::allreduce_", 5, 5)
      .launch(6, 2, 2)
      .on(0, 13)
      .kernel("ncclDevKernel_AllReduce", 100, 600, 2);
  builder.op("aten::relu", 12, 5).launch(12, 2, 3).on(0, 7).kernel("b", 720, 280, 3);
  builder.call("cudaMemcpyAsync", 20, 2, 4).on(0, 20).copy("Memcpy HtoD (Pinned -> Device)", 200, 515, 4);
  EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("copy_exposed", 15), Pair("idle_device_queue", 5),
                                                      Pair("idle_host_launch", 10), Pair("kernel", 970)));
}

// A wait for one stream while another still works drains nothing.
TEST(Attribute, AQueueIsDrainedOnlyWhereNoStreamHasWork) {
  const auto traced = [](std::int64_t other_ends) {
    TimelineBuilder builder;
    builder.annotation("ProfilerStep#1", 0, 200).op("aten::relu", 0, 4).launch(0, 2, 1).kernel("a", 5, 45, 1);
    builder.op("aten::mm", 4, 4).launch(5, 2, 2).on(0, 13).kernel("side", 10, other_ends - 10, 2);
    builder.call("cudaStreamSynchronize", 20, 32);  // for the first, which ends at 50
    builder.op("aten::relu", 52, 58).launch(90, 5, 3).on(0, 7).kernel("b", 110, 90, 3);
    return labels_of(builder.build());
  };
  EXPECT_THAT(traced(100), ElementsAre(Pair("idle_host_launch", 15), Pair("kernel", 185)));
  EXPECT_THAT(traced(40), ElementsAre(Pair("idle_host_launch", 5), Pair("idle_synchronisation", 60),
                                      Pair("kernel", 135)));
}

// The same gap of queued work: while the other device works it is the queue's, else something else's.
TEST(Attribute, WorkThatWaitsForAnotherDeviceIsNotContended) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 1000)
      .op("aten::relu", 0, 10)
      .launch(0, 10, 1)
      .kernel("a", 500, 500, 1);
  builder.launch(10, 2, 2).on(1, 7).kernel("peer", 15, 385, 2);
  EXPECT_THAT(labels_of(builder.build()),
              ElementsAre(Pair("idle_device_queue", 470), Pair("idle_framework", 18),
                          Pair("idle_host_launch", 12), Pair("kernel", 500)));
  TimelineBuilder idle;
  idle.annotation("ProfilerStep#1", 0, 1000)
      .op("aten::relu", 0, 10)
      .launch(0, 10, 1)
      .kernel("a", 500, 500, 1);
  idle.launch(10, 2, 2).on(1, 7).kernel("peer", 15, 85, 2);
  EXPECT_THAT(labels_of(idle.build()),
              ElementsAre(Pair("idle_contention", 400), Pair("idle_device_queue", 70),
                          Pair("idle_framework", 18), Pair("idle_host_launch", 12), Pair("kernel", 500)));
}

// Each device by the thread that launches there: the first's is in an op, the second's in a wait.
TEST(Attribute, EachDeviceHasTheThreadThatLaunchesThere) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100)
      .op("aten::mm", 0, 60, 0)
      .launch(50, 5, 1, 0)
      .kernel("a", 60, 40, 1);
  builder.call("cudaMalloc", 0, 60, kNoId, 1).op("aten::mm", 60, 10, 1).launch(62, 3, 2, 1);
  builder.on(1, 7).kernel("b", 70, 30, 2);
  const Timeline timeline = builder.build();
  EXPECT_THAT(labels_of(timeline, 0), ElementsAre(Pair("idle_host_launch", 60), Pair("kernel", 40)));
  EXPECT_THAT(labels_of(timeline, 1),
              ElementsAre(Pair("idle_allocation", 60), Pair("idle_host_launch", 10), Pair("kernel", 30)));
}

// Work of which the launch is not known: the thread that launched the rest stands for it.
TEST(Attribute, WorkWithoutALaunchIsLaidToTheThreadThatLaunches) {
  EXPECT_THAT(labels_of(one_kernel()
                            .op("aten::relu", 10, 20)
                            .launch(20, 8, 1)
                            .op("aten::mm", 60, 20)
                            .launch(65, 5, 9)
                            .kernel("orphan", 80, 20)
                            .build()),
              ElementsAre(Pair("idle_framework", 20), Pair("idle_host_launch", 40), Pair("kernel", 40)));
}

}  // namespace
}  // namespace deepgap::trace
