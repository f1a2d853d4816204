#include "trace/nvidia_smi/nvidia_smi_csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/time_text.h"
#include "trace/quality.h"
#include "trace/sensor_test_support.h"

namespace deepgap::trace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

FileContent content_of(const std::string& text, const ImportOptions& options = {}) {
  return sensors_of(text, "nvidia-smi-csv", options);
}

TEST(NvidiaSmiCsv, UnitsInNamesAndCellsAreTheSameAsNone) {
  const std::string rows[] = {
      "timestamp, index, name, utilization.gpu [%], memory.used [MiB], power.draw [W], clocks.current.sm "
      "[MHz], "
      "temperature.gpu, pstate, clocks_throttle_reasons.active, clocks_event_reasons.sw_power_cap\n"
      "2025/06/13 00:27:52.195, 0, NVIDIA H200, 98 %, 841 MiB, 33.09 W, 1980 MHz, 31, P8, "
      "0x0000000000000001, Active\n",
      "timestamp,index,gpu_name,utilization.gpu,memory.used,power.draw,clocks.sm,temperature.gpu,pstate,"
      "clocks_event_reasons.active,clocks_throttle_reasons.sw_power_cap\n"
      "2025-06-13T02:27:52.195+02:00,0,NVIDIA H200,98,841,33.09,1980,31,P8,0x1,Active\n"};
  for (const std::string& text : rows) {
    const FileContent content = content_of(text);
    EXPECT_TRUE(content.telemetry->has_time_of_day);
    const auto one = [&content](std::string_view quantity, Unit unit) {
      const TelemetryLog::Series& series = series_of(content, quantity, "gpu0");
      EXPECT_EQ(series.unit, unit) << quantity;
      EXPECT_EQ(series.device, "NVIDIA H200");
      EXPECT_THAT(series.at_ns, ElementsAre(1'749'774'472'195'000'000));
      return series.values.size() == 1 ? series.values[0] : -1;
    };
    EXPECT_DOUBLE_EQ(one("utilisation.gpu", Unit::kRatio), 0.98);
    EXPECT_DOUBLE_EQ(one("memory.used", Unit::kBytes), 841.0 * 1024 * 1024);
    EXPECT_DOUBLE_EQ(one("power", Unit::kWatts), 33.09);
    EXPECT_DOUBLE_EQ(one("clock.sm", Unit::kHertz), 1.98e9);
    EXPECT_DOUBLE_EQ(one("temperature", Unit::kCelsius), 31);
    EXPECT_DOUBLE_EQ(one("performance.state", Unit::kCount), 8);
    EXPECT_DOUBLE_EQ(one("throttle.gpu_idle", Unit::kCount), 1);
    EXPECT_DOUBLE_EQ(one("throttle.sw_power_cap", Unit::kCount), 1);
    EXPECT_THAT(content.telemetry->series, SizeIs(8));
    EXPECT_EQ(judge(content), Verdict::kUsable);
  }
}

