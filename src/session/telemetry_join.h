// A sensor log beside what was measured meanwhile: joined by the wall clock.
#pragma once

#include <vector>

#include "core/measurement.h"
#include "core/telemetry_log.h"

namespace deepgap::session {

// The log's values from while each process of the measurement made its calls, on that process's
// CLOCK_MONOTONIC; and the nearest value before and behind, where it is no farther than the log's rows are
// from each other (sensors say the mean of what came before). Of several devices in the log the measurement's
// own: that of its number ("cuda:1", "gpu1") and name, where the log says them. Empty: nothing of it was
// logged, the log has no times of day, or it is of GPUs and the measurement of a CPU.
std::vector<TelemetrySeries> join_telemetry(const TelemetryLog& log, const Measurement& measurement);

}  // namespace deepgap::session
