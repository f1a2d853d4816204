// What a call of CUDA's or HIP's runtime or driver is for, by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace deepgap::trace {

enum class CallKind : std::uint8_t {
  kLaunch,       // puts a kernel on the device
  kLaunchGraph,  // puts a graph there
  kLaunchCopy,   // puts a copy or memset there, and does not wait for it
  kCopy,         // copies and waits for it
  kSynchronise,  // waits for the device, a stream or an event
  kQuery,        // asks whether an event or a stream is done: a wait where it takes long
  kAllocate,     // takes or gives back memory, which may wait for the device
  kLoad,         // loads a module or a library
  kLookUp,       // of a context, a module or a function, which loads it where it was not there yet
  kOther,
};

//   call_kind("cudaLaunchKernel") -> kLaunch     call_kind("hipFree") -> kAllocate
CallKind call_kind(std::string_view name);

inline bool puts_work(CallKind kind) {
  return kind == CallKind::kLaunch || kind == CallKind::kLaunchGraph || kind == CallKind::kLaunchCopy;
}

}  // namespace deepgap::trace
