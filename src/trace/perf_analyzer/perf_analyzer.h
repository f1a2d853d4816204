// The CSV of Triton's perf_analyzer (`-f FILE`): a row for each concurrency or request rate that was tried.
//
//   Concurrency,Inferences/Second,Client Send,...,p50 latency,p90 latency,p95 latency,p99 latency,Avg
//   latency,... 2,5868.79,4,...,322,428,486,598,339,...,GPU-8557549f-...:0.045;,
//
// Times are whole microseconds. Columns of devices hold a list of UUID:value pairs.
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& perf_analyzer_importer();

}  // namespace deepgap::trace
