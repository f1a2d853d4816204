// Whether a warm-up is over: the running median has stopped drifting.
//
//   WarmupRule rule({.min_calls = 10, .min_time = 200ms});
//   while (!rule.done(samples, elapsed)) samples.push_back(time_one_call());
//   rule.result()     // steady, from call 14 of 31
//
// The calls so far are cut into quarters. Warm-up is over when the median of the last quarter differs from
// that of the one before by at most the tolerance, or by no more than the noise explains (two standard
// errors, from second differences, which a drift hardly enters), so that a noisy machine ends its warm-up
// too. Looks come on a geometric schedule; the rule wants two steady ones in a row, as a few noisy calls
// can hide a drift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/units.h"

namespace deepgap::stats {

struct WarmupOptions {
  std::int64_t min_calls = 8;                        // no verdict before; each quarter then has two calls
  Nanoseconds min_time{100'000'000};                 // nor before this time has passed
  std::int64_t max_calls = 10'000;                   // not steady by then: ends, and says so
  Nanoseconds time_limit{std::chrono::seconds(10)};  // the same for time
  double tolerance = 0.01;                           // relative change of the median from quarter to quarter
  double look_growth = 1.25;  // each look has this many times the calls of the one before
};

struct Steadiness {
  bool steady = false;
  std::size_t steady_from = 0;  // the first call from which on the series is level (to the tolerance); the
                                // number of calls if not steady
};

// A verdict on the calls so far, in time order, ns. Fewer than 8 calls are not steady.
Steadiness steadiness(std::span<const std::int64_t> samples, double tolerance = 0.01);

// The rule for a loop. Pure: it keeps no clock and no samples.
class WarmupRule {
 public:
  explicit WarmupRule(const WarmupOptions& options = {});

  // True when warm-up shall end: steady, or a limit was reached (steady() tells). `elapsed` is since the
  // first call.
  bool done(std::span<const std::int64_t> samples, Nanoseconds elapsed);

  const Steadiness& result() const { return result_; }

 private:
  WarmupOptions options_;
  std::int64_t next_look_;
  Steadiness result_;
};

}  // namespace deepgap::stats
