#include "session/telemetry_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepgap::session {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 1'796'000'000 * kSecond;

// Calls from 10 s to 12 s of CLOCK_MONOTONIC, whose zero was 1000 s before kDay.
Measurement measured() {
  Measurement measurement;
  measurement.device = {.address = "cuda:1", .name = "NVIDIA H200", .kind = DeviceKind::kGpu};
  ProcessRun process;
  process.index = 3;
  process.samples.start_ns = {10 * kSecond, 11 * kSecond};
  process.samples.host_ns = {kSecond / 2, kSecond};
  process.started = {.monotonic_at = Nanoseconds{9 * kSecond},
                     .realtime_at = Nanoseconds{kDay + 9 * kSecond}};
  measurement.processes.push_back(process);
  return measurement;
}

TelemetryLog::Series power(std::string source, std::int64_t first_s, std::int64_t last_s) {
  TelemetryLog::Series series{.quantity = "power", .source = std::move(source), .device = "NVIDIA H200"};
  for (std::int64_t s = first_s; s <= last_s; ++s) {
    series.at_ns.push_back(kDay + s * kSecond);
    series.values.push_back(static_cast<double>(100 + s));
  }
  return series;
}

TelemetryLog log_of(std::vector<TelemetryLog::Series> series) {
  TelemetryLog log;
  log.series = std::move(series);
  log.has_time_of_day = true;
  return log;
}

TEST(TelemetryJoin, TakesWhatLiesWithinAndItsNeighbours) {
  const auto joined = join_telemetry(log_of({power("gpu1", 0, 30)}), measured());
  ASSERT_THAT(joined, SizeIs(1));
  EXPECT_EQ(joined[0].process, 3);
  EXPECT_THAT(joined[0].at_ns,
              ElementsAre(9 * kSecond, 10 * kSecond, 11 * kSecond, 12 * kSecond, 13 * kSecond));
  EXPECT_THAT(joined[0].values, ElementsAre(109, 110, 111, 112, 113));
}

TEST(TelemetryJoin, ARowBetweenTwoIsEnough) {
  Measurement measurement = measured();
  measurement.processes[0].samples = {.start_ns = {10 * kSecond + kSecond / 4}, .host_ns = {1000}};
  const auto joined = join_telemetry(log_of({power("gpu1", 0, 30)}), measurement);
  ASSERT_THAT(joined, SizeIs(1));
  EXPECT_THAT(joined[0].values, ElementsAre(110, 111));
}

TEST(TelemetryJoin, OnlyTheMeasurementsOwnDevice) {
  EXPECT_THAT(join_telemetry(log_of({power("gpu0", 0, 30), power("gpu1", 0, 30)}), measured()), SizeIs(1));
  TelemetryLog::Series other = power("gpu1", 0, 30);
  other.device = "Tesla T4";
  EXPECT_THAT(join_telemetry(log_of({other}), measured()), IsEmpty());
  EXPECT_THAT(join_telemetry(log_of({power("GPU-8557549f", 0, 30)}), measured()), SizeIs(1));
}

TEST(TelemetryJoin, NothingWhereNothingCanBe) {
  EXPECT_THAT(join_telemetry(log_of({power("gpu1", 20, 30)}), measured()), IsEmpty());
  EXPECT_THAT(join_telemetry(log_of({power("gpu1", 0, 5)}), measured()), IsEmpty());
  TelemetryLog without = log_of({power("gpu1", 0, 30)});
  without.has_time_of_day = false;
  EXPECT_THAT(join_telemetry(without, measured()), IsEmpty());
  Measurement cpu = measured();
  cpu.device.kind = DeviceKind::kCpu;
  EXPECT_THAT(join_telemetry(log_of({power("gpu1", 0, 30)}), cpu), IsEmpty());
  Measurement unknown = measured();
  unknown.processes[0].started.realtime_at = Nanoseconds{0};
  EXPECT_THAT(join_telemetry(log_of({power("gpu1", 0, 30)}), unknown), IsEmpty());
}

}  // namespace
}  // namespace deepgap::session
