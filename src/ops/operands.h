// Where the two factors of a product stand among an operator's inputs.
#pragma once

#include "ops/signature.h"

namespace deepgap::ops {

struct Operands {
  std::size_t a = 0;
  std::size_t b = 1;
};

inline Operands operands_of(const OpSignature& op, const OpName& row) {
  if (row.rule == CostRule::kAddMatmul) return {1, 2};
  // Quantised ONNX operators: a, its scale and zero point, b, ...
  if (op.name == "QLinearConv" || op.name == "QLinearMatMul") return {0, 3};
  return {};
}

}  // namespace deepgap::ops
