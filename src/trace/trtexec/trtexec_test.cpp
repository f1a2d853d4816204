#include "trace/trtexec/trtexec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "trace/quality.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kTimes = R"([
  { "startEnqMs" : 3.78918, "endEnqMs" : 3.82194, "startH2dMs" : 3.68333, "computeMs" : 1.93843, "latencyMs" : 2.93843 }
, { "startEnqMs" : 1, "endEnqMs" : 1.5, "startH2dMs" : 1.25, "computeMs" : 0, "latencyMs" : 0.000001 }
])";

TEST(TrtexecTimes, AQueryIsASample) {
  const auto content = read_content(kTimes);
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "trtexec-times");
  const Measurement& measurement = content->measurements.at(0);
  EXPECT_EQ(measurement.key.engine, "tensorrt");
  ASSERT_THAT(measurement.processes, SizeIs(1));
  const SampleColumns& samples = measurement.processes[0].samples;
  EXPECT_THAT(samples.start_ns, ElementsAre(1'250'000, 3'683'330)) << "in the order of their starts";
  EXPECT_THAT(samples.host_ns, ElementsAre(1, 2'938'430));
  EXPECT_THAT(samples.enqueue_ns, ElementsAre(500'000, 32'760));
  EXPECT_THAT(samples.device_ns, ElementsAre(0, 1'938'430));
  EXPECT_EQ(judge(*content), Verdict::kUsable);
}

TEST(TrtexecTimes, OldNamesAndRunsBehindEachOther) {
  const auto content = read_content(
      "[{\"startInMs\": 5, \"latencyMs\": 2, \"endToEndMs\": 3}]\n[{\"startInMs\": 1, \"latencyMs\": 4}, 7, "
      "{\"startInMs\": 9, "
      "\"latencyMs\": -1}]");
  ASSERT_TRUE(content.ok()) << content.error().message();
  const Measurement& measurement = content->measurements.at(0);
  ASSERT_THAT(measurement.processes, SizeIs(2));
  EXPECT_EQ(measurement.planned_processes, 2);
  EXPECT_EQ(measurement.processes[1].index, 1);
  EXPECT_THAT(measurement.processes[1].samples.host_ns, ElementsAre(4'000'000));
  EXPECT_THAT(measurement.processes[0].samples.enqueue_ns, IsEmpty());
  EXPECT_THAT(measurement.processes[0].samples.device_ns, IsEmpty());
  ASSERT_THAT(content->diagnostics, SizeIs(1));
  EXPECT_EQ(content->diagnostics[0].count, 1);
}

TEST(TrtexecTimes, VersionSevenCalledTheStampsByEachOthersNames) {
  const auto content = read_content(
      "[{\"startEnqMs\": 5, \"endEnqMs\": 5.25, \"startInMs\": 4, \"endInMs\": 4.125, \"inMs\": 0.25, "
      "\"latencyMs\": 2}]");
  ASSERT_TRUE(content.ok());
  const SampleColumns& samples = content->measurements.at(0).processes.at(0).samples;
  EXPECT_THAT(samples.start_ns, ElementsAre(5'000'000)) << "of the copy to the device";
  EXPECT_THAT(samples.enqueue_ns, ElementsAre(125'000));
}

// Found by fuzzing: they were of list -1.
TEST(TrtexecTimes, ObjectsInNoListAreNoQueries) {
  const auto content = read_content(kTimes + "{{\"startEnqMs\":1,\"latencyMs\":2}}");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->measurements.at(0).sample_count(), 2) << "those of the list before";
}

TEST(TrtexecLayers, ANumberBeyondADoubleIsSaid) {
  const auto content = read_content("{\"Layers\":[{\"Name\":\"a\",\"Count\":1e999}]}");
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(content.error().message(), ::testing::HasSubstr("found one beyond"));
}

TEST(TrtexecTimes, CutFilesGiveWhatTheyHave) {
  const auto content = read_content(kTimes.substr(0, kTimes.size() - 20));
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(content->measurements.at(0).sample_count(), 1);
  EXPECT_EQ(content->diagnostics.at(0).id, "file_cut_off");
  EXPECT_EQ(judge(*content), Verdict::kUsableWithLoss);
}

const std::string kProfile = R"([
  { "count" : 4 }
, { "name" : "Conv_0 + Relu_1", "timeMs" : 8, "averageMs" : 2, "medianMs" : 1.5, "percentage" : 80 }
, { "name" : "Reformat", "timeMs" : 0, "averageMs" : 0, "percentage" : 0 }
, { "name" : "MaxPool_2", "timeMs" : 2, "averageMs" : 0.5, "percentage" : 20 }
])";

