// Figures that a foreign tool reported without samples, in tables and JSON.
#pragma once

#include <span>

#include "core/measurement.h"
#include "report/document.h"
#include "report/json_of.h"

namespace deepgap::report {

// A row a run of the tool, a column a figure. No rows where nothing was reported.
Table reported_table(std::span<const ReportedValue> values);
// [{run, metric, value, unit, n}]
Json json_of_reported(std::span<const ReportedValue> values);

}  // namespace deepgap::report
