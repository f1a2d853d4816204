#include "trace/loadgen/loadgen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/quality.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::optional<double> reported(const Measurement& measurement, std::string_view metric) {
  for (const ReportedValue& value : measurement.reported) {
    if (value.metric == metric) return value.value;
  }
  return std::nullopt;
}

std::string setting(const Measurement& measurement, std::string_view name) {
  for (const Setting& each : measurement.settings) {
    if (each.name == name) return each.effective.value_or("");
  }
  return "";
}

constexpr std::string_view kServer = R"(================================================
MLPerf Results Summary
================================================
SUT name : Mine
Scenario : Server
Mode     : PerformanceOnly
Scheduled samples per second : 100.5
Result is : INVALID
  Performance constraints satisfied : NO
  Min duration satisfied : Yes
  Min queries satisfied : NO

Completed samples per second    : 99.25

Min latency (ns)                : 1000
50.00 percentile latency (ns)   : 2000
99.90 percentile latency (ns)   : 9000

target_latency (ns): 1500
qsl_rng_seed : 10003631887983097364

2 warnings encountered. See detailed log.

3 ERRORS encountered. See detailed log.
)";

TEST(Loadgen, ASummaryIsAMeasurement) {
  const auto content = read_content(kServer);
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "loadgen-summary");
  ASSERT_THAT(content->measurements, SizeIs(1));
  const Measurement& measurement = content->measurements[0];
  EXPECT_EQ(measurement.key.workload.mode, Mode::kServer);
  EXPECT_EQ(reported(measurement, "throughput"), 99.25) << "what was completed, not what was scheduled";
  EXPECT_EQ(reported(measurement, "minimum"), 1000);
  EXPECT_EQ(reported(measurement, "p50"), 2000);
  EXPECT_EQ(reported(measurement, "p99_9"), 9000);
  EXPECT_EQ(reported(measurement, "p99"), std::nullopt);
  EXPECT_EQ(setting(measurement, "loadgen.scheduled_samples_per_second"), "100.5");
  EXPECT_EQ(setting(measurement, "loadgen.target_latency_ns"), "1500");
  EXPECT_EQ(setting(measurement, "loadgen.warnings"), "2");
  EXPECT_EQ(measurement.diagnostics[0].id, "run_not_valid");
  EXPECT_THAT(measurement.diagnostics[0].text, AllOf(HasSubstr("INVALID"), HasSubstr("latency constraint"),
                                                     HasSubstr("too few queries"), HasSubstr("3 errors")));
  EXPECT_THAT(content->diagnostics, IsEmpty());
  EXPECT_EQ(judge(*content), Verdict::kUsable);
}

TEST(Loadgen, TheEndIsMissedWhereItIsNotThere) {
  const auto content = read_content(kServer.substr(0, kServer.find("target_latency")));
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(reported(content->measurements.at(0), "p50"), 2000);
  ASSERT_THAT(content->diagnostics, SizeIs(1));
  EXPECT_EQ(content->diagnostics[0].id, "file_cut_off");
  EXPECT_EQ(judge(*content), Verdict::kUsableWithLoss);
}

TEST(Loadgen, OfQueriesAndSamplesTheQueriesCount) {
  std::string text(kServer);
  text.replace(text.find("Server"), 6, "MultiStream");
  text += "50.00 percentile latency (ns)   : 7\nsamples_per_query : 8\n";
  const auto content = read_content(text);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(reported(content->measurements.at(0), "p50"), 2000);
  EXPECT_EQ(content->measurements[0].key.workload.batch, 8);
}

