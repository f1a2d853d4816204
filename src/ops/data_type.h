// Element types of tensors under one name, whichever front end spelt them.
//
//   parse_data_type("f32"), ("float"), ("torch.float32"), ("FLOAT")  -> DataType::kFloat32
//   name_of(DataType::kFloat32) -> "float32"             bits_of(DataType::kInt4) -> 4
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace deepgap::ops {

enum class DataType {
  kUnknown,
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat8E4M3,
  kFloat8E5M2,
  kFloat4,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kInt4,
  kInt2,
  kUInt64,
  kUInt32,
  kUInt16,
  kUInt8,
  kUInt4,
  kUInt2,
  kBool,
  kComplex64,
  kComplex128,
  kString,
};

// "float32", "int8", "bool", ...; "unknown".
std::string_view name_of(DataType type);
// Any spelling of ONNX ("FLOAT"), OpenVINO ("f32", "boolean"), ATen and c10 ("c10::Half", "long int"), numpy.
// kUnknown for a spelling that none of them has.
DataType parse_data_type(std::string_view text);
// Bits of one element as stored densely; nothing for strings and the unknown.
std::optional<int> bits_of(DataType type);
bool is_floating(DataType type);
bool is_integer(DataType type);  // bool is not
// Bytes of `count` elements, packed; nothing where the type's size is not known or the product does not fit
// 63 bits.
std::optional<Bytes> bytes_of(DataType type, std::int64_t count);

}  // namespace deepgap::ops
