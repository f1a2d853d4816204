#include "trace/openvino_report/openvino_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/quality.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kFixtures = DEEPGAP_SOURCE_FOLDER "/tests/data/traces/openvino/";

std::optional<double> reported(const Measurement& measurement, std::string_view metric) {
  for (const ReportedValue& value : measurement.reported) {
    if (value.metric == metric) return value.value;
  }
  return std::nullopt;
}

TEST(OpenvinoReport, CsvAndJsonOfTheToolItself) {
  for (const char* file : {"report.csv", "report.json"}) {
    const auto content = read_file(kFixtures + file);
    ASSERT_TRUE(content.ok()) << content.error().message();
    EXPECT_EQ(content->format, "openvino-report");
    const Measurement& measurement = content->measurements.at(0);
    EXPECT_EQ(measurement.key.workload.model, "tiny") << "of the file, not its topology's name";
    EXPECT_EQ(measurement.key.engine, "openvino");
    EXPECT_EQ(measurement.key.device, "cpu");
    EXPECT_EQ(measurement.key.workload.batch, 1);
    EXPECT_EQ(measurement.key.workload.mode, Mode::kLatency);
    EXPECT_EQ(reported(measurement, "p50"), 30'000) << file;
    EXPECT_EQ(reported(measurement, "minimum"), 30'000) << file;
    EXPECT_EQ(measurement.reported.at(0).n, 20);
    EXPECT_EQ(judge(*content), Verdict::kUsable);
  }
  const auto csv = read_file(kFixtures + "report.csv");
  EXPECT_EQ(reported(csv->measurements[0], "throughput"), 4316.49);
  EXPECT_EQ(reported(csv->measurements[0], "maximum"), 200'000);
  EXPECT_EQ(reported(csv->measurements[0], "load_time"), 20'380'000 + 142'530'000);
  EXPECT_EQ(reported(csv->measurements[0], "first_call"), 3'330'000);
  const auto json = read_file(kFixtures + "report.json");
  EXPECT_EQ(reported(json->measurements[0], "throughput"), 2224.96);
}

TEST(OpenvinoReport, AnotherPercentileIsNotTheMedian) {
  const std::string setup =
      "Configuration setup\nnumber of parallel infer requests;4\nAPI;async\nprecision;bf16\n";
  const auto content = read_content("Command line parameters\n-latency_percentile;99\n" + setup +
                                    "Execution results\nlatency (ms);5.5\nthroughput;100\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  const Measurement& measurement = content->measurements.at(0);
  EXPECT_EQ(reported(measurement, "p99"), 5'500'000);
  EXPECT_EQ(reported(measurement, "p50"), std::nullopt);
  EXPECT_EQ(measurement.key.workload.mode, Mode::kThroughput);
  EXPECT_EQ(measurement.key.workload.precision, Precision::kBf16);
}

TEST(OpenvinoReport, WithoutResultsItIsUnusable) {
  const auto content = read_content("Configuration setup\nbatch size;1\n");
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(judge(*content), Verdict::kUnusable);
  const auto damaged = read_content("{\"configuration_setup\": {}, \"execution_results\": {\"throughput\": ");
  ASSERT_FALSE(damaged.ok());
  EXPECT_THAT(damaged.error().message(), HasSubstr("expected JSON to its end"));
}

TEST(OpenvinoCounters, LayersOfTheToolItself) {
  const auto content = read_file(kFixtures + "average_counters.csv");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "openvino-counters");
  const OpTable& table = content->op_tables.at(0);
  ASSERT_THAT(table.rows, SizeIs(12));
  const OpTable::Row& convolution = table.rows[3];
  EXPECT_EQ(convolution.record.name, "conv1");
  EXPECT_EQ(convolution.record.op_class, "convolution");
  EXPECT_EQ(convolution.record.duration, Nanoseconds{25'000});
  EXPECT_EQ(convolution.implementation, "brgconv_avx512_amx_bf16");
  EXPECT_EQ(convolution.record.precision_path, Precision::kBf16);
  EXPECT_EQ(convolution.figures.at(0).value, "EXECUTED");
  EXPECT_EQ(table.rows[0].record.precision_path, std::nullopt) << "what did not run has no arithmetic";
  EXPECT_THAT(content->diagnostics, IsEmpty());
  EXPECT_EQ(judge(*content), Verdict::kUsable);
}

TEST(OpenvinoCounters, JsonHasATableForEachInference) {
  const auto content = read_file(kFixtures + "detailed_counters.json");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->op_tables.at(0).title, "layers, inference 1");
  EXPECT_EQ(content->op_tables[0].rows.at(3).record.name, "conv1");
  EXPECT_EQ(content->op_tables[0].rows[3].record.duration, Nanoseconds{30'000});
  const auto average = read_file(kFixtures + "average_counters.json");
  ASSERT_TRUE(average.ok());
  EXPECT_THAT(average->op_tables.at(0).rows, SizeIs(1)) << "the tool writes the first layer alone";
}

TEST(OpenvinoCounters, WhatDoesNotSumIsSaid) {
  const std::string names = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms);\n";
  const auto content =
      read_content(names + "a;EXECUTED;Convolution;jit_avx2_FP32;0.5;0.5;\nb;EXECUTED\nTotal;;;;0.9;0.9;\n");
  ASSERT_TRUE(content.ok());
  ASSERT_THAT(content->diagnostics, SizeIs(2));
  EXPECT_EQ(content->diagnostics[0].id, "events_lost");
  EXPECT_EQ(content->diagnostics[1].id, "sums_differ");
  EXPECT_EQ(content->op_tables.at(0).rows[0].record.precision_path, Precision::kFp32);
  EXPECT_EQ(judge(*content), Verdict::kUsableWithLoss);
  EXPECT_EQ(judge(*read_content(names)), Verdict::kUnusable);
  const auto cut = read_content(names + "a;EXECUTED;Convolution;jit_avx2_FP32;0.5;0.5;\n");
  EXPECT_EQ(cut->diagnostics.at(0).id, "file_cut_off") << "the total is missing";
}

}  // namespace
}  // namespace deepgap::trace
