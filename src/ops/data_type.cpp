#include "ops/data_type.h"

#include <array>
#include <limits>

#include "base/text.h"

namespace deepgap::ops {
namespace {

struct TypeRow {
  DataType type;
  std::string_view name;
  int bits;  // 0: not fixed
  bool floating;
  bool integer;
};

constexpr std::array kTypes = {
    TypeRow{DataType::kUnknown, "unknown", 0, false, false},
    TypeRow{DataType::kFloat64, "float64", 64, true, false},
    TypeRow{DataType::kFloat32, "float32", 32, true, false},
    TypeRow{DataType::kFloat16, "float16", 16, true, false},
    TypeRow{DataType::kBFloat16, "bfloat16", 16, true, false},
    TypeRow{DataType::kFloat8E4M3, "float8e4m3", 8, true, false},
    TypeRow{DataType::kFloat8E5M2, "float8e5m2", 8, true, false},
    TypeRow{DataType::kFloat4, "float4", 4, true, false},
    TypeRow{DataType::kInt64, "int64", 64, false, true},
    TypeRow{DataType::kInt32, "int32", 32, false, true},
    TypeRow{DataType::kInt16, "int16", 16, false, true},
    TypeRow{DataType::kInt8, "int8", 8, false, true},
    TypeRow{DataType::kInt4, "int4", 4, false, true},
    TypeRow{DataType::kInt2, "int2", 2, false, true},
    TypeRow{DataType::kUInt64, "uint64", 64, false, true},
    TypeRow{DataType::kUInt32, "uint32", 32, false, true},
    TypeRow{DataType::kUInt16, "uint16", 16, false, true},
    TypeRow{DataType::kUInt8, "uint8", 8, false, true},
    TypeRow{DataType::kUInt4, "uint4", 4, false, true},
    TypeRow{DataType::kUInt2, "uint2", 2, false, true},
    TypeRow{DataType::kBool, "bool", 8, false, false},
    TypeRow{DataType::kComplex64, "complex64", 64, false, false},
    TypeRow{DataType::kComplex128, "complex128", 128, false, false},
    TypeRow{DataType::kString, "string", 0, false, false},
};

struct Spelling {
  std::string_view text;  // lower case, without a "torch." or "c10::" in front
  DataType type;
};

// Besides the names above. ATen traces write C++ type names: "float", "c10::Half", "long int", "unsigned
// char".
constexpr Spelling kSpellings[] = {
    {"double", DataType::kFloat64},
    {"f64", DataType::kFloat64},
    {"float", DataType::kFloat32},
    {"f32", DataType::kFloat32},
    {"half", DataType::kFloat16},
    {"f16", DataType::kFloat16},
    {"bf16", DataType::kBFloat16},
    {"float8_e4m3fn", DataType::kFloat8E4M3},
    {"float8e4m3fn", DataType::kFloat8E4M3},
    {"float8e4m3fnuz", DataType::kFloat8E4M3},
    {"float8_e4m3fnuz", DataType::kFloat8E4M3},
    {"f8e4m3", DataType::kFloat8E4M3},
    {"float8_e5m2", DataType::kFloat8E5M2},
    {"float8e5m2fnuz", DataType::kFloat8E5M2},
    {"float8_e5m2fnuz", DataType::kFloat8E5M2},
    {"f8e5m2", DataType::kFloat8E5M2},
    {"float4e2m1", DataType::kFloat4},
    {"f4e2m1", DataType::kFloat4},
    {"long", DataType::kInt64},
    {"long int", DataType::kInt64},
    {"long long", DataType::kInt64},
    {"i64", DataType::kInt64},
    {"int", DataType::kInt32},
    {"i32", DataType::kInt32},
    {"short", DataType::kInt16},
    {"short int", DataType::kInt16},
    {"i16", DataType::kInt16},
    {"char", DataType::kInt8},
    {"signed char", DataType::kInt8},
    {"i8", DataType::kInt8},
    {"qint8", DataType::kInt8},
    {"i4", DataType::kInt4},
    {"u64", DataType::kUInt64},
    {"unsigned long", DataType::kUInt64},
    {"u32", DataType::kUInt32},
    {"unsigned int", DataType::kUInt32},
    {"u16", DataType::kUInt16},
    {"unsigned short", DataType::kUInt16},
    {"byte", DataType::kUInt8},
    {"unsigned char", DataType::kUInt8},
    {"u8", DataType::kUInt8},
    {"quint8", DataType::kUInt8},
    {"u4", DataType::kUInt4},
    {"u2", DataType::kUInt2},
    {"boolean", DataType::kBool},
    {"complexfloat", DataType::kComplex64},
    {"complex<float>", DataType::kComplex64},
    {"complexdouble", DataType::kComplex128},
    {"complex<double>", DataType::kComplex128},
};

const TypeRow& row_of(DataType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace

std::string_view name_of(DataType type) {
  return row_of(type).name;
}

DataType parse_data_type(std::string_view text) {
  if (text.size() > 40) return DataType::kUnknown;
  const std::string lowered = lower(trim(text));
  std::string_view key = lowered;
  for (const std::string_view prefix : {"torch.", "c10::", "at::"}) {
    if (key.starts_with(prefix)) key.remove_prefix(prefix.size());
  }
  for (const TypeRow& row : kTypes) {
    if (row.name == key) return row.type;
  }
  for (const Spelling& spelling : kSpellings) {
    if (spelling.text == key) return spelling.type;
  }
  return DataType::kUnknown;
}

std::optional<int> bits_of(DataType type) {
  const int bits = row_of(type).bits;
  return bits == 0 ? std::nullopt : std::optional(bits);
}

bool is_floating(DataType type) {
  return row_of(type).floating;
}

bool is_integer(DataType type) {
  return row_of(type).integer;
}

std::optional<Bytes> bytes_of(DataType type, std::int64_t count) {
  const std::optional<int> bits = bits_of(type);
  if (!bits || count < 0 || count > std::numeric_limits<std::int64_t>::max() / 128 - 1) return std::nullopt;
  return Bytes{(count * *bits + 7) / 8};
}

}  // namespace deepgap::ops
