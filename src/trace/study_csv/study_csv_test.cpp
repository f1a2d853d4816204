#include "trace/study_csv/study_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/clock.h"
#include "base/temporary_folder.h"
#include "core/setting.h"

namespace deepgap::trace {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kNames =
    "timestamp_utc,device,sweep_id,repeat_id,model,batch_size,threads,iters,warmup_iters,median_ms,mean_ms,"
    "std_latency_ms,p99_latency_ms,throughput_ips,hostname,os,kernel,arch,cpu_model,cpu_sockets,"
    "cpu_cores_per_socket,cpu_threads_per_core,cpu_logical_cpus,mem_total_mb,python_version,torch_version,"
    "cuda_available,torchvision_version";

// Of a T4, in the columns of DEEP-GAP.
std::string row(const std::string& stamp, const std::string& repeat, const std::string& batch,
                const std::string& median = "2.5") {
  return stamp + ",cuda,1," + repeat + ",resnet18," + batch + ",8,100,20," + median +
         ",2.6,0.25,3.5,400.5,lab,Ubuntu 22.04,5.15,x86_64,Some "
         "Xeon,1,4,2,8,31000,3.10,2.1.0,True,0.16.0,250\n";
}

class StudyCsv : public testing::Test {
 protected:
  Result<void> import(const std::string& text, const ImportOptions& options = {}) {
    std::ofstream(folder_ / "t4.csv", std::ios::binary) << text;
    DEEPGAP_ASSIGN(ByteSource source, ByteSource::open(folder_ / "t4.csv"));
    DEEPGAP_ASSIGN(const Importer* const importer, importer_of(source));
    EXPECT_EQ(importer, &study_csv_importer());
    found_ = {};
    DEEPGAP_ASSIGN(found_, importer->import(source, options));
    return {};
  }
  std::string error_of(const std::string& text) {
    const Result<void> result = import(text);
    if (result.ok()) return "";
    EXPECT_EQ(result.error().kind(), ErrorKind::kBadInput);
    return result.error().message();
  }

