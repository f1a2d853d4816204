#include "trace/dispatch_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;

Timeline of_kineto(TimelineBuilder& builder) {
  Timeline timeline = builder.build();
  timeline.format = "kineto";
  return timeline;
}

// The names of dispatch ops, a "?" behind those that are one only if they launch something themselves.
std::vector<std::string> names(const Timeline& timeline) {
  std::vector<std::string> found;
  const DispatchOps ops = find_dispatch_ops(timeline);
  for (std::size_t i = 0; i < ops.nodes.size(); ++i) {
    if (ops.nodes[i].owner != i) continue;
    found.push_back(std::string(timeline.texts[timeline.events[ops.nodes[i].event].name]) +
                    (ops.nodes[i].only_if_it_works ? "?" : ""));
  }
  return found;
}

TEST(DispatchOps, TheOutermostOp) {
  TimelineBuilder builder;
  builder.op("aten::conv2d", 0, 100).op("aten::convolution", 1, 98).op("aten::cudnn_convolution", 2, 90);
  builder.op("aten::linear", 100, 50)
      .op("aten::to", 101, 10)
      .op("aten::copy_", 102, 5)
      .op("aten::linear", 115, 30);
  builder.op("aten::scaled_dot_product_attention", 200, 50)
      .op("aten::matmul", 201, 10)
      .op("aten::matmul", 220, 10);
  EXPECT_THAT(names(of_kineto(builder)),
              ElementsAre("aten::conv2d", "aten::linear", "aten::scaled_dot_product_attention"));
}

TEST(DispatchOps, RangesAreNone) {
  TimelineBuilder builder;
  builder.op("ProfilerStep#1", 0, 1000);
  builder.op("autograd::engine::evaluate_function: AddmmBackward0", 10, 100).op("AddmmBackward0", 11, 90);
  builder.op("aten::mm", 20, 10).op("aten::sum", 40, 10);
  builder.op("Torch-Compiled Region: 0/0", 200, 100).op("## Call CompiledFxGraph abc ##", 210, 80);
  builder.op("triton_poi_fused_add_0", 220, 10).op("aten::mm", 240, 10);
  builder.op("torch::autograd::CppNode<Lookup>", 400, 100);
  builder.op("Optimizer.step#SGD.step", 600, 100).op("aten::add_", 610, 10);
  EXPECT_THAT(names(of_kineto(builder)),
              ElementsAre("aten::mm", "aten::sum", "triton_poi_fused_add_0?", "aten::mm", "aten::add_"));
}

TEST(DispatchOps, WithoutAFormulaItIsTakenApartByTheProductsInIt) {
  TimelineBuilder builder;
  builder.op("aten::_native_multi_head_attention", 0, 100);
  builder.op("aten::linear", 1, 20).op("aten::addmm", 2, 10);
  builder.op("aten::scaled_dot_product_attention", 30, 20).op("aten::linear", 60, 20);
  builder.op("aten::nonzero", 200, 100).op("aten::copy_", 210, 20);  // no product in it
  builder.op("vllm::gemm", 400, 100).op("aten::mm", 410, 20);
  builder.op("vllm::attention", 600, 100).op("aten::empty", 610, 20);
  builder.op("aten::lstm", 800, 100).op("aten::_cudnn_rnn", 810, 20).op("aten::mm", 850, 20);
  EXPECT_THAT(names(of_kineto(builder)),
              ElementsAre("aten::_native_multi_head_attention?", "aten::linear",
                          "aten::scaled_dot_product_attention", "aten::linear", "aten::nonzero",
                          "vllm::gemm?", "aten::mm", "vllm::attention", "aten::lstm"));
}

TEST(DispatchOps, AViewIsOneUnlessItCopies) {
  TimelineBuilder builder;
  builder.op("aten::reshape", 0, 10).op("aten::view", 1, 5);
  builder.op("aten::reshape", 20, 10).op("aten::clone", 21, 8).op("aten::copy_", 22, 6);
  builder.op("aten::item", 40, 10).op("aten::_local_scalar_dense", 41, 8);
  EXPECT_THAT(names(of_kineto(builder)),
              ElementsAre("aten::reshape", "aten::reshape?", "aten::clone", "aten::item"));
}

TEST(DispatchOps, NamesOfOtherFormatsAreOps) {
  TimelineBuilder builder;
  builder.op("Conv_12", 0, 10).op("MatMul", 20, 10);
  Timeline timeline = builder.build();
  timeline.format = "other";
  EXPECT_THAT(names(timeline), ElementsAre("Conv_12", "MatMul"));
}

TEST(DispatchOps, ThreadsApart) {
  TimelineBuilder builder;
  builder.op("aten::conv2d", 0, 100).op("aten::relu", 10, 20, 1);
  builder.launch(20, 5, 1, 1).kernel("relu", 40, 5, 1);
  const Timeline timeline = of_kineto(builder);
  const DispatchOps ops = find_dispatch_ops(timeline);
  EXPECT_THAT(names(timeline), ElementsAre("aten::conv2d", "aten::relu"));
  EXPECT_EQ(ops.nodes[1].parent, kNoNode);
  EXPECT_EQ(ops.enclosing[2], 1U);
}

TEST(DispatchOps, ModulesFromCallsAndRanges) {
  TimelineBuilder builder;
  builder.python("nn.Module: Net_0", 0, 100).python("forward", 1, 98).python("nn.Module: Linear_0", 5, 20);
  builder.op("aten::linear", 6, 10);
  builder.python("nn.Module: Linear_1", 30, 20).op("aten::linear", 31, 10);
  builder.op("aten::relu", 60, 10).op("aten::relu", 200, 10);
  builder.annotation("layer1.0.conv1", 300, 20).op("aten::conv2d", 301, 10);
  builder.annotation("Optimizer.step#SGD.step", 400, 20).op("aten::add_", 401, 10);
  builder.annotation("DistributedDataParallel.forward", 500, 20).op("aten::add_", 501, 10);
  const Timeline timeline = of_kineto(builder);
  const DispatchOps ops = find_dispatch_ops(timeline);
  std::vector<std::string> modules;
  for (const OpNode& node : ops.nodes) modules.push_back(ops.modules[node.module]);
  EXPECT_THAT(modules,
              ElementsAre("Net_0.Linear_0", "Net_0.Linear_1", "Net_0", "", "layer1.0.conv1", "", ""));
}

// Calls that call themselves: the path ends, and so does the work.
TEST(DispatchOps, DeepNesting) {
  TimelineBuilder builder;
  for (int i = 0; i < 50'000; ++i) builder.python("nn.Module: Layer_0", i, 200'000 - 2 * i);
  for (int i = 0; i < 50'000; ++i) builder.op("aten::mul", 60'000 + i / 1000, 10'000 - i / 1000);
  const Timeline timeline = of_kineto(builder);
  const DispatchOps ops = find_dispatch_ops(timeline);
  EXPECT_LT(ops.modules.size(), 200U);
  EXPECT_EQ(ops.nodes.back().owner, 0U);
}

}  // namespace
}  // namespace deepgap::trace
