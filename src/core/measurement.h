// One measurement: the key of its cell, raw samples of all its processes, and everything they depend on.
// Facts only; what is derived (quantiles, throughput) is in core/summary.h and is recomputed each time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/units.h"
#include "core/device.h"
#include "core/diagnostic.h"
#include "core/setting.h"
#include "core/workload.h"

namespace deepgap {

// Raw samples of one process, one entry a call, in the order of their starts. Columns are of equal length or
// absent (empty).
struct SampleColumns {
  std::vector<std::int64_t> start_ns;    // CLOCK_MONOTONIC at the call
  std::vector<std::int64_t> host_ns;     // what the caller waited; in throughput mode submit to completion
  std::vector<std::int64_t> enqueue_ns;  // host time to submit; empty: the engine does not say
  std::vector<std::int64_t> device_ns;   // between device events; empty: likewise

  std::size_t size() const { return host_ns.size(); }
};

// Why the measuring loop ended.
enum class StopReason { kPrecisionReached, kTimeLimit, kSampleLimit, kFixedCount, kCancelled };
// "precision_reached", "time_limit", "sample_limit", "fixed_count", "cancelled"
std::string_view name_of(StopReason reason);
std::optional<StopReason> parse_stop_reason(std::string_view name);

// What one process of a cell gave.
struct ProcessRun {
  int index = 0;                          // 0, 1, ...: the repeat
  std::optional<Nanoseconds> load_time;   // from `load` to ready
  std::optional<Nanoseconds> first_call;  // the cold call, not among the samples
  std::int64_t warmup_calls = 0;
  Nanoseconds warmup_time{};
  SampleColumns samples;
  std::optional<Nanoseconds> window;        // throughput: the span over which `completed` calls ended
  std::int64_t completed = 0;               // throughput: calls that ended in the window
  std::optional<Bytes> peak_memory;         // of the process, resident
  std::optional<Bytes> peak_device_memory;  // of the engine's allocator
  StopReason stop_reason = StopReason::kPrecisionReached;
  ClockPair started;  // joins CLOCK_MONOTONIC to wall-clock time
};

// A series sampled beside the calls, on CLOCK_MONOTONIC.
struct TelemetrySeries {
  std::string quantity;  // "power", "clock.sm", "temperature"
  std::string source;    // "nvml:GPU-...", "cpufreq:cpu0"
  Unit unit = Unit::kWatts;
  std::vector<std::int64_t> at_ns;
  std::vector<double> values;
  std::optional<int> process = {};  // index of the process beside which it ran; absent: of the whole cell
};

// How far an output was from the reference's, kept beside the speed.
struct AccuracyRecord {
  std::string reference;  // "openvino/cpu/fp32"
  std::string quantity;   // "relative_l2", "top1_agreement"
  double value = 0;
  std::int64_t n = 0;
  std::optional<int> process = {};  // index of the process whose output it was; absent: of the whole cell
};

// A figure that a foreign tool reported without the samples behind it: kept as the fact that it was reported.
struct ReportedValue {
  std::string metric;  // id of the metric catalogue: "p50", "p99", "throughput"
  double value = 0;
  Unit unit = Unit::kNanoseconds;
  std::optional<std::int64_t> n;  // observations behind it, where the tool says
  int process = 0;                // which of the tool's runs it belongs to
};

// Why a cell has no samples, when it has none.
struct CellFailure {
  std::string kind;  // "out_of_memory", "crash", "hang", "unsupported", "protocol", "refused"
  std::string text;
  std::optional<Bytes> bytes_asked;
};

struct Measurement {
  MeasurementId id;
  SweepId sweep;
  CellKey key;
  Device device;
  std::string engine_version;
  std::int64_t created_realtime_ns = 0;  // since 1970, UTC
  int planned_processes = 1;
  // Half-width that the 95 % interval of the median was to have, relative; absent: none was asked for.
  std::optional<double> target;
  std::vector<ProcessRun> processes;
  std::vector<Setting> settings;  // run context, requested and effective
  std::vector<Diagnostic> diagnostics;
  std::vector<TelemetrySeries> telemetry;
  std::vector<AccuracyRecord> accuracy;
  std::vector<ReportedValue> reported;
  std::optional<CellFailure> failure;
  std::string origin = "run";  // "run", "import:FORMAT", "merge"

  std::int64_t sample_count() const;
};

}  // namespace deepgap
