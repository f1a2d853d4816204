#include "trace/sensor_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr SensorLog::Value power(double watts) {
  return {.quantity = "power", .unit = Unit::kWatts, .value = watts};
}

std::size_t add_device(SensorLog& log, const std::string& key, const std::vector<std::string>& sources) {
  const auto device = log.device(key, sources, "NVIDIA H200");
  EXPECT_TRUE(device.ok());
  return *device;
}

TEST(SensorLog, PutsRowsInTheOrderOfTheirTimesAndSaysSo) {
  SensorLog log("log");
  const std::size_t gpu = add_device(log, "0", {"gpu0"});
  for (const std::int64_t at : {10, 30, 20, 40, 20}) {
    EXPECT_TRUE(log.add_row(gpu, at, std::vector{power(static_cast<double>(at))}).ok());
  }
  const FileContent content = log.finished(true);
  ASSERT_THAT(content.telemetry->series, SizeIs(1));
  EXPECT_THAT(content.telemetry->series[0].at_ns, ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(content.telemetry->series[0].values, ElementsAre(10, 20, 30, 40));
  EXPECT_EQ(content.telemetry->series[0].device, "NVIDIA H200");
  ASSERT_THAT(content.diagnostics, SizeIs(2));
  EXPECT_EQ(content.diagnostics[0].id, "telemetry_clock_back");
  EXPECT_EQ(content.diagnostics[0].count, 1);
  EXPECT_THAT(content.diagnostics[0].text, HasSubstr("at most by 10 ns"));
  EXPECT_EQ(content.diagnostics[1].id, "telemetry_repeated");
  EXPECT_EQ(content.diagnostics[1].count, 1);
}

TEST(SensorLog, OfTwoValuesOfAQuantityTheFirstIsUsed) {
  SensorLog log("log");
  const std::size_t gpu = add_device(log, "0", {"gpu0"});
  for (const std::int64_t at : {1, 2})
    EXPECT_TRUE(log.add_row(gpu, at, std::vector{power(5), power(6)}).ok());
  const FileContent content = log.finished(true);
  ASSERT_THAT(content.telemetry->series, SizeIs(1));
  EXPECT_THAT(content.telemetry->series[0].values, ElementsAre(5, 5));
  EXPECT_THAT(content.diagnostics.at(0).text, HasSubstr("a second column of power"));
}

TEST(SensorLog, OtherQuantitiesOfTheSameMomentAreNoRepetition) {
  SensorLog log("log");
  const std::size_t gpu = add_device(log, "0", {"gpu0"});
  const SensorLog::Value limit{.quantity = "power.limit", .unit = Unit::kWatts, .value = 5};
  EXPECT_TRUE(log.add_row(gpu, 1, std::vector{power(5)}).ok());
  EXPECT_TRUE(log.add_row(gpu, 1, std::vector{limit}).ok());
  EXPECT_TRUE(log.add_row(gpu, 1, {}, 0).ok());
  EXPECT_TRUE(log.add_row(gpu, 1, {}, 1).ok());
  const FileContent content = log.finished(true);
  EXPECT_THAT(content.telemetry->series, SizeIs(3));
  EXPECT_THAT(content.diagnostics, IsEmpty());
}

TEST(SensorLog, OneCutIsSaidOnce) {
  SensorLog log("log");
  log.note_cut_off("the last line", Severity::kWarning);
  log.note_cut_off("the gzip stream", Severity::kNote);
  const FileContent content = log.finished(true);
  ASSERT_THAT(content.diagnostics, SizeIs(2));
  EXPECT_EQ(content.diagnostics[0].text, "the gzip stream");
  EXPECT_EQ(content.diagnostics[0].severity, Severity::kWarning);
}

TEST(SensorLog, ThrottleReasonsAreSeriesWhereTheyWereMet) {
  SensorLog log("log");
  const std::size_t gpu = add_device(log, "0", {"gpu0"});
  for (const auto& [at, mask] : {std::pair{1, 0U}, std::pair{2, 4U}, std::pair{3, 0x204U}}) {
    EXPECT_TRUE(log.add_row(gpu, at, {}, mask).ok());
  }
  const FileContent content = log.finished(true);
  ASSERT_THAT(content.telemetry->series, SizeIs(2));
  EXPECT_EQ(content.telemetry->series[0].quantity, "throttle.sw_power_cap");
  EXPECT_THAT(content.telemetry->series[0].values, ElementsAre(0, 1, 1));
  EXPECT_EQ(content.telemetry->series[1].quantity, "throttle.other");
  EXPECT_THAT(content.telemetry->series[1].values, ElementsAre(0, 0, 1));
  EXPECT_THAT(content.telemetry->facts,
              ElementsAre(Pair("gpu0 throttle reasons met", "sw_power_cap, other")));
}

TEST(SensorLog, DevicesHaveSourcesOfTheirOwn) {
  SensorLog log("log");
  const std::size_t first = add_device(log, "0 a", {"gpu0", "GPU-a"});
  const std::size_t second = add_device(log, "0 b", {"gpu0", "GPU-b"});
  const std::size_t third = add_device(log, "0 c", {"gpu0"});
  EXPECT_EQ(add_device(log, "0 a", {"gpu0", "GPU-a"}), first);
  for (const std::size_t device : {first, second, third}) {
    EXPECT_TRUE(log.add_row(device, 1, std::vector{power(1)}).ok());
    log.add_fact(device, "driver_version", "580");
    log.add_fact(device, "mode", device == second ? "b" : "a");
  }
  log.add_fact(first, "mode", "changed");
  const FileContent content = log.finished(true);
  std::vector<std::string> sources;
  for (const auto& series : content.telemetry->series) sources.push_back(series.source);
  EXPECT_THAT(sources, ElementsAre("gpu0", "GPU-b", "gpu0 (device 2)"));
  EXPECT_THAT(content.telemetry->facts, SizeIs(5));
  EXPECT_THAT(content.diagnostics.at(0).text, HasSubstr("mode (it changes)"));
}

TEST(SensorLog, HasNoMoreDevicesThanAMachine) {
  SensorLog log("log");
  for (int i = 0; i < 1024; ++i) add_device(log, std::to_string(i), {std::to_string(i)});
  const auto more = log.device("more", {}, "");
  ASSERT_FALSE(more.ok());
  EXPECT_THAT(more.error().message(), HasSubstr("at most 1024 devices"));
}

TEST(SensorLog, NothingIsSaid) {
  const FileContent content = SensorLog("log").finished(true);
  EXPECT_THAT(content.telemetry->series, IsEmpty());
  EXPECT_THAT(content.diagnostics.at(0).text, HasSubstr("no row has a value"));
}

}  // namespace
}  // namespace deepgap::trace
