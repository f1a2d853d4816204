// A timeline written as a trace that ui.perfetto.dev and chrome://tracing open: what was kept of it, clean
// (times from 0, no damage, ids as whole numbers), with the steps and their labels as tracks of their own
// above it.
//
//   {"displayTimeUnit": "ns", "traceEvents": [
//    {"ph":"X","pid":1,"tid":2,"ts":12.345,"dur":3.210,"name":"idle_host_launch","cat":"label"}, ...
//
// In the JSON form of the Trace Event Format, which lets slices of one thread nest but not overlap: what
// overlaps on a stream goes to a further track beside it. Perfetto's own protobuf format would be smaller;
// this one can be read by everything that reads traces, this program among them.
#pragma once

#include "base/file_system.h"
#include "base/result.h"
#include "trace/attribution.h"
#include "trace/steps.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// Errors are those of `write`.
Result<void> write_perfetto(const Timeline& timeline, const Steps& steps, const Attribution& attribution,
                            const ByteSink& write);

}  // namespace deepgap::trace
