// What ONNX Runtime's profiler writes (SessionOptions::enable_profiling): a list of events in Chrome's
// format.
//
//   [{"cat" : "Session","pid" :609,"tid" :609,"dur" :93457,"ts" :296640,"ph" : "X","name" :"model_run","args"
//   : {}},
//    {"cat" : "Node", ..., "name" :"conv1_kernel_time","args" : {"op_name" : "Conv","provider" :
//    "CPUExecutionProvider","input_type_shape" : [{"float":[1,3,224,224]}, ...]}}, ...]
//
// A node becomes an op of its operator's name; a model_run a range, by which steps are found.
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& ort_profile_importer();

}  // namespace deepgap::trace
