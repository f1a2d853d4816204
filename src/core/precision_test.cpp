#include "core/precision.h"

#include <gmock/gmock.h>

#include "core/device.h"
#include "core/measurement.h"

namespace deepgap {
namespace {

TEST(Precision, NamesAreThoseOfTheDocuments) {
  EXPECT_EQ(name_of(Precision::kFp32), "fp32");
  EXPECT_EQ(name_of(Precision::kTf32), "tf32");
  EXPECT_EQ(name_of(Precision::kFp8E4M3), "fp8-e4m3");
  EXPECT_EQ(parse_precision("bf16"), Precision::kBf16);
}

TEST(Precision, EveryNameIsReadBackAndUnknownOnesAreNot) {
  EXPECT_EQ(all_precisions().size(), 8U);
  for (Precision precision : all_precisions()) EXPECT_EQ(parse_precision(name_of(precision)), precision);
  for (std::string_view name : {"", "FP32", "fp", "fp8", "float32"}) {
    EXPECT_FALSE(parse_precision(name)) << name;
  }
}

TEST(Precision, StoredSizes) {
  EXPECT_EQ(element_bytes(Precision::kFp64), 8);
  EXPECT_EQ(element_bytes(Precision::kFp32), 4);
  EXPECT_EQ(element_bytes(Precision::kTf32), 4);  // 19 bits used, 32 stored
  EXPECT_EQ(element_bytes(Precision::kBf16), 2);
  EXPECT_EQ(element_bytes(Precision::kInt8), 1);
  EXPECT_EQ(element_bytes(Precision::kFp8E5M2), 1);
}

TEST(Mode, EveryNameIsReadBack) {
  EXPECT_EQ(all_modes().size(), 3U);
  for (Mode mode : all_modes()) EXPECT_EQ(parse_mode(name_of(mode)), mode);
  EXPECT_EQ(parse_mode("server"), Mode::kServer);
  EXPECT_FALSE(parse_mode("Latency"));
}

TEST(Names, OfDevicesOriginsAndStopReasonsAreReadBack) {
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu})
    EXPECT_EQ(parse_device_kind(name_of(kind)), kind);
  for (Origin origin : {Origin::kDatasheet, Origin::kProbe, Origin::kMeasured}) {
    EXPECT_EQ(parse_origin(name_of(origin)), origin);
  }
  for (StopReason reason : {StopReason::kPrecisionReached, StopReason::kTimeLimit, StopReason::kSampleLimit,
                            StopReason::kFixedCount, StopReason::kCancelled}) {
    EXPECT_EQ(parse_stop_reason(name_of(reason)), reason);
  }
  EXPECT_EQ(name_of(StopReason::kTimeLimit), "time_limit");
  EXPECT_FALSE(parse_device_kind("tpu"));
  EXPECT_FALSE(parse_origin(""));
  EXPECT_FALSE(parse_stop_reason("time limit"));
}

TEST(Device, FactIsFoundByNameOrAbsent) {
  Device device;
  device.facts = {{"cores.physical", "2", ""}, {"cache.l2", "2097152", "B"}};
  EXPECT_EQ(device.fact("cache.l2"), "2097152");
  EXPECT_EQ(device.fact("cache"), std::nullopt);
}

TEST(Measurement, CountsTheSamplesOfAllProcesses) {
  Measurement measurement;
  EXPECT_EQ(measurement.sample_count(), 0);
  measurement.processes.resize(2);
  measurement.processes[0].samples.host_ns = {1, 2, 3};
  measurement.processes[1].samples.host_ns = {4};
  EXPECT_EQ(measurement.sample_count(), 4);
}

}  // namespace
}  // namespace deepgap
