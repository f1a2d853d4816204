// What `nsys stats --format csv` writes: summaries of kernels, copies, calls and ranges, and the list of all
// that ran on the device, several of them in one file, each behind a line that names it.
//
//    ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):
//
//   Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name
//   61.0,123456,12,10288.0,10200.0,9000,12000,800.1,gemm_kernel
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& nsys_stats_importer();

}  // namespace deepgap::trace
