// Input tensors with seeded random values, and element types by their ONNX names.
#pragma once

#include <openvino/runtime/tensor.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "run/engine.h"

namespace deepgap::openvino {

std::optional<ov::element::Type> element_type(std::string_view onnx_name);
std::string onnx_name(const ov::element::Type& type);

// Every element uniform in [low, high); for integers a whole number of it, for bool 0 or 1. The type must be
// one that element_type() knows.
void fill_random(ov::Tensor& tensor, double low, double high, Random& random);

}  // namespace deepgap::openvino
