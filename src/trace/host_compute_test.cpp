#include "trace/host_compute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "trace/attribution_labels.h"
#include "trace/kineto/kineto.h"
#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Beside what computes: a view, an op that wraps others, the time between ops.
TEST(HostCompute, AnOpThatComputesIsTheKernel) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 200)
      .op("aten::linear", 0, 50)  // 50: with the view in it
      .op("aten::t", 2, 5)
      .op("aten::addmm", 10, 38)
      .op("aten::view", 60, 10)
      .op("AddmmBackward0", 80, 50)  // of which 20 are its own
      .op("aten::mm", 90, 30)
      .op("my::fused", 150, 25)
      .op("aten::_to_copy", 180, 20)
      .op("aten::copy_", 185, 10);
  EXPECT_THAT(labels_of(builder.build()),
              ElementsAre(Pair("idle_framework", 85), Pair("kernel", 50 + 30 + 25 + 10)));
}

TEST(HostCompute, ThreadsShareTheTime) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100)
      .op("Conv", 0, 40, 0)
      .op("Relu", 30, 30, 1)
      .op("Reshape", 70, 20, 1);
  Timeline timeline = builder.build();
  timeline.format = "onnxruntime-profile";  // whose ops have such names
  EXPECT_THAT(labels_of(timeline), ElementsAre(Pair("idle_framework", 40), Pair("kernel", 60)));
}

TEST(HostCompute, SignsOfADeviceAreNoRunOnTheHost) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).op("aten::cudnn_convolution", 0, 40);
  const Timeline convolution = builder.build();
  EXPECT_EQ(unrecorded_device(convolution), "aten::cudnn_convolution runs on devices only");
  EXPECT_THAT(labels_of(convolution), ElementsAre(Pair("idle_unknown", 100)));
  TimelineBuilder other;
  Timeline allocated = other.op("aten::mm", 0, 40).build();
  EXPECT_EQ(unrecorded_device(allocated), std::nullopt);
  allocated.memory.push_back({.at_ns = 5, .bytes = 512, .device = -1});
  EXPECT_EQ(unrecorded_device(allocated), std::nullopt) << "the host's";
  allocated.memory.push_back({.at_ns = 5, .bytes = 512, .device = 0});
  EXPECT_EQ(unrecorded_device(allocated), "memory of a device was allocated");
}

// The records of the device are missing: the ops are not the work.
TEST(HostCompute, LaunchesAreNoRunOnTheHost) {
  TimelineBuilder builder;
  builder.annotation("ProfilerStep#1", 0, 100).op("aten::relu", 0, 40).launch(10, 5, 1);
  EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_unknown", 100)));
}

// Of these files the union of the ops that compute was made with a few lines of Python.
TEST(HostCompute, TracesOfTheHostAreItsOps) {
  const std::string folder = DEEPGAP_SOURCE_FOLDER "/../shared/traces/third-party/kineto/";
  Result<ByteSource> source = ByteSource::open(folder + "dtu_trace_2023.json");
  if (!source.ok()) GTEST_SKIP() << "there is no ../shared/traces/third-party";
  const Result<Timeline> timeline = read_kineto(*source);
  ASSERT_TRUE(timeline.ok());
  EXPECT_THAT(labels_of(*timeline), ElementsAre(Pair("idle_framework", 4259), Pair("kernel", 141'780)));
}

}  // namespace
}  // namespace deepgap::trace
