// A trace as a measurement: its steps are the samples.
#pragma once

#include <string>

#include "base/result.h"
#include "core/measurement.h"
#include "trace/importer.h"
#include "trace/quality.h"
#include "trace/steps.h"
#include "trace/traced_ops.h"

namespace deepgap::session {

// One process whose samples are the steps that an average may have; warm-up steps count as warm-up calls. The
// verdict's diagnostics go with it, and that a profiler ran. The precision is the one by which most of the
// time of products and convolutions went, where their kernels say it; what a trace does not say (model,
// batch) is as trace/result_cell.h has it. Errors (bad input): no step of the trace can be trusted.
Result<Measurement> measurement_of(const trace::Timeline& timeline, const trace::Steps& steps,
                                   const trace::Quality& quality, const trace::TracedOps& traced,
                                   const std::string& path, const trace::ImportOptions& options);

}  // namespace deepgap::session
