// What TensorRT's trtexec exports, and what TensorRT Engine Explorer makes of its log:
//
//   --exportTimes FILE       [{ "startEnqMs" : 3.78, "endEnqMs" : 3.82, ..., "computeMs" : 1.93, "latencyMs"
//   : 1.93 }, ...]
//   --exportProfile FILE     [{ "count" : 1600 }, { "name" : "Conv_0 + Relu_1", "timeMs" : 111.6, "averageMs"
//   : 0.11, ...}, ...]
//   --exportLayerInfo FILE   {"Layers": [{"Name": "Conv_0 + Relu_1", "TacticName": "sm80_xmma_...", ...}],
//   "Bindings": [...]} process_engine.py        {"performance_summary": {"Throughput": 1155.36, "Latency":
//   [...]}, "inference_options": ...}
//
// Runs appended to one file stand there as several lists, one behind the other.
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& trtexec_times_importer();
const Importer& trtexec_profile_importer();
const Importer& trtexec_layers_importer();
const Importer& trtexec_summary_importer();

}  // namespace deepgap::trace
