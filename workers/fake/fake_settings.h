// What the fake engine plants, as settings of a load: `fake.median=5ms`, `fake.distribution=ar1`, ...
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace deepgap::fake {

// How the times of calls are distributed about their median.
enum class Distribution {
  kConstant,
  kNormal,
  kLognormal,
  kAr1,
  kDrift,
  kTwoRegimes,
  kLevelShift,
  kSlowStart
};

// What goes wrong, and where. "At" a call is call number `at`, counted from the load.
enum class Scenario {
  kNone,
  kCrashAtLoad,  // a segmentation fault
  kCrashAtCall,
  kCrashBetween,  // exits with code 3 shortly after a measuring was answered
  kHangAtLoad,    // never comes back
  kHangAtCall,
  kExitAtCall,     // exits with code 0 in the middle
  kDeviceLost,     // the failure of that kind
  kGarbageLog,     // prints on stdout and stderr, which is allowed
  kGarbageReply,   // prints on the protocol's descriptor, which is not
  kWrongOrder,     // answers a request that was not made
  kTruncatedBlob,  // announces a blob and exits inside it
  kIgnoreExit,     // stays when its requests end
  kLongCalls,      // a call that takes `median` a thousand times
};

struct Settings {
  Nanoseconds median = std::chrono::milliseconds(1);  // of a call at batch 1
  Nanoseconds per_sample{};                           // more for each sample of a batch beyond `parallel`
  std::int64_t parallel = 1;                          // samples that cost no more than one
  Distribution distribution = Distribution::kNormal;
  double noise = 0.02;                   // relative standard deviation from call to call
  double correlation = 0.5;              // ar1: of a call with the one before
  double drift = 1e-4;                   // drift: relative growth a call
  double factor = 1.5;                   // two_regimes, level_shift, slow_start: the other level
  double share = 0.3;                    // two_regimes: of the calls at the other level
  double dwell = 1;                      // two_regimes: mean calls in a row at the other level
  std::int64_t at = 100;                 // call of a level shift or a scenario; length of a slow start
  double process_noise = 0;              // relative standard deviation from process to process
  std::optional<std::uint64_t> process;  // seeds that with the load's seed; absent: another draw each process
  std::optional<Nanoseconds> first_call;  // of the cold call; absent: ten times the median
  Nanoseconds load_time{};
  int slots = 2;              // calls in flight, where the load names no number
  int servers = 2;            // of them worked on side by side
  bool virtual_time = false;  // times are planted exactly and not waited for
  Scenario scenario = Scenario::kNone;
  std::optional<std::int64_t> most_batch;         // out_of_memory above it
  Bytes bytes_per_sample{std::int64_t{1} << 30};  // that this then asks for
};

// The names of all settings, "fake.median" first; those that describe() gives.
std::vector<std::string> setting_names();
// Errors: an unknown name, a value that does not parse (says what was expected).
Result<Settings> parse_settings(const std::map<std::string, std::string>& settings);
// Also by $DEEPGAP_FAKE_SCENARIO, for trouble with programs that set nothing.
std::optional<Scenario> parse_scenario(std::string_view name);

}  // namespace deepgap::fake
