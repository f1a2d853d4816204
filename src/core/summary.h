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
  std::int64_t samples = 0;
  std::optional<Estimate> latency;             // median of host latency; ns
  std::optional<Estimate> p50, p90, p95, p99;  // order statistics of the pooled samples; ns
  std::optional<Estimate>
      throughput;  // samples/s: measured over the window; in latency mode batch calls one at a time
  std::vector<Diagnostic> diagnostics;
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

CellSummary summarise(const Measurement& measurement);
ProcessSummary summarise(const ProcessRun& process);

// The batch of a sweep from which doubling gains less than its interval; see docs/statistics.md.
struct Saturation {
  std::int64_t batch = 1;  // smallest batch whose throughput no larger one exceeds by more than `margin`
  Estimate throughput;
  bool reached = false;  // false: throughput still grew at the largest batch measured
};
// Over the cells of one (model, engine, device, precision, mode), any order of batches; nothing with fewer
// than two.
std::optional<Saturation> find_saturation(std::span<const CellSummary> cells, double margin = 0.05);

}  // namespace deepgap
