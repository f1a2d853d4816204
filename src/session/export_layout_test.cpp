#include "session/export_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepgap::session {
namespace {

using ::testing::ElementsAre;

Measurement measurement(int processes) {
  Measurement cell{
      .id = MeasurementId("0123456789abcdef"),
      .key = {.workload = {.model = "resnet50", .batch = 4}, .engine = "openvino", .device = "cpu"},
      .created_realtime_ns = 1'796'000'000'000'000'000,
      .planned_processes = processes};
  for (int index = 0; index < processes; ++index) {
    ProcessRun process{.index = index, .warmup_calls = 20};
    // 1, 2, 3, 4, 10 ms.
    process.samples.host_ns = {1'000'000, 2'000'000, 3'000'000, 4'000'000, 10'000'000};
    process.samples.start_ns = {0, 1, 2, 3, 4};
    process.started.realtime_at = Nanoseconds{1'796'000'000'000'000'000};
    cell.processes.push_back(process);
  }
  cell.settings = {{.name = "cpu.threads", .requested = "2", .effective = "2"},
                   {.name = "host.name", .effective = "bench-3"}};
  return cell;
}

std::string field(const ExportLayout& layout, const std::vector<std::string>& row,
                  const std::string& column) {
  const std::vector<std::string> columns = layout.columns();
  EXPECT_EQ(columns.size(), row.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == column) return row[i];
  }
  ADD_FAILURE() << "no column " << column;
  return {};
}

TEST(ExportLayout, StudyRowsAreOneAProcessWithPlainStatistics) {
  const ExportLayout& layout = **find_export_layout("gdev-ai");
  const auto rows = layout.rows(measurement(2), 1);
  ASSERT_EQ(rows.size(), 2U);
  // numpy: median 3, mean 4, std (population) sqrt((9+4+1+0+36)/5) = 3.162278, p99 4 + 6 * 0.96 = 9.76
  EXPECT_EQ(field(layout, rows[0], "median_ms"), "3.000000");
  EXPECT_EQ(field(layout, rows[0], "mean_ms"), "4.000000");
  EXPECT_EQ(field(layout, rows[0], "std_latency_ms"), "3.162278");
  EXPECT_EQ(field(layout, rows[0], "p99_latency_ms"), "9.760000");
  EXPECT_EQ(field(layout, rows[0], "throughput_ips"), "1333.333333");  // batch 4 / 3 ms
  EXPECT_EQ(field(layout, rows[0], "iters"), "5");
  EXPECT_EQ(field(layout, rows[0], "warmup_iters"), "20");
  EXPECT_EQ(field(layout, rows[0], "threads"), "2");
  EXPECT_EQ(field(layout, rows[0], "hostname"), "bench-3");
  EXPECT_EQ(field(layout, rows[0], "torch_version"), "") << "what does not apply is empty";
  EXPECT_EQ(field(layout, rows[1], "repeat_id"), "2");
  EXPECT_EQ(field(layout, rows[1], "sweep_id"), "1");
}

TEST(ExportLayout, PublishedRunsCountSweepsOfThreeRepeats) {
  const ExportLayout& layout = **find_export_layout("gdev-ai");
  Measurement cell = measurement(5);
  cell.settings.push_back({.name = "run.protocol", .effective = "fixed:20+100"});
  const auto rows = layout.rows(cell, 4);
  EXPECT_EQ(field(layout, rows[2], "sweep_id"), "4");
  EXPECT_EQ(field(layout, rows[4], "sweep_id"), "5");
  EXPECT_EQ(field(layout, rows[4], "repeat_id"), "2");
}

TEST(ExportLayout, DeepGapAddsThePeakOfDeviceMemory) {
  const ExportLayout& layout = **find_export_layout("deep-gap");
  EXPECT_EQ(layout.columns().back(), "gpu_peak_mem_mb");
  Measurement cell = measurement(2);
  cell.processes[0].samples = {};  // a process without samples has no row
  cell.processes[1].peak_device_memory = Bytes{3 << 19};
  const auto rows = layout.rows(cell, 1);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].back(), "1.500");
}

TEST(ExportLayout, OwnRowsAreOneACellAlsoForAFailure) {
  const ExportLayout& layout = **find_export_layout("deepgap");
  Measurement cell = measurement(0);
  cell.failure = CellFailure{.kind = "out_of_memory", .text = "too large"};
  const auto rows = layout.rows(cell, 1);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(field(layout, rows[0], "failure"), "out_of_memory");
  EXPECT_EQ(field(layout, rows[0], "latency_ns"), "");
  EXPECT_EQ(field(layout, layout.rows(measurement(3), 1)[0], "latency_ns"), "3000000");
}

}  // namespace
}  // namespace deepgap::session
