#include "trace/perf_analyzer/perf_analyzer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/quality.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kNames =
    "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,Server Compute Input,"
    "Server Compute Infer,Server Compute Output,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency";

std::vector<std::string> figures(const Measurement& measurement) {
  std::vector<std::string> texts;
  for (const ReportedValue& value : measurement.reported) {
    texts.push_back(value.metric + "=" + std::to_string(static_cast<std::int64_t>(value.value)) + " " +
                    std::string(name_of(value.unit)) + " run " + std::to_string(value.process));
  }
  return texts;
}

TEST(PerfAnalyzer, ARowIsAMeasurement) {
  const auto content =
      read_content(kNames + "\n1,100,4,223,31,20,34,23,1,322,428,486,598\n4,350,1,2,3,4,5,6,7,8,9,10,11\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "perf-analyzer");
  ASSERT_THAT(content->measurements, SizeIs(2));
  EXPECT_EQ(content->measurements[0].key.workload.mode, Mode::kLatency);
  EXPECT_EQ(content->measurements[1].key.workload.mode, Mode::kThroughput);
  EXPECT_EQ(content->measurements[0].key.engine, "triton");
  EXPECT_THAT(figures(content->measurements[0]),
              ElementsAre("throughput=100 samples/s run 0", "p50=322000 ns run 0", "p90=428000 ns run 0",
                          "p95=486000 ns run 0", "p99=598000 ns run 0"));
  ASSERT_THAT(content->op_tables, SizeIs(2));
  EXPECT_EQ(content->op_tables[1].measurement, content->measurements[1].id);
  ASSERT_THAT(content->op_tables[0].rows, SizeIs(7));
  EXPECT_EQ(content->op_tables[0].rows[2].record.name, "Server Queue");
  EXPECT_EQ(content->op_tables[0].rows[2].record.duration, Nanoseconds{31'000});
}

TEST(PerfAnalyzer, RatesAreAScheduleAndDevicesHaveAPlaceEach) {
  std::string names = kNames;
  names.replace(0, 11, "Request Rate");
  const auto content =
      read_content(names + ",Avg GPU Power Usage\n12.5,100,,,,,,,,1,2,3,4,GPU-a:50;GPU-b:60;,\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->measurements.at(0).key.workload.mode, Mode::kServer);
  EXPECT_THAT(figures(content->measurements[0]),
              ::testing::IsSupersetOf({"power=50 W run 0", "power=60 W run 1"}));
  EXPECT_THAT(content->op_tables, IsEmpty()) << "no parts were given";
}

TEST(PerfAnalyzer, WhatIsNoNumberIsSaidWithItsLine) {
  const auto cut = read_content(kNames + "\n1,100,4,2\n");
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().message(), HasSubstr("line 2: expected 13 columns"));
  const auto word = read_content(kNames + "\n1,fast,4,223,31,20,34,23,1,322,428,486,598\n");
  ASSERT_FALSE(word.ok());
  EXPECT_THAT(word.error().message(), HasSubstr("in the column Inferences/Second, found 'fast'"));
  const auto none = read_content(kNames + "\n0,1,4,223,31,20,34,23,1,322,428,486,598\n");
  EXPECT_FALSE(none.ok());
  const auto empty = read_content(kNames + "\n");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(judge(*empty), Verdict::kUnusable);
}

TEST(PerfAnalyzer, TheThirdPartyFileHasItsFigures) {
  DEEPGAP_NEED_THIRD_PARTY();
  const auto content = read_file(kThirdParty + "triton-perf/perf_analyzer_add_sub_gpu_metrics.csv");
  ASSERT_TRUE(content.ok()) << content.error().message();
  ASSERT_THAT(content->measurements, SizeIs(1));
  EXPECT_THAT(figures(content->measurements[0]),
              ElementsAre("throughput=5868 samples/s run 0", "p50=322000 ns run 0", "p90=428000 ns run 0",
                          "p95=486000 ns run 0", "p99=598000 ns run 0", "mean=339000 ns run 0",
                          "device_utilisation=0 ratio run 0", "power=56 W run 0",
                          "peak_device_memory=872415232 B run 0"));
  EXPECT_EQ(judge(*content), Verdict::kUsable);
}

}  // namespace
}  // namespace deepgap::trace
