// What sensors said, in tables and JSON.
#pragma once

#include <span>

#include "core/summary.h"
#include "report/document.h"
#include "report/json_of.h"

namespace deepgap::report {

// A row a series.
Table telemetry_table(std::span<const TelemetrySummary> telemetry, const std::string& title);
// [{quantity, source, unit, process, n, min, median, max}]
Json json_of_telemetry(std::span<const TelemetrySummary> telemetry);

}  // namespace deepgap::report
