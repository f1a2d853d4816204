#include "base/clock.h"

#include <gtest/gtest.h>

#include <limits>

namespace deepgap {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Seconds as `date -u -d ... +%s` prints them.
TEST(FormatUtc, WritesIso8601) {
  EXPECT_EQ(format_utc(Nanoseconds{0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_utc(Nanoseconds{1'796'040'184 * kSecond}), "2026-11-30T12:03:04Z");
  EXPECT_EQ(format_utc(Nanoseconds{1'709'208'000 * kSecond + 999'999'999}), "2024-02-29T12:00:00Z");
  EXPECT_EQ(format_utc(Nanoseconds{-1}), "1969-12-31T23:59:59Z");
  EXPECT_EQ(format_utc(Nanoseconds::max()), "2262-04-11T23:47:16Z");
  EXPECT_EQ(format_utc(Nanoseconds::min()), "1677-09-21T00:12:43Z");
}

TEST(FakeClock, StandsStillUntilAdvanced) {
  FakeClock clock(Nanoseconds{5}, Nanoseconds{100});
  EXPECT_EQ(clock.monotonic(), Nanoseconds{5});
  clock.sleep(Nanoseconds{7});
  EXPECT_EQ(clock.monotonic(), Nanoseconds{12});
  EXPECT_EQ(clock.realtime(), Nanoseconds{107});
}

TEST(ReadClockPair, IsOneMomentOnBothClocks) {
  FakeClock clock(Nanoseconds{5}, Nanoseconds{100});
  const ClockPair pair = read_clock_pair(clock);
  EXPECT_EQ(pair.monotonic_at, Nanoseconds{5});
  EXPECT_EQ(pair.realtime_at, Nanoseconds{100});
}

// Each reading takes a while, the first two pairs of them long: the third is the tightest.
TEST(ReadClockPair, KeepsTheTightestOfAFewReadings) {
  class SlowClock final : public Clock {
   public:
    Nanoseconds monotonic() override { return now_ += Nanoseconds{++calls_ > 4 ? 4 : 1000}; }
    Nanoseconds realtime() override { return now_ + Nanoseconds{1'000'000}; }
    void sleep(Nanoseconds) override {}

   private:
    Nanoseconds now_{};
    int calls_ = 0;
  };
  SlowClock clock;
  const ClockPair pair = read_clock_pair(clock);
  EXPECT_EQ(pair.monotonic_at, Nanoseconds{4006});  // between 4 readings of 1000 and 1 or 2 of 4
  EXPECT_EQ(pair.realtime_at, Nanoseconds{1'004'004});
}

TEST(SystemClock, SleepsAtLeastAsLongAsAsked) {
  SystemClock clock;
  const Nanoseconds start = clock.monotonic();
  clock.sleep(Nanoseconds{2'000'000});
  EXPECT_GE(clock.monotonic() - start, Nanoseconds{2'000'000});
  clock.sleep(Nanoseconds{0});
  clock.sleep(Nanoseconds{-1});  // returns at once; a hang is a failure
  EXPECT_GT(clock.realtime(), Nanoseconds{1'700'000'000 * kSecond});
}

}  // namespace
}  // namespace deepgap
