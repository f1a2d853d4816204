// What a traced op was called with, as the formulas of ops/cost.h take it.
//
//   signature_of(timeline, event)   // aten::conv2d, inputs float32 [47, 3, 256, 256], [64, 3, 7, 7], stride
//   [2, 2]
#pragma once

#include <string_view>

#include "ops/signature.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// The tensors among an op's inputs; of a list of tensors each one.
struct TensorInputs {
  std::vector<std::vector<std::int64_t>> shapes;  // empty where the trace lacks one of them
  std::vector<std::string> dtypes;                // "float32"; "unknown"
};

// The texts of an OpDetail as a trace has them: "[[8, 3], []]", R"(["float", "Scalar"])", R"(["", "1"])".
// Texts that are no such lists give nothing.
TensorInputs tensor_inputs(std::string_view shapes, std::string_view dtypes);
TensorInputs tensor_inputs(const Timeline& timeline, const Event& op);

// Never fails: what the trace does not say is absent, and then so is the cost that hangs on it (the strides
// of a convolution in traces without values).
ops::OpSignature signature_of(std::string_view name, std::string_view shapes, std::string_view dtypes,
                              std::string_view values);
ops::OpSignature signature_of(const Timeline& timeline, const Event& op);

}  // namespace deepgap::trace
