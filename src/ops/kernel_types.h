// Names of element types as kernels' names have them: "bf16", "f32", "c10::Half", "tf32f32".
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/precision.h"

namespace deepgap::ops {

// A type that was recognised; 32-bit integers are no Precision.
struct ElementType {
  std::optional<Precision> precision;
};

// "f16", "bf16", "tf32", "s8", "e4m3", "cf32" (complex: of its parts), "i32", "fp32", "half", "int8", ...
std::optional<ElementType> parse_type_word(std::string_view word);
// "tf32f32" -> TF32, FP32; "F32BF16BF16F32" -> four. Empty where the word is anything else.
std::vector<ElementType> parse_type_run(std::string_view word);
// The first floating point or 8-bit type that C++ text names, outside of parentheses: "int, c10::Half,
// float".
std::optional<Precision> first_type(std::string_view cpp_text);
// The first such type among the parameters of lambdas: "{lambda(c10::Half)#1}" and "[lambda(float) (instance
// 1)]". In ATen it is the element's, whatever types stand before it.
std::optional<Precision> lambda_type(std::string_view cpp_text);

}  // namespace deepgap::ops
