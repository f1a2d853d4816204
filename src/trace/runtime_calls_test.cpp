#include "trace/runtime_calls.h"

#include <gtest/gtest.h>

namespace deepgap::trace {
namespace {

TEST(CallKind, IsToldByTheName) {
  for (const char* name : {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel",
                           "cuLaunchKernelEx"
                           "hipLaunchKernel",
                           "hipModuleLaunchKernel", "hipExtModuleLaunchKernel"}) {
    EXPECT_EQ(call_kind(name), CallKind::kLaunch) << name;
  }
  for (const char* name : {"cudaGraphLaunch", "hipGraphLaunch", "cuGraphLaunch"}) {
    EXPECT_EQ(call_kind(name), CallKind::kLaunchGraph) << name;
  }
  for (const char* name : {"cudaMemcpyAsync", "cudaMemsetAsync", "hipMemcpyAsync", "cuMemcpyHtoDAsync_v2"}) {
    EXPECT_EQ(call_kind(name), CallKind::kLaunchCopy) << name;
  }
  for (const char* name : {"cudaMemcpy", "hipMemcpy", "cudaMemcpy2D", "cuMemcpyDtoH_v2", "cudaMemset"}) {
    EXPECT_EQ(call_kind(name), CallKind::kCopy) << name;
  }
  for (const char* name : {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                           "hipDeviceSynchronize", "cuCtxSynchronize", "hsa_signal_wait_scacquire"}) {
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
       {"cudaFuncGetAttributes", "cuModuleGetFunction", "cuLibraryGetKernel", "cudaSetDevice",
        "cuDevicePrimaryCtxRetain", "cuModuleUnload", "cudaGraphExecUpdate"}) {
    EXPECT_EQ(call_kind(name), CallKind::kLookUp) << name;
  }
  for (const char* name : {"cudaEventQuery", "hipEventQuery", "cudaStreamQuery"}) {
    EXPECT_EQ(call_kind(name), CallKind::kQuery) << name;
  }
  for (const char* name : {"cudaGetDevice", "cudaEventRecord", "cudaStreamWaitEvent", "INVALID", "",
                           "cudaLaunchHostFunc", "cudaPeekAtLastError", "cudaStreamIsCapturing"}) {
    EXPECT_EQ(call_kind(name), CallKind::kOther) << name;
  }
}

}  // namespace
}  // namespace deepgap::trace
