#include "session/op_findings.h"

#include <gtest/gtest.h>

#include "trace/timeline_builder.h"

namespace deepgap::session {
namespace {

using report::TraceFindings;

// Three steps with one call each of two ops, and of a third in the last step alone.
std::vector<TraceFindings::Op> three_steps(std::int64_t* label) {
  trace::TimelineBuilder builder;
  std::uint64_t id = 1;
  const auto call = [&](const char* op, const char* kernel, std::int64_t at, std::int64_t length) {
    builder.op(op, at, 2).launch(at + 1, 1, id).kernel(kernel, at + 3, length, id);
    ++id;
  };
  for (std::int64_t step = 0; step < 3; ++step) {
    builder.annotation("ProfilerStep#" + std::to_string(step), 100 * step, 100);
    builder.shaped("[[4, 6], [6, 8]]", R"(["c10::Half", "c10::Half"])");
    call("aten::mm", "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n", 100 * step, 10 + (step == 2 ? 1 : 0));
    builder.shaped("[[9]]", R"(["c10::Half"])");
    call("aten::relu", "relu", 100 * step + 30, 10 + (step == 2 ? 1 : 0));
  }
  call("aten::neg", "neg", 260, 1);
  trace::Timeline timeline = builder.build();
  timeline.format = "kineto";
  const trace::Steps steps = trace::find_steps(timeline);
  const trace::Attribution attribution = trace::attribute(timeline, steps);
  for (const trace::StepLabels& step : attribution.steps) *label += step.of(trace::Label::kKernel);
  const Result<trace::TracedOps> traced = trace::trace_ops(timeline, steps, attribution);
  EXPECT_TRUE(traced.ok());
  return op_findings(timeline, *traced, {0, 1, 2});
}

TEST(OpFindings, MeansOfAStepThatAddUp) {
  std::int64_t label = 0;
  const std::vector<TraceFindings::Op> ops = three_steps(&label);
  ASSERT_EQ(ops.size(), 3U);
  EXPECT_EQ(label, 63'000);
  // 31, 31 and 1 us of three steps: thirds of a nanosecond go to the first ones.
  EXPECT_EQ(ops[0].charge_ns, 10'334);
  EXPECT_EQ(ops[1].charge_ns, 10'333);
  EXPECT_EQ(ops[2].charge_ns, 333);
  EXPECT_EQ(ops[0].charge_ns + ops[1].charge_ns + ops[2].charge_ns, label / 3);
  EXPECT_EQ(ops[0].total_ns, 10'333);
  EXPECT_EQ(ops[0].name, "aten::mm");
  EXPECT_EQ(ops[0].kind, "op");
  EXPECT_EQ(ops[0].op_class, "matmul");
  EXPECT_EQ(ops[0].count, 1);
  EXPECT_EQ(ops[0].flops, 2 * 4 * 6 * 8);
  EXPECT_EQ(ops[0].precision_path, "fp16");
  EXPECT_EQ(ops[0].family, "gemm");
  EXPECT_EQ(ops[0].main_kernel, "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n");
  EXPECT_NEAR(ops[2].count, 1.0 / 3, 1e-12);
  EXPECT_EQ(ops[2].flops, 3);  // 9 in one of three steps
}

TEST(OpFindings, NoStepsNoOps) {
  EXPECT_TRUE(op_findings(trace::TimelineBuilder().build(), {}, {}).empty());
}

}  // namespace
}  // namespace deepgap::session
