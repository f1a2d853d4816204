#include "trace/host_activity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/attribution_labels.h"
#include "trace/range_names.h"
#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// A step of 1000 us that ends with a kernel of 100 us, launched from 890 to 895 by an op.
TimelineBuilder waits_for_a_kernel() {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 1000).op("aten::mm", 880, 20).launch(890, 5, 1);
  builder.kernel("k", 900, 100, 1);
  return builder;
}

TEST(RangeNames, AreToldFromOps) {
  for (const char* name : {"ProfilerStep#3", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                           "Optimizer.step#SGD.step", "## forward ##"}) {
    EXPECT_EQ(range_kind(name), RangeKind::kProgram) << name;
  }
  for (const char* name : {"autograd::engine::evaluate_function: MulBackward0", "Torch-Compiled Region: 0/0",
                           "CompiledFunctionBackward", "torch::jit::(anonymous)::f"}) {
    EXPECT_EQ(range_kind(name), RangeKind::kWrapper) << name;
  }
  EXPECT_EQ(range_kind("AddmmBackward0"), RangeKind::kNode);
  EXPECT_EQ(range_kind("triton_poi_fused_add_0"), RangeKind::kPlain);
  EXPECT_EQ(range_kind("aten::mm"), RangeKind::kNone);
  EXPECT_EQ(range_kind("vllm::moe::gate.default"), RangeKind::kNone);
}

// Traces of torch 1.8 have ranges among the ops: what is in them is not on its way to a launch for that.
TEST(HostActivity, ARangeIsNoOp) {
  TimelineBuilder builder = waits_for_a_kernel();
  builder.op("ProfilerStep#1", 0, 1000)
      .op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100, 500)
      .op("aten::stack", 200, 300);
  EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_cpu_op", 300), Pair("idle_framework", 580),
                                                      Pair("idle_host_launch", 20), Pair("kernel", 100)));
}

TEST(HostActivity, WhatLeadsToOpsIsOnItsWayToALaunch) {
  for (const char* wrapper :
       {"Torch-Compiled Region: 0/0", "autograd::engine::evaluate_function: MmBackward0"}) {
    TimelineBuilder builder = waits_for_a_kernel();
    builder.op(wrapper, 100, 850).op("aten::stack", 200, 300);
    EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_cpu_op", 300), Pair("idle_framework", 100),
                                                        Pair("idle_host_launch", 500), Pair("kernel", 100)))
        << wrapper;
  }
}

TEST(HostActivity, AnOpInAnOpThatComputesForLongIsTheHostsWork) {
  TimelineBuilder builder = waits_for_a_kernel();
  builder.op("my::layer", 100, 850)
      .op("aten::nonzero", 200, 300)
      .op("aten::mul", 600, 90)
      .op("aten::empty", 700, 110);
  EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_cpu_op", 300), Pair("idle_framework", 100),
                                                      Pair("idle_host_launch", 500), Pair("kernel", 100)));
}

TEST(HostActivity, ACallOfAnotherKindIsAsWhatHoldsIt) {
  const auto labels = [](const char* call, bool in_op) {
    TimelineBuilder builder = waits_for_a_kernel();
    if (in_op) builder.op("my::layer", 100, 850);
    return labels_of(builder.call(call, 200, 500).build());
  };
  EXPECT_EQ(labels("cudaMemGetInfo", false).at("idle_framework"), 880);
  EXPECT_EQ(labels("cudaMemGetInfo", true).at("idle_host_launch"), 800);
  EXPECT_EQ(labels("cudaEventQuery", false).at("idle_synchronisation"), 500);
  EXPECT_EQ(labels("cuModuleGetFunction", true).at("idle_startup"), 500);
  EXPECT_EQ(labels("cudaIpcOpenMemHandle", false).at("idle_allocation"), 500);
}

// The main thread between its ops, while the thread of the backward pass computes on the host, or waits.
TEST(HostActivity, AnotherThreadThatLaunchesIsAskedWhereOneHasNothing) {
  TimelineBuilder builder = waits_for_a_kernel();
  builder.launch(10, 5, 2, 1).kernel("before", 20, 10, 2);
  builder.op("aten::nonzero", 100, 300, 1).call("cudaDeviceSynchronize", 500, 300, kNoId, 1);
  EXPECT_THAT(labels_of(builder.build()),
              ElementsAre(Pair("idle_cpu_op", 300), Pair("idle_framework", 10 + 5 + 70 + 480),
                          Pair("idle_host_launch", 25), Pair("kernel", 110)));
}

}  // namespace
}  // namespace deepgap::trace
