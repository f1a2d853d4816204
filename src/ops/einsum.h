// Einstein summation: what an equation like "bchw,bcn->bhwn" computes and what that costs.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/count.h"
#include "ops/signature.h"

namespace deepgap::ops {

struct Einsum {
  Shape output;
  Count flops;
  bool contracts = false;  // some label is summed over a product of two operands
};

// Operands are taken from left to right, two at a time, summing a label as soon as no later operand and not
// the output has it: 2 FLOPs for each combination of the labels of a step that sums, 1 for one that does not.
// A single operand costs 1 for each element that is summed. An implicit output ("ij,jk") is the labels that
// occur once, sorted, as in numpy. Nothing for an equation that is malformed or does not fit the shapes.
std::optional<Einsum> analyse_einsum(std::string_view equation, std::span<const TensorShape> operands);

}  // namespace deepgap::ops
