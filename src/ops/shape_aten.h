// Part of output_shape(): ATen calls that move, select, fill, reduce or resize.
#pragma once

#include <optional>

#include "ops/signature.h"

namespace deepgap::ops {

// Attributes by the names of the schemas: "dim", "keepdim", "size", "output_size", "pad", "repeats".
std::optional<Shape> aten_output(const OpSignature& op, CostRule rule);

}  // namespace deepgap::ops
