#include "trace/dcgm/dcgm.h"

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
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

FileContent content_of(const std::string& text) {
  return sensors_of(text, "dcgm");
}

// Laid out as dcgmi does it: a column is as wide as its widest value and eight more.
const std::string kNames =
    "#Entity   GPUTL             POWER             DVCCTR                      FBUSD             SMACT       "
    " DVNAM\n"
    "ID                          W\n";

TEST(DcgmiDmon, RowsHaveDevicesAndOurUnits) {
  const FileContent content = content_of(kNames +
                                         "GPU 0     98                305.312           5                    "
                                         "       841               0.912        H200\n"
                                         "GPU 1     0                 75.000            1                    "
                                         "       N/A               N/A          H200\n" +
                                         kNames +
                                         "GPU 0     99                306.500           4                    "
                                         "       841               0.915        H200\n"
                                         "\n\ndmon was stopped do to receiving a signal\n");
  EXPECT_FALSE(content.telemetry->has_time_of_day);
  EXPECT_THAT(series_of(content, "power", "gpu0").at_ns, ElementsAre(0, kSecond));
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(305.312, 306.5));
  EXPECT_THAT(series_of(content, "utilisation.gpu", "gpu1").values, ElementsAre(0));
  EXPECT_THAT(series_of(content, "active.sm", "gpu0").values, ElementsAre(0.912, 0.915));
  EXPECT_DOUBLE_EQ(series_of(content, "memory.used", "gpu0").values.at(0), 841.0 * 1024 * 1024);
  EXPECT_EQ(series_of(content, "memory.used", "gpu0").unit, Unit::kBytes);
  EXPECT_THAT(series_of(content, "throttle.sw_power_cap", "gpu0").values, ElementsAre(1, 1));
  EXPECT_THAT(series_of(content, "throttle.gpu_idle", "gpu0").values, ElementsAre(1, 0));
  EXPECT_THAT(content.telemetry->series, SizeIs(6 + 3));
  EXPECT_THAT(ids_of(content), ElementsAre("telemetry_assumption", "columns_not_used"));
  EXPECT_THAT(content.diagnostics[1].text, HasSubstr("not used: DVNAM"));
  EXPECT_EQ(judge(content), Verdict::kUsable);
}

TEST(DcgmiDmon, WordsInACellAreToldByTheirPlace) {
  const FileContent content = content_of(
      "#Entity   DVNAM             POWER\nID                          W\n"
      "GPU 0     NVIDIA H200       305.312\n"
      "GPU-I 3   NVIDIA H200       35.5\n"
      "GPU 0     NVIDIA H200 305.312\n");
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(305.312));
  EXPECT_THAT(series_of(content, "power", "GPU-I 3").values, ElementsAre(35.5));
  EXPECT_THAT(ids_of(content), ElementsAre("telemetry_assumption", "telemetry_lost", "columns_not_used"));
}

TEST(DcgmiDmon, DamageCostsItsRowsOnly) {
  const FileContent content = content_of(
      "Error: nothing yet\n#Entity   POWER\nID        W\nGPU 0     5.5\nGPU\nGPU zero one 5\nGPU 0     many\n"
      "GPU 0     9223372036854775794\nGPU 0     140737488355330\nGPU 0     30");
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(5.5));
  ASSERT_THAT(ids_of(content),
              ElementsAre("file_cut_off", "telemetry_assumption", "telemetry_lost", "telemetry_lost"));
  EXPECT_EQ(content.diagnostics[2].count, 3);
  EXPECT_THAT(content.diagnostics[3].text, HasSubstr("line 7, POWER: 'many'"));
  EXPECT_EQ(judge(content_of("#Entity   POWER\n")), Verdict::kUnusable);
}

std::string labels(const std::string& gpu, const std::string& more = "") {
  return "{gpu=\"" + gpu + "\",UUID=\"GPU-" + gpu + "\",device=\"nvidia" + gpu +
         "\",modelName=\"NVIDIA H200\"" + more + "}";
}