TEST(TrtexecProfile, LayersWithTheirMeans) {
  const auto content = read_content(kProfile);
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "trtexec-profile");
  const OpTable& table = content->op_tables.at(0);
  ASSERT_THAT(table.rows, SizeIs(3));
  EXPECT_EQ(table.per, OpTable::Per::kInference);
  EXPECT_EQ(table.rows[0].record.duration, Nanoseconds{2'000'000});
  EXPECT_EQ(table.rows[0].count, 4);
  EXPECT_EQ(table.rows[0].figures.at(0).value, "1500000");
  EXPECT_EQ(table.rows[1].record.duration, Nanoseconds{0}) << "layers without time are layers";
  EXPECT_EQ(judge(*content), Verdict::kUsable);
  const auto mended = read_content(
      "\xef\xbb\xbf[{\"count\": 4}, {\"name\": \"a\\q\", \"averageMs\": 0, \"percentage\" : -nan}]");
  ASSERT_TRUE(mended.ok()) << mended.error().message();
  EXPECT_THAT(mended->op_tables.at(0).rows, SizeIs(1));
  EXPECT_EQ(mended->diagnostics.at(0).id, "text_repaired");
  const auto two = read_content(kProfile + kProfile);
  EXPECT_THAT(two->op_tables, SizeIs(2));
  const auto cut = read_content(kProfile.substr(0, kProfile.find("MaxPool")));
  ASSERT_TRUE(cut.ok());
  EXPECT_THAT(cut->diagnostics, SizeIs(2)) << "cut off, and a fifth of the time is missing";
}

TEST(TrtexecLayers, DetailedAndByName) {
  const auto content =
      read_content(R"({"Layers": [{"Name": "Conv_5", "LayerType": "CaskConvolution", "Inputs": [
    {"Name": "x", "Dimensions": [32,64,56,56], "Format/Datatype": "Channel major FP16 format where channel % 8 == 0"}],
    "ParameterType": "Convolution", "TacticName": "sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize256x64x32_x",
    "TacticValue": "0x1"}, "plain name", {"LayerType": "NoOp"}], "Bindings": ["x"]})");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "trtexec-layers");
  const OpTable& table = content->op_tables.at(0);
  EXPECT_FALSE(table.timed);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(table.rows[0].record.op_class, "convolution");
  EXPECT_EQ(table.rows[0].record.precision_path, Precision::kFp16);
  EXPECT_THAT(table.rows[0].record.shapes, ElementsAre(std::vector<std::int64_t>{32, 64, 56, 56}));
  EXPECT_THAT(table.rows[0].record.dtypes, ElementsAre("FP16"));
  EXPECT_EQ(table.rows[1].record.name, "plain name");
  EXPECT_EQ(content->diagnostics.at(0).count, 1);
}

double mean_ms(const std::vector<std::int64_t>& ns) {
  return std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size()) / 1e6;
}

TEST(Trtexec, ThirdPartyFilesHaveTheIndexsFigures) {
  DEEPGAP_NEED_THIRD_PARTY();
  const auto read = [](const std::string& name) {
    auto content = read_file(kThirdParty + name);
    EXPECT_TRUE(content.ok()) << name;
    return content.ok() ? std::move(content).value() : FileContent{};
  };
  for (const std::string file :
       {"trtexec/trex_resnet18_a100_fp32.timing.json", "trtexec/trex_resnet18_a100_fp16.timing.json.gz"}) {
    const FileContent content = read(file);
    const SampleColumns& samples = content.measurements.at(0).processes.at(0).samples;
    EXPECT_EQ(samples.size(), std::stoul(index_value(file, "list of ", ";"))) << file;
    EXPECT_NEAR(mean_ms(samples.device_ns), std::stod(index_value(file, "computeMs mean ", ";")), 0.0005)
        << file;
    EXPECT_NEAR(mean_ms(samples.host_ns),
                std::stod(index_value(file, "latencyMs mean ", ".\n").empty()
                              ? index_value(file, "computeMs mean ", ";")
                              : index_value(file, "latencyMs mean ", ".\n")),
                0.0005);
    EXPECT_EQ(judge(content), Verdict::kUsable) << file;
  }
  for (const std::string precision : {"fp32", "fp16"}) {
    const std::string file = "trtexec/trex_resnet18_a100_" + precision + ".profile.json";
    const FileContent content = read(file);
    const OpTable& table = content.op_tables.at(0);
    std::int64_t sum = 0;
    std::size_t without = 0;
    for (const OpTable::Row& row : table.rows) {
      sum += row.record.duration.count();
      without += row.record.duration.count() == 0 ? 1U : 0U;
    }
    EXPECT_NEAR(static_cast<double>(sum) / 1e6, std::stod(index_value(file, "averageMs ", ",")), 0.0005)
        << file;
    EXPECT_EQ(without, std::stoul(index_value(file, "percentage 100, ", " zero-time"))) << file;
    EXPECT_EQ(judge(content), Verdict::kUsable) << file;

    const std::string graph = "trtexec/trex_resnet18_a100_" + precision + ".graph.json";
    const FileContent layers = read(graph);
    EXPECT_EQ(layers.op_tables.at(0).rows.size(), std::stoul(index_value(graph, "Layers {'dict': ", "}")))
        << graph;

    const FileContent summary = read("trtexec/trex_resnet18_a100_" + precision + ".profile.metadata.json");
    const Measurement& measurement = summary.measurements.at(0);
    EXPECT_EQ(measurement.device.name, "NVIDIA A100 80GB PCIe");
    EXPECT_EQ(measurement.key.workload.batch, 32);
  }
}

}  // namespace
}  // namespace deepgap::trace
