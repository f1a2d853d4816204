// What a call of CUDA's or HIP's runtime or driver is for, by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace deepgap::trace {

enum class CallKind : std::uint8_t {
  kLaunch,       // puts work on the device: kernels, graphs, copies and memsets that do not block
  kCopy,         // copies and waits for it
  kSynchronise,  // waits for the device, a stream or an event
  kAllocate,     // takes or gives back memory, which may wait for the device
  kLoad,         // loads a module or a library
  kOther,
};

//   call_kind("cudaLaunchKernel") -> kLaunch     call_kind("hipFree") -> kAllocate
CallKind call_kind(std::string_view name);

}  // namespace deepgap::trace