TEST(DcgmExporter, AnswersFollowOneAnother) {
  const auto answer = [](const std::string& first, const std::string& second) {
    return "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
           "DCGM_FI_DEV_GPU_UTIL" +
           labels("0") + " " + first + "\nDCGM_FI_DEV_GPU_UTIL" + labels("1") + " " + second +
           "\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" + labels("0") + " 5000\nDCGM_FI_DEV_MEMORY_TEMP" +
           labels("1") + " 9223372036854775794\nup 1\n";
  };
  const FileContent content = content_of(answer("98", "0") + answer("99", "1"));
  EXPECT_FALSE(content.telemetry->has_time_of_day);
  EXPECT_THAT(series_of(content, "utilisation.gpu", "gpu0").values, ElementsAre(0.98, 0.99));
  EXPECT_THAT(series_of(content, "utilisation.gpu", "gpu0").at_ns, ElementsAre(0, kSecond));
  EXPECT_THAT(series_of(content, "utilisation.gpu", "gpu1").values, ElementsAre(0, 0.01));
  EXPECT_EQ(series_of(content, "utilisation.gpu", "gpu1").device, "NVIDIA H200");
  EXPECT_THAT(series_of(content, "energy", "gpu0").values, ElementsAre(5, 5));
  EXPECT_THAT(content.telemetry->series, SizeIs(3));
  EXPECT_THAT(ids_of(content), ElementsAre("telemetry_assumption", "columns_not_used"));
}

TEST(DcgmExporter, TimesAreMillisecondsOrSeconds) {
  const FileContent content =
      content_of("DCGM_FI_DEV_POWER_USAGE" + labels("0") + " 305.5 1749774472195\nDCGM_FI_DEV_POWER_USAGE" +
                 labels("0") + " 306.5 1749774473.195\nDCGM_FI_PROF_DRAM_ACTIVE" + labels("0") +
                 " 5.5e-01 1749774472195\n");
  EXPECT_TRUE(content.telemetry->has_time_of_day);
  EXPECT_THAT(series_of(content, "power", "gpu0").at_ns,
              ElementsAre(1'749'774'472'195'000'000, 1'749'774'473'195'000'000));
  EXPECT_THAT(series_of(content, "active.dram", "gpu0").values, ElementsAre(0.55));
  EXPECT_THAT(ids_of(content), IsEmpty());
}

TEST(DcgmExporter, PodsAndInstancesAreToldApart) {
  const FileContent content =
      content_of("DCGM_FI_DEV_FB_USED" + labels("0", ",pod=\"a\"") + " 2\nDCGM_FI_DEV_FB_USED" +
                 labels("0", ",pod=\"b\"") + " 2\nDCGM_FI_DEV_FB_USED" +
                 labels("0", ",GPU_I_ID=\"3\",DCGM_FI_DRIVER_VERSION=\"580 \\\"x\\\"\"") +
                 " 1\ndcgm_fb_used{gpu=\"1\", uuid=\"GPU-1\"} 4\n");
  EXPECT_THAT(series_of(content, "memory.used", "gpu0").values, ElementsAre(2.0 * 1024 * 1024));
  EXPECT_THAT(series_of(content, "memory.used", "gpu0 instance 3").values, ElementsAre(1024.0 * 1024));
  EXPECT_THAT(series_of(content, "memory.used", "gpu1").values, ElementsAre(4.0 * 1024 * 1024));
  EXPECT_THAT(content.telemetry->facts, ElementsAre(Pair("gpu0 instance 3 driver_version", "580 \"x\"")));
}

TEST(DcgmExporter, DamageCostsItsLinesOnly) {
  const FileContent content = content_of(
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 5\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0} "
      "6\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"}\n"
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} seven\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 8 1749774472195\n"
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 9 soon\nDCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} NaN\n"
      "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 1");
  EXPECT_THAT(series_of(content, "power", "gpu0").values, ElementsAre(5));
  ASSERT_THAT(ids_of(content),
              ElementsAre("file_cut_off", "telemetry_assumption", "telemetry_lost", "telemetry_lost"));
  EXPECT_EQ(content.diagnostics[2].count, 4);
  EXPECT_THAT(content.diagnostics[2].text, AllOf(HasSubstr("line 2"), HasSubstr("is no sample")));
  EXPECT_EQ(content.diagnostics[3].count, 1);
}

TEST(Dcgm, OtherTextsAreNotTakenForIt) {
  for (const char* text : {"DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz).\n", "#Entity\n",
                           "# gpu pwr\n", "node_load1 1.5\n", "dcgm_exporter_up{job=\"x\"} 1\n"}) {
    EXPECT_EQ(dcgm_importer().sniff(text, 10), Match::kNo) << text;
  }
}

}  // namespace
}  // namespace deepgap::trace