TEST(NvidiaSmiCsv, TimesStandInAnyColumnAndForm) {
  EXPECT_THAT(
      series_of(content_of("power.draw [W], timestamp, index\n5 W, 1749774472.195, 0\n"), "power", "gpu0")
          .at_ns,
      ElementsAre(1'749'774'472'195'000'000));
  EXPECT_THAT(
      series_of(content_of("index, started, power.draw\n0, 1970-01-01T00:00:01Z, 5\n"), "power", "gpu0")
          .at_ns,
      ElementsAre(kSecond));
  const FileContent local = content_of("timestamp,index,power.draw\n1970/01/02 02:00:00.000, 0, 5\n",
                                       {.utc_offset_ns = 7200 * kSecond});
  EXPECT_THAT(series_of(local, "power", "gpu0").at_ns, ElementsAre(86'400 * kSecond));
  EXPECT_THAT(ids_of(local), IsEmpty());
  EXPECT_THAT(ids_of(content_of("timestamp,index,power.draw\n1970/01/02 02:00:00.000, 0, 5\n")),
              ElementsAre("telemetry_assumption"));
}

TEST(NvidiaSmiCsv, WithoutTimesRowsAreASecondApart) {
  const FileContent content = content_of("power.draw [W]\n5 W\n6 W\n");
  EXPECT_FALSE(content.telemetry->has_time_of_day);
  EXPECT_THAT(series_of(content, "power", "gpu").at_ns, ElementsAre(0, kSecond));
  EXPECT_THAT(ids_of(content), ElementsAre("telemetry_assumption"));
  EXPECT_THAT(series_of(content_of("33.09 W\n34 W\n"), "power", "gpu").values, ElementsAre(33.09, 34));
}

TEST(NvidiaSmiCsv, WithoutNamesOnlyWhatItsFormTellsIsUsed) {
  const FileContent content = content_of(
      "2026/04/25 16:06:06.780, 0 %, 1 %, 2 MiB, 20146 MiB, 27, 11.64 W, P8, Tesla T4\n"
      "2026/04/25 16:06:07.780, 5 %, 1 %, 2 MiB, 20146 MiB, 27, 12.00 W, P0, Tesla T4\n");
  EXPECT_THAT(series_of(content, "power", "Tesla T4").values, ElementsAre(11.64, 12));
  EXPECT_THAT(series_of(content, "performance.state", "Tesla T4").values, ElementsAre(8, 0));
  EXPECT_THAT(content.telemetry->series, SizeIs(2));
  EXPECT_THAT(ids_of(content), ElementsAre("telemetry_assumption", "columns_not_used"));
  EXPECT_THAT(content.diagnostics[1].text,
              AllOf(HasSubstr("column 2 ('0 %')"), HasSubstr("column 5 ('20146 MiB')"),
                    HasSubstr("column 6 ('27')")));
  // What is drawn, or a limit?
  const FileContent two = content_of("2026/04/25 16:06:06.780, 11.64 W, 70.00 W\n");
  EXPECT_THAT(two.telemetry->series, IsEmpty());
  EXPECT_EQ(judge(two), Verdict::kUnusable);
}

TEST(NvidiaSmiCsv, NamesMayStandBeforeEachRowAndChange) {
  const std::string names = "timestamp, index, power.draw [W]\n";
  const FileContent content =
      content_of(names + "2025/06/13 00:00:01.000, 0, 1 W\n" + names + "2025/06/13 00:00:02.000, 0, 2 W\n" +
                     "index, timestamp, temperature.gpu\n0, 2025/06/13 00:00:03.000, 44\n",
                 {.utc_offset_ns = kSecond});
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(1, 2));
  EXPECT_THAT(series_of(content, "temperature", "gpu0").values, ElementsAre(44));
  EXPECT_THAT(ids_of(content), IsEmpty());
}

TEST(NvidiaSmiCsv, WhatADeviceDoesNotHaveIsAbsentAndItsErrorsAreCounted) {
  const FileContent content = content_of(
      "timestamp, index, fan.speed [%], power.draw [W], temperature.gpu\n"
      "2025-06-13T00:00:01Z, 0, [N/A], [Unknown Error], 40\n"
      "2025-06-13T00:00:02Z, 0, [Not Supported], ERR!, 41\n"
      "2025-06-13T00:00:03Z, 0, [N/A], 70.5 W, 4 MiB\n");
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(70.5));
  EXPECT_THAT(series_of(content, "temperature", "gpu0").values, ElementsAre(40, 41));
  EXPECT_THAT(content.telemetry->series, SizeIs(2));
  ASSERT_THAT(ids_of(content), ElementsAre("telemetry_lost"));
  EXPECT_EQ(content.diagnostics[0].count, 3);
  EXPECT_THAT(content.diagnostics[0].text, HasSubstr("line 2, power.draw: '[Unknown Error]'"));
  EXPECT_EQ(judge(content), Verdict::kUsableWithLoss);
}

TEST(NvidiaSmiCsv, DevicesAreToldByWhateverNamesThem) {
  const FileContent content = content_of(
      "timestamp, uuid, name, pci.bus_id, driver_version, power.draw [W]\n"
      "2025-06-13T00:00:01Z, GPU-aa, NVIDIA A, 00000000:01:00.0, 580.1, 1 W\n"
      "2025-06-13T00:00:01Z, GPU-bb, NVIDIA B, 00000000:02:00.0, 580.1, 2 W\n"
      "2025-06-13T00:00:02Z, GPU-aa, NVIDIA A, 00000000:01:00.0, 580.1, 3 W\n");
  EXPECT_THAT(series_of(content, "power", "GPU-aa").values, ElementsAre(1, 3));
  EXPECT_EQ(series_of(content, "power", "GPU-bb").device, "NVIDIA B");
  EXPECT_THAT(content.telemetry->facts,
              ElementsAre(Pair("GPU-aa driver_version", "580.1"), Pair("GPU-bb driver_version", "580.1")));
  EXPECT_THAT(ids_of(content), IsEmpty());

  std::string mixed = "timestamp, power.draw [W]\n";
  for (int second = 10; second < 20; ++second) {
    for (const char* ms : {"195", "198"})
      mixed += fmt::format("2025-06-13T00:00:{}.{}Z, {} W\n", second, ms, second);
  }
  EXPECT_THAT(ids_of(content_of(mixed)), ElementsAre("devices_not_named"));
}

