// What PyTorch's profiler writes (Kineto, and before it the autograd profiler): Chrome's trace format, from
// torch 1.8 on, for CUDA and ROCm.
//
//   {"schemaVersion": 1, "deviceProperties": [...], "baseTimeNanoseconds": ..., "traceEvents": [
//    {"ph": "X", "cat": "kernel", "name": "...", "pid": 0, "tid": 7, "ts": 1234.567, "dur": 8.9, "args":
//    {...}}, ...]}
#pragma once

#include "trace/importer.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// The whole file as a Timeline, which is all that is kept of it. Errors (bad input): no JSON with events.
Result<Timeline> read_kineto(ByteSource& source);

const Importer& kineto_importer();

}  // namespace deepgap::trace
