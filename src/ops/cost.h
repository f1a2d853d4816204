// The work of one operator call: arithmetic and the least memory traffic, from shapes and types alone.
//
//   cost_of(conv)  ->  flops 1'888'223'232, read 4'854'528 B (weights 37'632 B of them), written 25'690'112 B
//
// FLOPs count a multiply-add as 2 and are those of the direct algorithm: Winograd or FFT convolutions do
// fewer, and padding is counted as if it were data, as every published figure does. Bytes are compulsory
// traffic: each input once, each output once, nothing for what stays in a cache. A cost that shapes do not
// determine is absent.
//
// Arithmetic on single elements is weighted as in McMahon, "The Livermore Fortran Kernels", UCRL-53745
// (1986): add, subtract, multiply, compare 1; divide and square root 4; exponential, logarithm, trigonometric
// and error function 8. The weights are a convention (GPUs and vector units differ); they matter only for ops
// that memory bounds anyway.
#pragma once

#include <optional>

#include "base/units.h"
#include "ops/signature.h"

namespace deepgap::ops {

struct Cost {
  std::optional<Flops> flops;    // 0 for pure movement
  std::optional<Bytes> read;     // all inputs, weights included
  std::optional<Bytes> written;  // all outputs
  std::optional<Bytes> weights;  // the part of `read` that is the same at each call

  bool operator==(const Cost&) const = default;
};

// FLOPs an element of single arithmetic steps.
inline constexpr int kSimpleFlops = 1;
inline constexpr int kDivideFlops = 4;
inline constexpr int kSquareRootFlops = 4;
inline constexpr int kTranscendentalFlops = 8;

// Never fails: what cannot be told is absent. Hostile shapes (overflow, negative) count as not known.
Cost cost_of(const OpSignature& op);

// The class of a call: that of its name, refined by shapes (a convolution with one input channel a group is
// depthwise; an einsum without a contraction is elementwise). Nothing for a name that is in no table.
std::optional<OpClass> class_of(const OpSignature& op);

// The shape of the first output, inferred from inputs and attributes where it was not recorded.
std::optional<Shape> output_shape(const OpSignature& op);

}  // namespace deepgap::ops
