// What Nsight Compute prints with --csv: metrics of each kernel, a row a metric (long) or a row a kernel,
// with the units in the row behind the names (--page raw), among lines of the tool and of the profiled
// program.
//
//   ==PROF== Connected to process 23056
//   "ID","Process ID",...,"Kernel Name",...,"Metric Name","Metric Unit","Metric Value"
//   "0","23056",...,"gemm_tiled_kernel",...,"gpu__time_duration.sum","ns","10,195,552"
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& ncu_csv_importer();

}  // namespace deepgap::trace
