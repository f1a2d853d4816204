#include "trace/ort_profile/ort_profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/attribution.h"
#include "trace/quality.h"
#include "trace/steps.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string event(const char* category, const std::string& name, int start, int duration,
                  const std::string& arguments = "") {
  return std::string("{\"cat\" : \"") + category +
         "\",\"pid\" :6,\"tid\" :6,\"dur\" :" + std::to_string(duration) +
         ",\"ts\" :" + std::to_string(start) + ",\"ph\" : \"X\",\"name\" :\"" + name + "\",\"args\" : {" +
         arguments + "}}";
}

const std::string kConv =
    R"("op_name" : "Conv","provider" : "CPUExecutionProvider","input_type_shape" : [{"float":[1,3,8,8]},{"float":[4,3,3,3]}])";

std::string run_at(int start) {
  return event("Session", "model_run", start, 100) + ",\n" +
         event("Session", "SequentialExecutor::Execute", start + 5, 90) + ",\n" +
         event("Node", "a_fence_before", start + 9, 1) + ",\n" +
         event("Node", "a_kernel_time", start + 10, 60, kConv) + ",\n" +
         event("Node", "b_kernel_time", start + 75, 15, R"("op_name" : "Relu")");
}

const std::string kFile = "[\n" + event("Session", "session_initialization", 0, 500) + ",\n" + run_at(600) +
                          ",\n" + run_at(710) + "\n]\n";

TEST(OrtProfile, NodesAreOpsAndRunsAreSteps) {
  const auto content = read_content(kFile);
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "onnxruntime-profile");
  const Timeline& timeline = *content->timeline;
  EXPECT_EQ(timeline.engine, "onnxruntime");
  EXPECT_EQ(timeline.counts.read, 11);
  EXPECT_EQ(timeline.counts.kept, 7);
  EXPECT_EQ(timeline.counts.ignored, 4);
  const Total ops = total_of(timeline, Role::kOp);
  EXPECT_EQ(ops.count, 4);
  EXPECT_EQ(ops.ns, 150'000);
  const Event& convolution = timeline.events[2];
  EXPECT_EQ(timeline.texts[convolution.name], "Conv");
  EXPECT_EQ(timeline.texts[timeline.ops[convolution.detail].shapes], "[[1,3,8,8],[4,3,3,3]]");
  EXPECT_EQ(timeline.texts[timeline.ops[convolution.detail].dtypes], R"(["float","float"])");
  EXPECT_THAT(timeline.facts,
              ::testing::Contains(::testing::Pair("providers", "CPUExecutionProvider (2 nodes)")));

  const Steps steps = find_steps(timeline);
  EXPECT_EQ(steps.basis, StepBasis::kAnnotations);
  ASSERT_THAT(steps.steps, SizeIs(2)) << "the initialisation is none";
  EXPECT_EQ(steps.steps[0].wall_ns(), 100'000);
  const Attribution attribution = attribute(timeline, steps);
  EXPECT_EQ(attribution.steps[0].of(Label::kKernel), 75'000);
  EXPECT_EQ(attribution.steps[0].of(Label::kIdleFramework), 25'000);
  EXPECT_EQ(judge(timeline, steps, attribution).verdict, Verdict::kUsable);
}

TEST(OrtProfile, KernelsOfADeviceAreItsWork) {
  const auto content = read_content("[" + event("Session", "model_run", 0, 100) + "," +
                                    event("Kernel", "gemm", 20, 30, R"("stream" : "13")") + "," +
                                    event("Kernel", "MemcpyHostToDevice", 60, 5) + "]");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(total_of(*content->timeline, Role::kKernel).ns, 30'000);
  EXPECT_EQ(total_of(*content->timeline, Role::kCopy).ns, 5'000);
  EXPECT_EQ(read_content("\xef\xbb\xbf" + kFile)->format, "onnxruntime-profile");
}

TEST(OrtProfile, WhatIsCutOffOrNegativeIsCounted) {
  const auto cut = read_content(kFile.substr(0, kFile.size() - 100));
  ASSERT_TRUE(cut.ok()) << cut.error().message();
  EXPECT_EQ(cut->timeline->counts.lost, 1);
  EXPECT_EQ(cut->timeline->diagnostics.at(0).id, "file_cut_off");
  const auto negative = read_content("[" + event("Session", "model_run", 0, 100) + "," +
                                     event("Node", "a_kernel_time", 10, -5, kConv) + "]");
  ASSERT_TRUE(negative.ok());
  EXPECT_EQ(negative->timeline->counts.lost, 1);
  EXPECT_EQ(negative->timeline->diagnostics.at(0).id, "negative_durations");
}

TEST(OrtProfile, ThirdPartyFilesHaveTheIndexsFigures) {
  DEEPGAP_NEED_THIRD_PARTY();
  const auto generated = read_file(kThirdParty + "ort/generated/ort1.30_cpu_resnet50_1thread.json");
  ASSERT_TRUE(generated.ok()) << generated.error().message();
  const char* const kGenerated = "ort/generated/ort1.30_cpu_resnet50_1thread.json";
  EXPECT_EQ(generated->timeline->counts.read, std::stol(index_value(kGenerated, "199,195 B. ", " events")));
  EXPECT_NEAR(static_cast<double>(total_of(*generated->timeline, Role::kOp).ns) / 1e6,
              std::stod(index_value(kGenerated, "kernel_time ", " ms")), 0.0005);
  const Steps steps = find_steps(*generated->timeline);
  ASSERT_THAT(steps.steps, SizeIs(5));
  std::vector<std::string> walls;
  for (const Step& step : steps.steps)
    walls.push_back(fmt::format("{:.2f}", static_cast<double>(step.wall_ns()) / 1e6));
  EXPECT_EQ(fmt::format("{}", fmt::join(walls, ", ")), index_value(kGenerated, "model_run [", "]"));

  const auto olive = read_file(kThirdParty + "ort/olive_mkldnn_1_thread.json");
  ASSERT_TRUE(olive.ok()) << olive.error().message();
  EXPECT_EQ(olive->timeline->counts.read, 2060);
  EXPECT_EQ(olive->timeline->counts.lost, 0);
  EXPECT_EQ(index_value("ort/olive_mkldnn_1_thread.json", "wall ", " ms"), "23,908.738");
  EXPECT_EQ(olive->timeline->window_end_ns - olive->timeline->window_start_ns, 23'908'738'000);
  EXPECT_THAT(find_steps(*olive->timeline).steps, SizeIs(21));
  EXPECT_THAT(read_file(kThirdParty + "ort/generated/ort1.30_failed_run_empty.json").error().message(),
              HasSubstr("an empty file"));
}

}  // namespace
}  // namespace deepgap::trace
