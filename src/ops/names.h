// The table of operator names, a file a front end. catalogue.cpp looks into them.
//
// The last column of a row is FLOPs an element, built from the weights of cost.h. Worked out: Sigmoid 1 / (1
// + exp(-x)) is 1 + 8 + 1 + 4 = 14; GELU x / 2 (1 + erf(x / sqrt 2)) 1 + 8 + 1 + 2 = 12; Softmax compare,
// subtract, exp, add, divide 1 + 1 + 8 + 1 + 4 = 15; layer normalisation two sums, subtract, square, three
// products and a sum 7; x^y as exp(y log x) 17. Sorting and top-k count one comparison an element, the least
// that they do. Where the work depends on data, or the form is not settled, the rule is kUnknown: the cost is
// then not known.
#pragma once

#include <span>

#include "ops/op_class.h"

namespace deepgap::ops {

// Sorted by name, each once (catalogue_test.cpp).
std::span<const OpName> onnx_names();
std::span<const OpName> aten_names();
std::span<const OpName> openvino_names();

}  // namespace deepgap::ops
