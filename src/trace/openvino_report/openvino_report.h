// What OpenVINO's benchmark_app writes: its report (-report_type of any kind) and its counters of each layer
// (average_counters, detailed_counters), each as CSV with semicolons or, with -json_stats, as JSON.
//
//   Execution results                              layerName;execStatus;layerType;execType;realTime
//   (ms);cpuTime (ms) latency (ms);0.03 conv1;Status.EXECUTED;Convolution;brgconv_avx512_amx_bf16;0.025;0.025
//   throughput;4316.49                             Total;;;;0.235;0.235
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& openvino_report_importer();
const Importer& openvino_counters_importer();

}  // namespace deepgap::trace
