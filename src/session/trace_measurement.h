// A trace as a measurement: its steps are the samples.
#pragma once

#include <string>

#include "base/result.h"
#include "core/measurement.h"
#include "trace/attribution.h"
#include "trace/importer.h"
#include "trace/quality.h"
#include "trace/steps.h"

namespace deepgap::session {

// One process whose samples are the steps that an average may have; warm-up steps count as warm-up calls. The
// verdict's diagnostics go with it, and that a profiler ran. What a trace does not say (model, batch) is as
// trace/result_cell.h has it. Errors (bad input): no step of the trace can be trusted.
Result<Measurement> measurement_of(const trace::Timeline& timeline, const trace::Steps& steps,
                                   const trace::Attribution& attribution, const trace::Quality& quality,
                                   const std::string& path, const trace::ImportOptions& options);

}  // namespace deepgap::session