  TemporaryFolder folder_;
  FileContent found_;
};

TEST_F(StudyCsv, RowsOfACellAreRunsOfOneMeasurement) {
  const std::string names = kNames + ",gpu_peak_mem_mb\n";
  ASSERT_TRUE(import(names + row("2026-01-02T03:04:06Z", "1", "8") + row("2026-01-02T03:05:00Z", "1", "16") +
                     row("2026-01-02 03:04:05+00:00", "2", "8", "2.25"))
                  .ok());
  ASSERT_EQ(found_.measurements.size(), 2u);
  const Measurement& cell = found_.measurements[0];
  EXPECT_EQ(cell.key.selector(), "resnet18/torch/cuda/fp32/b8");
  EXPECT_EQ(cell.engine_version, "2.1.0");
  EXPECT_EQ(cell.device.kind, DeviceKind::kGpu);
  EXPECT_EQ(cell.origin, "import:study-csv");
  EXPECT_EQ(cell.planned_processes, 2);
  EXPECT_TRUE(cell.processes.empty());
  EXPECT_EQ(format_utc(Nanoseconds{cell.created_realtime_ns}),
            "2026-01-02T03:04:05Z");  // the first of its runs
  ASSERT_EQ(cell.reported.size(), 12u);
  const auto value = [&cell](int run, std::string_view metric) {
    for (const ReportedValue& one : cell.reported)
      if (one.process == run && one.metric == metric) return one.value;
    return -1.0;
  };
  EXPECT_DOUBLE_EQ(value(0, "p50"), 2.5e6);
  EXPECT_DOUBLE_EQ(value(1, "p50"), 2.25e6);
  EXPECT_DOUBLE_EQ(value(0, "mean"), 2.6e6);
  EXPECT_DOUBLE_EQ(value(0, "standard_deviation"), 0.25e6);
  EXPECT_DOUBLE_EQ(value(0, "p99"), 3.5e6);
  EXPECT_DOUBLE_EQ(value(1, "throughput"), 400.5);
  EXPECT_DOUBLE_EQ(value(1, "peak_device_memory"), 250.0 * 1048576);
  EXPECT_EQ(cell.reported[0].n, 100);
  const auto setting = [&cell](std::string_view name) {
    for (const Setting& each : cell.settings)
      if (each.name == name) return each.effective.value_or("");
    return std::string();
  };
  EXPECT_EQ(setting(settings::kHostName), "lab");
  EXPECT_EQ(setting(settings::kProtocol), "fixed:20+100");
  EXPECT_EQ(setting("torchvision.version"), "0.16.0");
}

TEST_F(StudyCsv, WhatIsNoColumnIsTakenAndSaid) {
  const std::string text = kNames + ",gpu_peak_mem_mb\n" + row("2026-01-02T03:04:05Z", "1", "8");
  ASSERT_TRUE(import(text).ok());
  ASSERT_EQ(found_.measurements[0].diagnostics.size(), 1u);
  EXPECT_EQ(found_.measurements[0].diagnostics[0].id, "import_assumption");
  EXPECT_THAT(found_.measurements[0].diagnostics[0].text,
              HasSubstr("the engine (torch) and the precision (fp32)"));
  const MeasurementId first = found_.measurements[0].id;
  ASSERT_TRUE(import(text).ok());
  EXPECT_EQ(found_.measurements[0].id, first);  // the same rows, the same measurement
  ASSERT_TRUE(import(text, {.engine = "tensorrt", .precision = Precision::kFp16}).ok());
  EXPECT_EQ(found_.measurements[0].key.selector(), "resnet18/tensorrt/cuda/fp16/b8");
  EXPECT_TRUE(found_.measurements[0].diagnostics.empty());
  EXPECT_NE(found_.measurements[0].id, first);
}

TEST_F(StudyCsv, AnEmptyFigureIsAbsent) {
  ASSERT_TRUE(import(kNames + ",gpu_peak_mem_mb\n" + row("2026-01-02T03:04:05Z", "1", "8", "")).ok());
  EXPECT_EQ(found_.measurements[0].reported.size(), 5u);
}

TEST_F(StudyCsv, BadInputIsASentenceWithItsLine) {
  const std::string names = kNames + ",gpu_peak_mem_mb\n";
  const std::string good = row("2026-01-02T03:04:05Z", "1", "8");
  EXPECT_THAT(error_of(names), HasSubstr("expected rows behind the names"));
  EXPECT_THAT(error_of("sweep_id,repeat_id,batch_size,median_ms,throughput_ips\n1,1,1,1,1\n"),
              AllOf(HasSubstr("line 1"), HasSubstr("none called timestamp_utc, device, model")));
  EXPECT_THAT(error_of(names + good + good.substr(0, 80)),
              AllOf(HasSubstr("line 3: expected 29 columns"), HasSubstr("cut off")));
  EXPECT_THAT(error_of(names + good + row("yesterday", "1", "8")),
              AllOf(HasSubstr("line 3"), HasSubstr("column timestamp_utc, found 'yesterday'")));
  EXPECT_THAT(error_of(names + row("2026-01-02T03:04:05Z", "1", "0")), HasSubstr("batch_size, found '0'"));
  EXPECT_THAT(
      error_of(names + row("2026-01-02T03:04:05Z", "1", "1000001")),
      HasSubstr("expected a whole number from 1 to 1000000 in the column batch_size, found '1000001'"));
  EXPECT_THAT(error_of(names + row("2026-13-02T03:04:05Z", "1", "8")), HasSubstr("timestamp_utc"));
  EXPECT_THAT(error_of(names + row("2026-01-02T03:04:05Z", "1", "8", "fast")),
              HasSubstr("median_ms, found 'fast'"));
  EXPECT_THAT(error_of(names + row("2026-01-02T03:04:05Z", "1", "8", "nan")),
              HasSubstr("median_ms, found 'nan'"));
  for (const char* huge : {"1e303", "1e13", "inf", "1e400"}) {
    EXPECT_THAT(error_of(names + row("2026-01-02T03:04:05Z", "1", "8", huge)),
                HasSubstr("expected a number from 0 to 1e+12, or nothing in the column median_ms"))
        << huge;
  }
  EXPECT_THAT(error_of(names + row("2026-01-02T03:04:05Z", "1", "8", "-1")),
              HasSubstr("median_ms, found '-1'"));
  EXPECT_THAT(error_of(names + std::string(3'000'000, 'x')), HasSubstr("line 2: the record is longer"));
}

}  // namespace
}  // namespace deepgap::trace
