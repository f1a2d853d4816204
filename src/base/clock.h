// Time, passed in so that everything that waits or stamps can be tested without waiting.
#pragma once

#include <string>

#include "base/units.h"

namespace deepgap {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanoseconds monotonic() = 0;  // CLOCK_MONOTONIC: the time base of samples and telemetry
  virtual Nanoseconds
  realtime() = 0;  // CLOCK_REALTIME since 1970: for joining foreign logs, never for durations
  virtual void sleep(Nanoseconds duration) = 0;
};

class SystemClock final : public Clock {
 public:
  Nanoseconds monotonic() override;
  Nanoseconds realtime() override;
  void sleep(Nanoseconds duration) override;
};

// Stands still until advanced; sleeping advances it.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Nanoseconds monotonic = {}, Nanoseconds realtime = {})
      : monotonic_(monotonic), realtime_(realtime) {}
  Nanoseconds monotonic() override { return monotonic_; }
  Nanoseconds realtime() override { return realtime_; }
  void sleep(Nanoseconds duration) override { advance(duration); }
  void advance(Nanoseconds duration) {
    monotonic_ += duration;
    realtime_ += duration;
  }

 private:
  Nanoseconds monotonic_;
  Nanoseconds realtime_;
};

// One moment on both clocks, so that files stamped with wall-clock time can be joined.
struct ClockPair {
  Nanoseconds monotonic_at{};
  Nanoseconds realtime_at{};
};
ClockPair read_clock_pair(Clock& clock);

// "2026-11-30T12:03:04Z" from nanoseconds since 1970, in UTC.
std::string format_utc(Nanoseconds realtime_at);

}  // namespace deepgap
