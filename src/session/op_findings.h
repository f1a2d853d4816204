// A trace's ops as findings of the verb `trace`.
#pragma once

#include <vector>

#include "report/trace_findings.h"
#include "trace/traced_ops.h"

namespace deepgap::session {

// Means of `steps`, in whole nanoseconds: charges by largest remainder, so that they add up to the mean of
// the label `kernel`, rounded down.
std::vector<report::TraceFindings::Op> op_findings(const trace::Timeline& timeline,
                                                   const trace::TracedOps& traced,
                                                   const std::vector<std::size_t>& steps);

}  // namespace deepgap::session