TEST(NvidiaSmiCsv, DamageCostsItsRowsOnly) {
  const std::string text =
      "nohup: ignoring input\ntimestamp, index, power.draw [W]\n"
      "2025-06-13T00:00:01Z, 0, 1 W\n"
      "Unable to determine the device handle\n"
      "2025-13-13T00:00:01Z, 0, 1 W\n" +
      std::string("\0\0\0", 3) +
      "\n2025-06-13T00:00:03Z, 0, 3 W\r\n\n"
      "2025-06-13T00:00:02Z, 0, 2 W\n"
      "2025-06-13T00:00:03Z, 0, 3 W\n";
  const FileContent content = content_of(text + "2025-06-13T00:00:04Z, 0");
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(1, 2, 3));
  EXPECT_THAT(ids_of(content),
              ElementsAre("file_cut_off", "telemetry_lost", "telemetry_clock_back", "telemetry_repeated"));
  EXPECT_EQ(content.diagnostics[1].count, 4);
  EXPECT_THAT(content.diagnostics[1].text, HasSubstr("line 1: it stands before the names"));
  // "4" may be the beginning of "40 W".
  const FileContent cut = content_of(text + "2025-06-13T00:00:04Z, 0, 4");
  EXPECT_THAT(series_of(cut, "power", "gpu0").values, ElementsAre(1, 2, 3));
  EXPECT_EQ(cut.diagnostics[0].severity, Severity::kNote);
}

TEST(NvidiaSmiCsv, OtherTablesAreNotTakenForOne) {
  for (const char* text : {"timestamp,index,value\n1,2,3\n", "a,b\n1,2\n", "# gpu pwr\n", "1749774472, 5\n",
                           "5 apples\n", "5 ms\n6 ms\n", "name,index\nx,1\n", "2025-06-13T00:00:04Z,5,6\n"}) {
    EXPECT_EQ(nvidia_smi_csv_importer().sniff(text, 10), Match::kNo) << text;
  }
}

TEST(NvidiaSmiCsv, NamesAloneHoldNothing) {
  const FileContent content = content_of("timestamp, index, power.draw [W]\n");
  EXPECT_EQ(judge(content), Verdict::kUnusable);
  EXPECT_THAT(ids_of(content), ElementsAre("telemetry_lost"));
  std::string wide = "timestamp, power.draw [W]";
  for (int i = 0; i < 300; ++i) wide += ", x" + std::to_string(i);
  EXPECT_FALSE(read_content(wide + "\n").ok());
}

TEST(NvidiaSmiCsv, ProjectsOwnLogHasItsCounts) {
  const std::string path = DEEPGAP_SOURCE_FOLDER "/../shared/traces/h200/telemetry.csv";
  if (!std::ifstream(path)) GTEST_SKIP() << "there is no ../shared/traces/h200";
  const auto content = read_file(path);
  ASSERT_TRUE(content.ok()) << content.error().message();
  const TelemetryLog::Series& power = series_of(*content, "power", "NVIDIA H200");
  EXPECT_EQ(power.values.size(), 1714U);
  EXPECT_EQ(power.at_ns.front(), parse_time("2026-11-30T15:57:33.958Z"));
  EXPECT_EQ(power.at_ns.back(), parse_time("2026-11-30T16:03:18.050Z"));
  const auto met = [&content](std::string_view quantity) {
    const auto& values = series_of(*content, quantity, "NVIDIA H200").values;
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  EXPECT_EQ(met("throttle.gpu_idle"), 964);
  EXPECT_EQ(met("throttle.sw_power_cap"), 58);
  EXPECT_THAT(ids_of(*content), ElementsAre("telemetry_assumption"));
}

TEST(NvidiaSmiCsv, ThirdPartyFilesHaveTheirRows) {
  DEEPGAP_NEED_THIRD_PARTY();
  struct Expected {
    const char* file;
    std::size_t series, rows_of_names, sensors;
  };
  for (const Expected& expected :
       {Expected{"v100s_log.csv", 5, 1, 5}, Expected{"headerless_log.csv", 1, 0, 1},
        Expected{"multi_gpu_iso8601_nounits.csv", 32, 1, 4}}) {
    const std::string file = std::string("nvidia-smi/") + expected.file;
    const auto content = read_file(kThirdParty + file);
    ASSERT_TRUE(content.ok()) << content.error().message();
    // "... (blob ...), MIT. 108 lines; ..."
    const std::string lines = index_value(file, "), ", " lines");
    ASSERT_FALSE(lines.empty()) << file;
    const std::size_t rows = std::stoul(lines.substr(lines.rfind(' ') + 1)) - expected.rows_of_names;
    EXPECT_EQ(content->telemetry->series.size(), expected.series) << file;
    std::size_t values = 0;
    for (const auto& series : content->telemetry->series) values += series.values.size();
    EXPECT_EQ(values, rows * expected.sensors) << file;
    EXPECT_EQ(judge(*content), Verdict::kUsable) << file;
  }
}

}  // namespace
}  // namespace deepgap::trace
