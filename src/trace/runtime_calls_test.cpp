#include "trace/runtime_calls.h"

#include <gtest/gtest.h>

namespace deepgap::trace {
namespace {

TEST(CallKind, IsToldByTheName) {
  for (const char* name :
       {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch",
        "hipLaunchKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipGraphLaunch",
        "cudaMemcpyAsync", "cudaMemsetAsync", "hipMemcpyAsync", "cuMemcpyHtoDAsync_v2"}) {
    EXPECT_EQ(call_kind(name), CallKind::kLaunch) << name;
  }
  for (const char* name : {"cudaMemcpy", "hipMemcpy", "cudaMemcpy2D", "cuMemcpyDtoH_v2", "cudaMemset"}) {
    EXPECT_EQ(call_kind(name), CallKind::kCopy) << name;
  }
  for (const char* name : {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                           "hipDeviceSynchronize", "cuCtxSynchronize"}) {
    EXPECT_EQ(call_kind(name), CallKind::kSynchronise) << name;
  }
  for (const char* name :
       {"cudaMalloc", "cudaMallocAsync", "cudaFree", "cudaHostAlloc", "hipMalloc", "hipFree", "cuMemAlloc_v2",
        "cudaMallocHost", "cudaFreeHost", "cuMemCreate", "hipHostMalloc"}) {
    EXPECT_EQ(call_kind(name), CallKind::kAllocate) << name;
  }
  for (const char* name : {"cuModuleLoadData", "cuLibraryLoadData", "hipModuleLoad", "cuModuleLoadDataEx"}) {
    EXPECT_EQ(call_kind(name), CallKind::kLoad) << name;
  }
  for (const char* name :
       {"cudaGetDevice", "cudaEventRecord", "cudaStreamWaitEvent", "cudaFuncGetAttributes", "INVALID", "",
        "cudaLaunchHostFunc", "cudaPeekAtLastError", "cudaStreamIsCapturing"}) {
    EXPECT_EQ(call_kind(name), CallKind::kOther) << name;
  }
}

}  // namespace
}  // namespace deepgap::trace
