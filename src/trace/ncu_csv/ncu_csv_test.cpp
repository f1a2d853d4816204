#include "trace/ncu_csv/ncu_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/quality.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string figure(const OpTable::Row& row, std::string_view name) {
  for (const OpTable::Figure& each : row.figures) {
    if (each.name == name) return each.value + " " + each.unit;
  }
  return "";
}

const std::string kLong =
    "==PROF== Connected to process 1 (/bin/x)\nprogram output, with a comma\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Stream\",\"Grid Size\",\"Device\",\"CC\",\"Metric "
    "Name\",\"Metric "
    "Unit\",\"Metric Value\"\n";

std::string row(const char* id, const char* name, const char* metric, const char* unit, const char* value) {
  return std::string("\"") + id + "\",\"7\",\"" + name + "\",\"13\",\"(64, 1, 1)\",\"0\",\"9.0\",\"" +
         metric + "\",\"" + unit + "\",\"" + value + "\"\n";
}

TEST(NcuCsv, ARowAMetric) {
  const auto content = read_content(
      kLong + row("0", "ampere_sgemm_128x64_tn", "gpu__time_duration.sum", "usecond", "1,234.5") +
      row("0", "ampere_sgemm_128x64_tn", "dram__bytes_read.sum", "byte", "53,261,312") +
      "==WARNING== something\nmore output\n" + row("1", "other", "gpu__time_duration.sum", "ns", "7"));
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "nsight-compute-csv");
  ASSERT_THAT(content->op_tables, SizeIs(1));
  const OpTable& table = content->op_tables[0];
  EXPECT_TRUE(table.timed);
  EXPECT_EQ(table.per, OpTable::Per::kExecution);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(table.rows[0].record.name, "ampere_sgemm_128x64_tn");
  EXPECT_EQ(table.rows[0].record.duration, Nanoseconds{1'234'500});
  EXPECT_EQ(table.rows[0].record.lane, "stream 13");
  EXPECT_EQ(table.rows[0].record.precision_path, Precision::kFp32);
  EXPECT_EQ(table.rows[0].kind, "gemm");
  EXPECT_EQ(figure(table.rows[0], "dram__bytes_read.sum"), "53,261,312 byte");
  EXPECT_EQ(figure(table.rows[0], "Grid Size"), "(64, 1, 1) ");
  EXPECT_EQ(table.rows[1].record.duration, Nanoseconds{7});
  EXPECT_EQ(judge(*content), Verdict::kUsable);
}

TEST(NcuCsv, ARowAKernelWithTheUnitsBehindTheNames) {
  const auto content = read_content(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Stream\",\"gpu__time_duration.sum\",\"sm__warps_active.avg\"\n"
      "\"\",\"\",\"\",\"\",\"msecond\",\"%\"\n"
      "\"0\",\"7\",\"a\",\"7\",\"0.5\",\"12.5\"\n\"1\",\"7\",\"a\",\"7\",\"0.25\",\"\"\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  const OpTable& table = content->op_tables.at(0);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_EQ(table.rows[0].record.duration, Nanoseconds{500'000});
  EXPECT_EQ(table.rows[1].record.duration, Nanoseconds{250'000});
  EXPECT_EQ(figure(table.rows[0], "sm__warps_active.avg"), "12.5 %");
  EXPECT_EQ(figure(table.rows[1], "sm__warps_active.avg"), "");
}

TEST(NcuCsv, WithoutDurationsNothingIsTimed) {
  const auto content = read_content(kLong + row("0", "a", "gpu__time_duration.sum", "ns", "5") +
                                    row("1", "b", "dram__bytes_read.sum", "byte", "9"));
  ASSERT_TRUE(content.ok());
  EXPECT_FALSE(content->op_tables.at(0).timed);
  EXPECT_EQ(content->op_tables[0].rows[0].record.duration, Nanoseconds{0});
  EXPECT_EQ(judge(*content), Verdict::kUsableWithLoss);
}

TEST(NcuCsv, AFailedRunSaysWhy) {
  const auto content =
      read_content("==PROF== Connected to process 1\n==ERROR== The application returned an error.\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_THAT(content->op_tables, IsEmpty());
  EXPECT_THAT(content->diagnostics.at(0).text, HasSubstr("The application returned an error"));
  EXPECT_EQ(judge(*content), Verdict::kUnusable);
}

TEST(NcuCsv, CutRowsAreCounted) {
  const std::string whole = kLong + row("0", "a", "gpu__time_duration.sum", "ns", "5");
  const auto content = read_content(whole + "\"1\",\"7\",\"b\",\"13\",\"(64");
  ASSERT_TRUE(content.ok());
  EXPECT_THAT(content->op_tables.at(0).rows, SizeIs(1));
  ASSERT_THAT(content->diagnostics, SizeIs(1));
  EXPECT_EQ(content->diagnostics[0].id, "events_lost");
}

TEST(NcuCsv, ThirdPartyFilesHaveTheIndexsRows) {
  DEEPGAP_NEED_THIRD_PARTY();
  for (const char* file : {"ncu/roofline_gemm_tiled.csv", "ncu/roofline_saxpy.csv"}) {
    const auto content = read_file(kThirdParty + file);
    ASSERT_TRUE(content.ok()) << content.error().message();
    const OpTable& table = content->op_tables.at(0);
    std::size_t metrics = 0;
    for (const OpTable::Row& each : table.rows)
      metrics += each.figures.size() - 2;  // sizes of grid and block
    EXPECT_EQ(metrics, std::stoul(index_value(file, "columns, ", " rows"))) << file;
    EXPECT_TRUE(table.timed) << file;
    EXPECT_EQ(judge(*content), Verdict::kUsable) << file;
  }
  const auto gemm = read_file(kThirdParty + "ncu/roofline_gemm_tiled.csv");
  EXPECT_EQ(gemm->op_tables.at(0).rows.at(0).record.duration, Nanoseconds{10'195'552});
}

}  // namespace
}  // namespace deepgap::trace
