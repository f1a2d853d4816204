#include "trace/nsys_stats/nsys_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/quality.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using ::testing::SizeIs;

TEST(NsysStats, SummariesOfOneFile) {
  const auto content = read_content(
      "Processing [a.sqlite] with [cuda_gpu_kern_sum.py]... \n\n"
      " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "60.0,1200,4,300.0,290.0,250,400,12.5,\"void at::native::vectorized_elementwise_kernel<4, int>(int, "
      "float)\"\n"
      "40.0,800,1,800.0,800.0,800,800,0.0,ampere_sgemm_128x64_tn\n\n"
      " ** CUDA API Summary (cuda_api_sum):\n\n"
      "Time(%),Total Time (us),Num Calls,Avg (us),Name\n100.0,2.5,5,0.5,cudaLaunchKernel\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  EXPECT_EQ(content->format, "nsys-stats-csv");
  ASSERT_THAT(content->op_tables, SizeIs(2));
  const OpTable& kernels = content->op_tables[0];
  EXPECT_EQ(kernels.title, "cuda_gpu_kern_sum");
  ASSERT_THAT(kernels.rows, SizeIs(2));
  EXPECT_EQ(kernels.rows[0].count, 4);
  EXPECT_EQ(kernels.rows[0].record.duration, Nanoseconds{300});
  EXPECT_EQ(kernels.rows[0].kind, "elementwise");
  EXPECT_EQ(kernels.rows[0].figures.at(0).value, "1200");
  EXPECT_EQ(kernels.rows[1].record.precision_path, Precision::kFp32);
  const OpTable& calls = content->op_tables[1];
  EXPECT_EQ(calls.title, "cuda_api_sum");
  EXPECT_EQ(calls.rows.at(0).record.duration, Nanoseconds{500});
  EXPECT_EQ(judge(*content), Verdict::kUsable);
}

TEST(NsysStats, AListIsATimeline) {
  const auto content = read_content(
      "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,Bytes "
      "(MB),Device,Ctx,Strm,Name\n"
      "1000,500,1,64,1,1,256,1,1,32,,NVIDIA H200 (0),1,7,gemm\n"
      "1600,100,2,,,,,,,,0.5,NVIDIA H200 (0),1,13,[CUDA memcpy HtoD]\n"
      "1800,50,3,,,,,,,,0.5,NVIDIA H200 (0),1,13,[CUDA memset]\n"
      "nan,50,3,,,,,,,,,NVIDIA H200 (0),1,13,lost\n");
  ASSERT_TRUE(content.ok()) << content.error().message();
  ASSERT_TRUE(content->timeline);
  const Timeline& timeline = *content->timeline;
  EXPECT_EQ(timeline.counts.read, 4);
  EXPECT_EQ(timeline.counts.kept, 3);
  EXPECT_EQ(timeline.counts.lost, 1);
  EXPECT_EQ(total_of(timeline, Role::kKernel).ns, 500);
  EXPECT_EQ(total_of(timeline, Role::kCopy).ns, 100);
  EXPECT_EQ(total_of(timeline, Role::kMemset).ns, 50);
  EXPECT_EQ(timeline.lanes.size(), 2U);
  EXPECT_EQ(timeline.devices.at(0).name, "NVIDIA H200");
  EXPECT_EQ(timeline.window_start_ns, 1000);
  EXPECT_EQ(timeline.window_end_ns, 1850);
  EXPECT_THAT(timeline.diagnostics, SizeIs(1));
}

TEST(NsysStats, DamagedRowsAreCountedAndNothingIsNothing) {
  const std::string names = "Time (%),Total Time (ns),Instances,Name\n";
  const auto damaged =
      read_content(names + "60.0,1200,4,a\n60.0,1200\n60.0,-5,4,b\n60.0,5,0,c\n60.0,\"5,d\n");
  ASSERT_TRUE(damaged.ok());
  EXPECT_THAT(damaged->op_tables.at(0).rows, SizeIs(1));
  EXPECT_EQ(damaged->diagnostics.at(0).count, 4);
  EXPECT_EQ(judge(*damaged), Verdict::kUsableWithLoss);
  const auto empty = read_content(names);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(judge(*empty), Verdict::kUnusable);
}

}  // namespace
}  // namespace deepgap::trace
