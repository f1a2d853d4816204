#include "ops/kernel_types.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"

namespace deepgap::ops {
namespace {

using P = Precision;

struct TypeName {
  std::string_view name;
  std::optional<Precision> precision;
};

// In a run the first that fits is taken: none is the beginning of a later one.
const std::array<TypeName, 27> kWords{{
    {"cf64", P::kFp64},
    {"cf32", P::kFp32},
    {"tf32", P::kTf32},
    {"bf16", P::kBf16},
    {"f64", P::kFp64},
    {"f32", P::kFp32},
    {"f16", P::kFp16},
    {"e4m3", P::kFp8E4M3},
    {"e5m2", P::kFp8E5M2},
    {"i32", {}},
    {"s32", {}},
    {"i8", P::kInt8},
    {"s8", P::kInt8},
    {"u8", P::kInt8},
    {"fp64", P::kFp64},
    {"fp32", P::kFp32},
    {"fp16", P::kFp16},
    {"int8", P::kInt8},
    {"int32", {}},
    {"double", P::kFp64},
    {"float", P::kFp32},
    {"half", P::kFp16},
    {"bfloat16", P::kBf16},
    {"i64", {}},
    {"int64", {}},
    {"f8e4m3", P::kFp8E4M3},
    {"f8e5m2", P::kFp8E5M2},
}};
constexpr std::size_t kRunWords = 14;  // those of kWords that stand in runs

const std::array<TypeName, 29> kCppTypes{{
    {"float", P::kFp32},
    {"double", P::kFp64},
    {"half", P::kFp16},
    {"__half", P::kFp16},
    {"half2", P::kFp16},
    {"__half2", P::kFp16},
    {"_Float16", P::kFp16},
    {"Half", P::kFp16},
    {"half_t", P::kFp16},
    {"BFloat16", P::kBf16},
    {"bfloat16_t", P::kBf16},
    {"bf16_t", P::kBf16},
    {"bhalf_t", P::kBf16},
    {"__bf16", P::kBf16},
    {"__nv_bfloat16", P::kBf16},
    {"__hip_bfloat16", P::kBf16},
    {"hip_bfloat16", P::kBf16},
    {"tfloat32_t", P::kTf32},
    {"int8_t", P::kInt8},
    {"Float8_e4m3fn", P::kFp8E4M3},
    {"Float8_e4m3fnuz", P::kFp8E4M3},
    {"float_e4m3_t", P::kFp8E4M3},
    {"__nv_fp8_e4m3", P::kFp8E4M3},
    {"__hip_fp8_e4m3_fnuz", P::kFp8E4M3},
    {"Float8_e5m2", P::kFp8E5M2},
    {"Float8_e5m2fnuz", P::kFp8E5M2},
    {"float_e5m2_t", P::kFp8E5M2},
    {"__nv_fp8_e5m2", P::kFp8E5M2},
    {"__hip_fp8_e5m2_fnuz", P::kFp8E5M2},
}};

bool in_identifier(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

std::optional<ElementType> parse_type_word(std::string_view word) {
  if (word.size() > 8) return std::nullopt;
  const std::string small = lower(word);
  for (const TypeName& type : kWords) {
    if (type.name == small) return ElementType{type.precision};
  }
  return std::nullopt;
}

std::vector<ElementType> parse_type_run(std::string_view word) {
  std::vector<ElementType> types;
  if (word.size() > 32) return types;
  const std::string small = lower(word);
  std::string_view rest = small;
  while (!rest.empty()) {
    const auto* const end = kWords.begin() + kRunWords;
    const auto* const found =
        std::find_if(kWords.begin(), end, [&](const TypeName& type) { return rest.starts_with(type.name); });
    if (found == end) return {};
    types.push_back({found->precision});
    rest.remove_prefix(found->name.size());
  }
  return types;
}

std::optional<Precision> first_type(std::string_view cpp_text) {
  std::size_t parentheses = 0;
  std::string_view before;
  for (std::size_t at = 0; at < cpp_text.size();) {
    const char c = cpp_text[at];
    if (!in_identifier(c)) {
      if (c == '(') ++parentheses;
      if (c == ')' && parentheses > 0) --parentheses;
      ++at;
      continue;
    }
    const std::size_t from = at;
    while (at < cpp_text.size() && in_identifier(cpp_text[at])) ++at;
    const std::string_view word = cpp_text.substr(from, at - from);
    if (parentheses == 0) {
      if (before == "signed" && word == "char") return Precision::kInt8;
      for (const TypeName& type : kCppTypes) {
        if (type.name == word) return type.precision;
      }
    }
    before = word;
  }
  return std::nullopt;
}

std::optional<Precision> lambda_type(std::string_view cpp_text) {
  constexpr std::string_view kLambda = "lambda(";
  for (std::size_t at = cpp_text.find(kLambda); at != std::string_view::npos;
       at = cpp_text.find(kLambda, at)) {
    at += kLambda.size();
    const std::size_t end = cpp_text.find(')', at);
    const std::optional<Precision> type = first_type(cpp_text.substr(at, end - at));
    if (type) return type;
    if (end == std::string_view::npos) break;
    at = end;
  }
  return std::nullopt;
}

}  // namespace deepgap::ops
