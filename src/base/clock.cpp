#include "base/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <cerrno>

namespace deepgap {
namespace {

constexpr std::int64_t kPerSecond = 1'000'000'000;

Nanoseconds now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return Nanoseconds{std::int64_t{time.tv_sec} * kPerSecond + time.tv_nsec};
}

}  // namespace

Nanoseconds SystemClock::monotonic() {
  return now(CLOCK_MONOTONIC);
}

Nanoseconds SystemClock::realtime() {
  return now(CLOCK_REALTIME);
}

void SystemClock::sleep(Nanoseconds duration) {
  if (duration <= Nanoseconds::zero()) return;
  // Until a moment, not for a while: a signal then does not lengthen the sleep.
  const Nanoseconds start = monotonic();
  const Nanoseconds end = duration > Nanoseconds::max() - start ? Nanoseconds::max() : start + duration;
  const timespec until{.tv_sec = end.count() / kPerSecond, .tv_nsec = end.count() % kPerSecond};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

ClockPair read_clock_pair(Clock& clock) {
  // The thread may be moved off its core between two readings: the tightest of a few is kept.
  constexpr int kAttempts = 5;
  ClockPair best;
  Nanoseconds best_width = Nanoseconds::max();
  for (int attempt = 0; attempt < kAttempts && best_width > Nanoseconds::zero(); ++attempt) {
    const Nanoseconds before = clock.monotonic();
    const Nanoseconds realtime = clock.realtime();
    const Nanoseconds width = clock.monotonic() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {.monotonic_at = before + width / 2, .realtime_at = realtime};
  }
  return best;
}

std::string format_utc(Nanoseconds realtime_at) {
  using std::chrono::floor;
  const auto seconds = floor<std::chrono::seconds>(realtime_at);
  const auto days = floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date{std::chrono::sys_days{days}};
  const std::chrono::hh_mm_ss time{seconds - days};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace deepgap
