#include "trace/traced_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;

struct Traced {
  Timeline timeline;
  Steps steps;
  Attribution attribution;
  TracedOps ops;

  explicit Traced(TimelineBuilder& builder, std::optional<std::int32_t> device = std::nullopt)
      : timeline(builder.build()) {
    timeline.format = "kineto";
    steps = find_steps(timeline);
    attribution = attribute(timeline, steps, device);
    Result<TracedOps> found = trace_ops(timeline, steps, attribution);
    EXPECT_TRUE(found.ok());
    if (found.ok()) ops = std::move(found.value());
  }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const TracedOp& op : ops.ops) found.emplace_back(timeline.texts[timeline.events[op.event].name]);
    return found;
  }
  std::int64_t charge(std::size_t op) const {
    std::int64_t sum = 0;
    for (const Charge& each : ops.charges.charges) sum += each.op == op ? each.ns : 0;
    return sum;
  }
};

TEST(TracedOps, KernelsOfTheirOp) {
  TimelineBuilder builder;
  builder.op("aten::conv2d", 0, 100).op("aten::cudnn_convolution", 5, 90);
  builder.launch(10, 2, 1).kernel("nchwToNhwc", 20, 10, 1).launch(14, 2, 2).kernel("gemm", 25, 30, 2);
  builder.op("aten::relu", 110, 20).launch(112, 2, 3).kernel("relu", 120, 5, 3);
  builder.op("aten::view", 140, 5);
  const Traced traced(builder);
  EXPECT_THAT(traced.names(), ElementsAre("aten::conv2d", "aten::relu", "aten::view"));
  const TracedOp& convolution = traced.ops.ops[0];
  EXPECT_EQ(convolution.kernels, 2U);
  EXPECT_EQ(convolution.duration_ns, 35'000);  // of 20..30 and 25..55
  EXPECT_EQ(convolution.host_ns, 100'000);
  EXPECT_EQ(traced.charge(0), 35'000);
  EXPECT_EQ(traced.timeline.texts[traced.timeline.events[convolution.main_kernel].name], "gemm");
  EXPECT_EQ(traced.charge(1), 5'000);
  EXPECT_EQ(traced.ops.ops[2].kernels, 0U);
}

TEST(TracedOps, SideBySideTheyShare) {
  TimelineBuilder builder;
  builder.op("aten::mm", 0, 10).launch(1, 2, 1).kernel("gemm", 20, 10, 1);
  builder.op("aten::relu", 12, 10).launch(13, 2, 2).kernel("relu", 24, 10, 2);
  const Traced traced(builder);
  EXPECT_EQ(traced.ops.ops[0].duration_ns, 10'000);
  EXPECT_EQ(traced.ops.ops[1].duration_ns, 10'000);
  EXPECT_EQ(traced.charge(0), 7'000);
  EXPECT_EQ(traced.charge(1), 7'000);
}

TEST(TracedOps, WorkWithoutAnOpStandsForItself) {
  TimelineBuilder builder;
  builder.op("aten::add", 0, 10).launch(1, 2, 1).kernel("add", 20, 10, 1);
  builder.call("cudaGraphLaunch", 40, 5, 2).kernel("first", 50, 5, 2).kernel("second", 56, 5, 2);
  builder.kernel("without call", 70, 5).copy("Memcpy DtoH", 80, 5);
  const Traced traced(builder);
  EXPECT_THAT(traced.names(), ElementsAre("aten::add", "first", "second", "without call", "Memcpy DtoH"));
  EXPECT_EQ(traced.ops.ops[1].kernels, 1U);
  EXPECT_EQ(traced.ops.ops[1].host_ns, 0);
  EXPECT_EQ(traced.ops.ops[4].copies, 1U);
  EXPECT_EQ(traced.ops.ops[4].copy_ns, 5'000);
  EXPECT_EQ(traced.charge(4), 0);
}

// A graph that an op launches is what was captured, not that op's work.
TEST(TracedOps, AGraphInAnOpIsNotTheOps) {
  TimelineBuilder builder;
  builder.op("aten::add", 0, 30).call("cudaGraphLaunch", 10, 5, 1).kernel("captured", 20, 5, 1);
  EXPECT_THAT(Traced(builder).names(), ElementsAre("aten::add", "captured"));
}

TEST(TracedOps, TheProfilersIdWhereTheCallIsMissing) {
  TimelineBuilder builder;
  builder.op("aten::mm", 0, 10).id(7).kernel("gemm", 20, 10).id(7).kernel("other", 40, 10).id(8);
  const Traced traced(builder);
  EXPECT_THAT(traced.names(), ElementsAre("aten::mm", "other"));
  EXPECT_EQ(traced.ops.ops[0].kernels, 1U);
}

TEST(TracedOps, WhatIsTakenApartKeepsWhatItLaunchesItself) {
  TimelineBuilder builder;
  builder.op("aten::_native_multi_head_attention", 0, 100);
  builder.op("aten::linear", 5, 20).launch(10, 2, 1).kernel("gemm", 30, 10, 1);
  builder.launch(40, 2, 2).kernel("add_bias", 50, 10, 2);
  builder.op("aten::_native_multi_head_attention", 200, 100);
  builder.op("aten::linear", 205, 20).launch(210, 2, 3).kernel("gemm", 230, 10, 3);
  const Traced traced(builder);
  EXPECT_THAT(traced.names(),
              ElementsAre("aten::_native_multi_head_attention", "aten::linear", "aten::linear"));
  EXPECT_EQ(traced.ops.ops[0].kernels, 1U);
  EXPECT_EQ(traced.ops.ops[0].host_ns, 80'000);  // without the product in it
}

TEST(TracedOps, StepsAndWorkThatRunsInALaterOne) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).annotation("ProfilerStep#2", 100, 100);
  builder.annotation("ProfilerStep#3", 200, 100);
  builder.op("aten::mm", 10, 10).launch(12, 2, 1).kernel("gemm", 90, 30, 1);
  builder.op("aten::relu", 110, 10).launch(112, 2, 2).kernel("relu", 130, 10, 2);
  const Traced traced(builder);
  EXPECT_EQ(traced.ops.ops[0].step, 0U);
  EXPECT_EQ(traced.ops.ops[1].step, 1U);
  EXPECT_THAT(traced.ops.charges.charges,
              ElementsAre(Charge{0, 0, 10'000}, Charge{1, 0, 20'000}, Charge{1, 1, 10'000}));
}

TEST(TracedOps, TheDeviceWaitsForTheOpThatLaunchesNext) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100);
  builder.op("aten::mm", 10, 20).launch(25, 2, 1).kernel("gemm", 30, 10, 1);
  builder.op("aten::relu", 40, 20).launch(55, 2, 2).kernel("relu", 60, 10, 2);
  const Traced traced(builder);
  EXPECT_EQ(traced.ops.ops[0].launch_wait_ns, 20'000);
  EXPECT_EQ(traced.ops.ops[1].launch_wait_ns, 20'000);
}

TEST(TracedOps, OneDeviceOfSeveral) {
  TimelineBuilder builder;
  builder.op("aten::mm", 0, 10).launch(1, 2, 1).kernel("gemm", 20, 10, 1);
  builder.on(1, 7).op("aten::mm", 50, 10).launch(51, 2, 2).kernel("gemm", 60, 100, 2);
  const Traced busiest(builder);
  EXPECT_EQ(busiest.ops.device, 1);
  EXPECT_EQ(busiest.ops.ops[0].kernels, 0U);
  EXPECT_EQ(busiest.ops.ops[1].kernels, 1U);
}

TEST(TracedOps, CostsAndPrecision) {
  TimelineBuilder builder;
  builder.shaped("[[4, 6], [6, 8]]", R"(["float", "float"])");
  builder.op("aten::mm", 0, 10)
      .launch(1, 2, 1)
      .kernel("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16", 20, 10, 1);
  builder.op("aten::mm", 30, 10).launch(31, 2, 2).kernel("nobody knows", 40, 10, 2);
  builder.shaped("[[10]]", R"(["c10::Half"])");
  builder.op("aten::relu", 50, 10).launch(51, 2, 3).kernel("nobody knows", 60, 10, 3);
  builder.shaped("");
  builder.op("aten::mm", 80, 10);
  const Traced traced(builder);
  EXPECT_EQ(traced.ops.ops[0].op_class, ops::OpClass::kMatmul);
  EXPECT_EQ(traced.ops.ops[0].flops, Flops{2 * 4 * 6 * 8});
  EXPECT_EQ(traced.ops.ops[0].bytes, Bytes{4 * (24 + 48 + 32)});
  EXPECT_EQ(traced.ops.ops[0].precision_path, Precision::kTf32);
  EXPECT_EQ(traced.ops.ops[1].precision_path, std::nullopt);  // FP32 or TF32
  EXPECT_EQ(traced.ops.ops[2].precision_path, Precision::kFp16);
  EXPECT_EQ(traced.ops.ops[2].bytes, Bytes{40});
  EXPECT_EQ(traced.ops.ops[3].flops, std::nullopt);  // no shapes, no figure
}

// An einsum's equation is not recorded; the product in it has shapes.
TEST(TracedOps, TheCostOfTheProductsInAnOp) {
  TimelineBuilder builder;
  builder.shaped("[[], [[3, 4], [3, 5]], []]", R"(["", "TensorList", ""])").op("aten::einsum", 0, 100);
  builder.shaped("[[1, 4, 3], [1, 3, 5]]", R"(["float", "float"])").op("aten::bmm", 10, 20);
  builder.launch(12, 2, 1).kernel("gemm", 30, 10, 1);
  builder.shaped("[[4, 6], [6, 8]]", R"(["float", "float"])");
  builder.op("aten::matmul", 200, 50).op("aten::mm", 205, 20);
  const Traced traced(builder);
  EXPECT_THAT(traced.names(), ElementsAre("aten::einsum", "aten::matmul"));
  EXPECT_EQ(traced.ops.ops[0].flops, Flops{2 * 4 * 3 * 5});
  EXPECT_EQ(traced.ops.ops[0].bytes, Bytes{4 * (12 + 15 + 20)});
  EXPECT_EQ(traced.ops.ops[1].flops, Flops{2 * 4 * 6 * 8});  // once, not twice
}

TEST(TracedOps, TheMainKernelOfAProductMultiplies) {
  TimelineBuilder builder;
  builder.op("aten::conv2d", 0, 100);
  builder.launch(10, 2, 1).kernel("void cudnn::engines_precompiled::nchwToNhwcKernel<float, float>", 20, 50,
                                  1);
  builder.launch(20, 2, 2).kernel("sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc", 80, 10,
                                  2);
  const Traced traced(builder);
  EXPECT_EQ(traced.timeline.events[traced.ops.ops[0].main_kernel].start_ns, 80'000);
  EXPECT_EQ(traced.ops.kernel_name(traced.timeline, traced.ops.ops[0].main_kernel)->family,
            ops::KernelFamily::kImplicitGemm);
}

TEST(TracedOps, WithoutADeviceTheOpsAreTheWork) {
  TimelineBuilder builder;
  builder.op("aten::linear", 0, 100).op("aten::addmm", 10, 80).op("aten::relu", 120, 30);
  const Traced traced(builder);
  EXPECT_EQ(traced.ops.device, std::nullopt);
  EXPECT_EQ(traced.ops.ops[0].duration_ns, 100'000);
  EXPECT_EQ(traced.charge(0), 100'000);
  EXPECT_EQ(traced.charge(1), 30'000);
  EXPECT_EQ(traced.attribution.steps[0].of(Label::kKernel), 130'000);
}

TEST(TracedOps, NothingAtAll) {
  TimelineBuilder builder;
  EXPECT_TRUE(Traced(builder).ops.ops.empty());
}

}  // namespace
}  // namespace deepgap::trace
