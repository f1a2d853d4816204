// Names that programs and frameworks give to stretches of a thread, where traces record them like ops.
//
//   range_kind("ProfilerStep#3") -> kProgram     range_kind("aten::linear") -> kNone
#pragma once

#include <cstdint>
#include <string_view>

namespace deepgap::trace {

enum class RangeKind : std::uint8_t {
  kNone,     // an op
  kProgram,  // what the program does: steps, an input pipeline, an optimizer
  kWrapper,  // what leads to ops: autograd's evaluation, TorchScript, compiled graphs
  kNode,     // an autograd node by its plain name, which holds ops or launches itself
  kPlain,    // any other name without a namespace: a range, or a kernel that a compiler made
};
RangeKind range_kind(std::string_view name);

// "layer1.0.conv1"; not "Optimizer.step#SGD.step", "DistributedDataParallel.forward".
bool looks_like_module(std::string_view name);

}  // namespace deepgap::trace
