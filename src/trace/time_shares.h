// Whose the time is in which the device computes: those that run side by side share it.
//
//   a: 0..10, b: 5..20, step 0..30   ->   a 7.5, b 12.5: together the 20 in which anything ran
#pragma once

#include <cstdint>
#include <vector>

#include "trace/host_compute.h"
#include "trace/steps.h"

namespace deepgap::trace {

inline constexpr std::uint32_t kNoOp = 0xffffffff;

// A time in which an op has something running.
struct OpRun {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t op = 0;
};

struct Charge {
  std::uint32_t step = 0;
  std::uint32_t op = kNoOp;  // kNoOp: what has run since the step before the last one, and what no op ran in
  std::int64_t ns = 0;
  bool operator==(const Charge&) const = default;
};

struct Charges {
  std::vector<Charge> charges;  // by step, then op; one for each pair that has any
  std::vector<std::int64_t>
      computed_ns;  // of each step: in which anything runs. Exactly the sum of its charges.
};

// `runs` by start; several of one op that overlap count once. Whole nanoseconds by largest remainder, of
// equal ones the first op. Time and memory are linear in the runs and steps, but for one sort by end.
Charges share_time(const std::vector<OpRun>& runs, const Steps& steps);
// The same of these times alone, by start and apart; here what no op runs in is a charge too.
Charges share_time(const std::vector<OpRun>& runs, const Steps& steps, const std::vector<Interval>& times);

}  // namespace deepgap::trace