TEST(Loadgen, ARunForAccuracyHasNoResults) {
  const auto content =
      read_content("\nNo warnings encountered during test.\n\nNo errors encountered during test.\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_THAT(content->measurements, IsEmpty());
  EXPECT_EQ(content->diagnostics.at(0).id, "no_results");
  EXPECT_EQ(judge(*content), Verdict::kUnusable);
}

TEST(Loadgen, ADetailLogIsTheSameMeasurement) {
  const auto entry = [](const std::string& key, const std::string& value, bool error = false) {
    return ":::MLLOG {\"key\": \"" + key + "\", \"value\": " + value +
           ", \"time_ms\": 1.0, \"metadata\": {\"is_error\": " + (error ? "true" : "false") + "}}\n";
  };
  const auto content = read_content(
      entry("loadgen_version", "\"3.0\"") + entry("test_datetime", "\"2023-02-28T21:24:13Z\"") +
      entry("effective_scenario", "\"Server\"") + entry("result_completed_samples_per_sec", "99.25") +
      entry("result_99.00_percentile_latency_ns", "7391395") + entry("result_query_count", "2791207") +
      entry("generic_message", "\"odd\"", true) + ":::MLLOG {\"key\": \n" +
      entry("result_validity", "\"VALID\""));
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "loadgen-detail");
  const Measurement& measurement = content->measurements.at(0);
  EXPECT_EQ(measurement.key.workload.mode, Mode::kServer);
  EXPECT_EQ(reported(measurement, "throughput"), 99.25);
  EXPECT_EQ(reported(measurement, "p99"), 7391395);
  EXPECT_EQ(measurement.reported[0].n, 2791207);
  EXPECT_EQ(measurement.created_realtime_ns, 1677619453000000000);  // date -u -d 2023-02-28T21:24:13Z +%s
  EXPECT_THAT(measurement.diagnostics.at(0).text, HasSubstr("1 errors"));
  ASSERT_THAT(content->diagnostics, SizeIs(1));
  EXPECT_EQ(content->diagnostics[0].id, "events_lost");
  EXPECT_EQ(content->diagnostics[0].count, 1);
}

TEST(Loadgen, AnOldDetailLogHasNoFigures) {
  const auto content = read_content(
      "\"pid\": 27, \"tid\": 27, \"ts\": 1559ns : SUT name : Mine\n"
      "\"pid\": 27, \"tid\": 27, \"ts\": 1600ns : Scenario : Offline\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "loadgen-detail");
  EXPECT_EQ(judge(*content), Verdict::kUnusable);
}

TEST(Loadgen, ThirdPartyFilesHaveTheIndexsFigures) {
  DEEPGAP_NEED_THIRD_PARTY();
  struct Checked {
    const char* file;
    const char* before;
    const char* metric;
    Mode mode;
  };
  for (const Checked& each : {Checked{"mlperf/v3.0_t4_resnet50_Offline_summary.txt",
                                      "Samples per second = ", "throughput", Mode::kThroughput},
                              Checked{"mlperf/v3.0_t4_resnet50_SingleStream_summary.txt",
                                      "90th percentile latency (ns) = ", "p90", Mode::kLatency},
                              Checked{"mlperf/v3.0_h100pcie_resnet50_Offline_summary.txt",
                                      "Samples per second = ", "throughput", Mode::kThroughput},
                              Checked{"mlperf/v0.7_t4_bert-99_Offline_summary.txt",
                                      "Samples per second = ", "throughput", Mode::kThroughput}}) {
    const auto content = read_file(kThirdParty + each.file);
    ASSERT_TRUE(content.ok()) << content.error().message();
    const Measurement& measurement = content->measurements.at(0);
    EXPECT_EQ(reported(measurement, each.metric), std::stod(index_value(each.file, each.before, ";")))
        << each.file;
    EXPECT_EQ(measurement.key.workload.mode, each.mode) << each.file;
    EXPECT_EQ(setting(measurement, "loadgen.result"), index_value(each.file, "valid ", ".")) << each.file;
    EXPECT_EQ(judge(*content), Verdict::kUsable) << each.file;
  }
  // The summary and the detail log of one run.
  const auto summary = read_file(kThirdParty + "mlperf/v3.0_t4_resnet50_Server_summary.txt");
  const auto detail = read_file(kThirdParty + "mlperf/v3.0_t4_resnet50_Server_detail.txt");
  ASSERT_TRUE(summary.ok() && detail.ok());
  const Measurement& a = summary->measurements.at(0);
  const Measurement& b = detail->measurements.at(0);
  EXPECT_EQ(
      setting(a, "loadgen.scheduled_samples_per_second"),
      index_value("mlperf/v3.0_t4_resnet50_Server_summary.txt", "Scheduled samples per second = ", ";"));
  ASSERT_EQ(a.reported.size(), 10U);
  ASSERT_EQ(b.reported.size(), 10U);
  for (const ReportedValue& value : a.reported)
    EXPECT_EQ(reported(b, value.metric), value.value) << value.metric;
  EXPECT_THAT(detail->diagnostics, IsEmpty());
  EXPECT_EQ(b.reported[0].n, 2791207);
}

}  // namespace
}  // namespace deepgap::trace
