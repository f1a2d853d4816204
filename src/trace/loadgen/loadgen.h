// What MLPerf's LoadGen writes: mlperf_log_summary.txt for people, mlperf_log_detail.txt with the same
// figures as key and value, a line each.
//
//   Samples per second: 6121.33                          :::MLLOG {"key": "result_validity", "value":
//   "VALID", ...} 50.00 percentile latency (ns)   : 4810185            "pid": 1, "tid": 1, "ts": 20ns :
//   Scenario : Offline
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& loadgen_summary_importer();
const Importer& loadgen_detail_importer();

}  // namespace deepgap::trace
