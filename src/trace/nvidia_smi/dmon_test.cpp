#include "trace/nvidia_smi/dmon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time_text.h"
#include "trace/quality.h"
#include "trace/sensor_test_support.h"

namespace deepgap::trace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

FileContent content_of(const std::string& text, const ImportOptions& options = {}) {
  return sensors_of(text, "nvidia-smi-dmon", options);
}

const std::string kNames =
    "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk  pviol  tviol     fb  "
    "rxpci\n"
    "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz      %   bool     MB   "
    "MB/s\n";

TEST(NvidiaSmiDmon, RowsHaveTimesDevicesAndOurUnits) {
  const FileContent content = content_of(kNames +
                                             " 20250613   02:27:52      0     71     31      -     98      7 "
                                             "  2619   1980      5      1    841   116\n"
                                             " 20250613   02:27:52      1     72     32     40      0      0 "
                                             "  2619    345      0      0      0     0\n" +
                                             kNames +
                                             " 20250613   02:27:53      0     73     31      -     99      7 "
                                             "  2619   1980      5      1    841   116\n",
                                         {.utc_offset_ns = 7200 * kSecond});
  EXPECT_TRUE(content.telemetry->has_time_of_day);
  EXPECT_THAT(content.telemetry->series, SizeIs(21));  // ten of gpu0 and eleven of gpu1
  EXPECT_THAT(series_of(content, "power", "gpu0").at_ns,
              ElementsAre(*parse_time("2025-06-13T00:27:52Z"), *parse_time("2025-06-13T00:27:53Z")));
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(71, 73));
  EXPECT_THAT(series_of(content, "temperature.memory", "gpu1").values, ElementsAre(40));
  const auto first = [&content](std::string_view quantity, Unit unit) {
    const TelemetryLog::Series& series = series_of(content, quantity, "gpu0");
    EXPECT_EQ(series.unit, unit) << quantity;
    return series.values.at(0);
  };
  EXPECT_DOUBLE_EQ(first("utilisation.gpu", Unit::kRatio), 0.98);
  EXPECT_DOUBLE_EQ(first("clock.sm", Unit::kHertz), 1.98e9);
  EXPECT_DOUBLE_EQ(first("clock.memory", Unit::kHertz), 2.619e9);
  EXPECT_DOUBLE_EQ(first("memory.used", Unit::kBytes), 841.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(first("pcie.receive", Unit::kBytesPerSecond), 116e6);
  EXPECT_DOUBLE_EQ(first("throttle.power", Unit::kRatio), 0.05);
  EXPECT_DOUBLE_EQ(first("throttle.thermal", Unit::kCount), 1);
  EXPECT_THAT(ids_of(content), IsEmpty());
  EXPECT_EQ(judge(content), Verdict::kUsable);
}

TEST(NvidiaSmiDmon, WithoutDatesDistancesAreKnown) {
  const FileContent content = content_of(
      "#Time         gpu    pwr\n#HH:MM:SS     Idx      W\n"
      " 23:59:58       0    130\n 00:00:01       0    140\n 00:00:00       0    150\n");
  EXPECT_FALSE(content.telemetry->has_time_of_day);
  EXPECT_THAT(series_of(content, "power", "gpu0").at_ns, ElementsAre(0, 2 * kSecond, 3 * kSecond));
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(130, 150, 140));
  EXPECT_THAT(ids_of(content), ElementsAre("telemetry_assumption", "telemetry_clock_back"));
}

TEST(NvidiaSmiDmon, WithoutTimesRowsAreASecondApart) {
  const FileContent content =
      content_of("# gpu    pwr\n# Idx      W\n    0     71\n    1     50\n    0     72\n");
  EXPECT_FALSE(content.telemetry->has_time_of_day);
  EXPECT_THAT(series_of(content, "power", "gpu0").at_ns, ElementsAre(0, kSecond));
  EXPECT_THAT(series_of(content, "power", "gpu1").at_ns, ElementsAre(0));
  EXPECT_THAT(ids_of(content), ElementsAre("telemetry_assumption"));
}

TEST(NvidiaSmiDmon, CommasSeparateInNewerVersions) {
  const FileContent content =
      content_of("#gpu, pwr, gtemp, mtemp\n#Idx, W, C, C\n0, 71, 31, -\n0, 72, , 40\n");
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(71, 72));
  EXPECT_THAT(series_of(content, "temperature", "gpu0").values, ElementsAre(31));
  EXPECT_THAT(series_of(content, "temperature.memory", "gpu0").values, ElementsAre(40));
}

TEST(NvidiaSmiDmon, WhatIsNotKnownIsNamed) {
  const FileContent content =
      content_of("# gpu    pwr  shiny     fb\n# Idx      W      %     GB\n    0     71      5      8\n");
  EXPECT_THAT(content.telemetry->series, SizeIs(1));
  EXPECT_THAT(content.diagnostics.at(1).text, HasSubstr("not used: shiny, fb (in GB)"));
}

TEST(NvidiaSmiDmon, DamageCostsItsRowsOnly) {
  const FileContent content = content_of(
      "    0     71\n# gpu    pwr  gtemp\n# Idx      W      C\n    0     71     31\n    0     \n    x     71 "
      "    31\n"
      "    0     ERR!     32\n    0     7");
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(71));
  EXPECT_THAT(series_of(content, "temperature", "gpu0").values, ElementsAre(31, 32));
  ASSERT_THAT(ids_of(content),
              ElementsAre("file_cut_off", "telemetry_assumption", "telemetry_lost", "telemetry_lost"));
  EXPECT_EQ(content.diagnostics[2].count, 3);
  EXPECT_THAT(content.diagnostics[3].text, HasSubstr("line 7, pwr: 'ERR!'"));
}

TEST(NvidiaSmiDmon, RowsOfProcessesAreRefused) {
  const auto content = read_content(
      "# gpu        pid  type    sm   mem   enc   dec   command\n# Idx          #   C/G     %     %     %    "
      " %   name\n"
      "    0       1234     C    45    20     -     -   python\n");
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(content.error().message(),
              AllOf(HasSubstr("found that of pmon"), HasSubstr("`nvidia-smi dmon -o DT`")));
}

TEST(NvidiaSmiDmon, TheThirdPartyFileHasItsRows) {
  DEEPGAP_NEED_THIRD_PARTY();
  const auto content = read_file(kThirdParty + "nvidia-smi/dmon_h100_burst_smi.txt");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(index_value("nvidia-smi/dmon_h100_burst_smi.txt", "Apache-2.0. ", " lines"), "27");
  EXPECT_THAT(content->telemetry->series, SizeIs(13));
  for (const auto& series : content->telemetry->series)
    EXPECT_THAT(series.values, SizeIs(25)) << series.quantity;
  const auto& power = series_of(*content, "power", "gpu0").values;
  EXPECT_EQ(*std::max_element(power.begin(), power.end()), 156);
  EXPECT_EQ(judge(*content), Verdict::kUsable);
}

}  // namespace
}  // namespace deepgap::trace
