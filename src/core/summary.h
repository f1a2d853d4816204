// What is derived from a measurement's raw samples: estimates, recomputed each time, never stored.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/estimate.h"
#include "core/measurement.h"

namespace deepgap {

// One row of `deepgap list`.
struct CellSummary {
  MeasurementId id;
  SweepId sweep;
  CellKey key;
  std::string device_name;
  int processes = 0;
  int planned_processes = 0;
  bool reported_only = false;  // imported figures without samples: there is nothing to summarise
  std::int64_t samples = 0;
  // Median of host latency, in throughput mode of calls in flight; ns.
  std::optional<Estimate> latency;
  // Order statistics of the pooled samples, their intervals with the variation between processes as that of
  // the median; p50 is `latency`; ns.
  std::optional<Estimate> p50, p90, p95, p99;
  // samples/s: finished in the window by its length; in latency mode of calls made one at a time, from the
  // start of the first to the end of the last. `method` says which.
  std::optional<Estimate> throughput;
  // Medians of the calls' other times, where the engine says them and the summary is a full one; ns.
  std::optional<Estimate> enqueue_time, device_time;
  std::vector<Diagnostic> diagnostics;  // the stored ones, then the derived ones
  std::optional<CellFailure> failure;
  std::int64_t created_realtime_ns = 0;
};

// One process of `deepgap show`.
struct ProcessSummary {
  int index = 0;
  std::int64_t samples = 0;
  std::optional<Estimate> median;
  std::optional<Nanoseconds> load_time, first_call;
  std::int64_t warmup_calls = 0;
  StopReason stop_reason = StopReason::kPrecisionReached;
  std::optional<Bytes> peak_memory;
};

// One series of `deepgap show`: what lies between its smallest and largest value, those that are no numbers
// left out.
struct TelemetrySummary {
  std::string quantity;
  std::string source;
  Unit unit = Unit::kWatts;
  std::optional<int> process;
  std::int64_t n = 0;
  std::optional<double> minimum, median, maximum;  // absent: no value is a number
};

// What a summary may cost: a quick one leaves out the search for regimes (two_regimes, level_shift) and the
// times beside the host's, for lists of thousands of cells.
enum class SummaryDepth { kQuick, kFull };

CellSummary summarise(const Measurement& measurement, SummaryDepth depth = SummaryDepth::kFull);
ProcessSummary summarise(const ProcessRun& process);
TelemetrySummary summarise(const TelemetrySeries& series);

// The batch from which a larger one gains no more throughput, and the throughput there:
//
//   batch           1     8    16    32    64
//   samples/s      31    88    96    98    97     all +- 1 %: batch 16, reached
//                                                 all +- 6 %: cannot tell, batch 16 to 32
//
// A larger batch's gain counts where it is more than `margin` and the intervals show that there is one; it is
// excluded where it is at most `margin` and the intervals show that it is at most twice that
// (docs/statistics.md).
enum class SaturationState {
  kReached,       // every larger batch's gain is excluded, and every smaller batch is exceeded
  kStillGrowing,  // every batch but the largest is exceeded
  kCannotTell,    // the intervals are too wide for either
};
std::string_view name_of(SaturationState state);  // "reached", "still_growing", "cannot_tell"

struct Saturation {
  SaturationState state = SaturationState::kCannotTell;
  std::int64_t batch = 1;  // still growing: the largest measured; cannot tell: it is no smaller one
  std::optional<std::int64_t> at_most;  // cannot tell: it is no larger one; absent: none of those measured
  std::optional<Estimate> throughput;   // at `batch`; absent where one cannot tell
  std::int64_t by_values = 1;           // what it is by the point values alone, whatever their intervals
};
// Over the cells of one (model, engine, device, precision, mode), in any order of batches; cells without a
// throughput are left out. Absent with fewer than two batches.
std::optional<Saturation> find_saturation(std::span<const CellSummary> cells, double margin = 0.05);

}  // namespace deepgap
