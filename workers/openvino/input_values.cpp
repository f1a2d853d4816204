#include "input_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <openvino/core/type/bfloat16.hpp>
#include <openvino/core/type/float16.hpp>

namespace deepgap::openvino {
namespace {

struct Entry {
  std::string_view name;
  ov::element::Type_t type;
};
constexpr std::array<Entry, 13> kTypes{{{"float32", ov::element::Type_t::f32},
                                        {"float16", ov::element::Type_t::f16},
                                        {"bfloat16", ov::element::Type_t::bf16},
                                        {"float64", ov::element::Type_t::f64},
                                        {"int8", ov::element::Type_t::i8},
                                        {"uint8", ov::element::Type_t::u8},
                                        {"int16", ov::element::Type_t::i16},
                                        {"uint16", ov::element::Type_t::u16},
                                        {"int32", ov::element::Type_t::i32},
                                        {"uint32", ov::element::Type_t::u32},
                                        {"int64", ov::element::Type_t::i64},
                                        {"uint64", ov::element::Type_t::u64},
                                        {"bool", ov::element::Type_t::boolean}}};

// Floating-point types of which a value near `high` could round up to it: stays a valid input all the same.
template <typename T>
void fill_real(ov::Tensor& tensor, double low, double high, Random& random) {
  auto* values = static_cast<T*>(tensor.data());
  for (std::size_t i = 0; i < tensor.get_size(); ++i)
    values[i] = static_cast<T>(static_cast<float>(low + (high - low) * random.uniform()));
}

template <typename T>
void fill_whole(ov::Tensor& tensor, double low, double high, Random& random) {
  auto* values = static_cast<T*>(tensor.data());
  const double least = std::max(std::ceil(low), static_cast<double>(std::numeric_limits<T>::min()));
  const double most = std::min(std::ceil(high) - 1, static_cast<double>(std::numeric_limits<T>::max()));
  const auto span = static_cast<std::uint64_t>(std::clamp(most - least + 1, 1.0, 9e18));
  for (std::size_t i = 0; i < tensor.get_size(); ++i)
    values[i] = static_cast<T>(least + static_cast<double>(random.below(span)));
}

}  // namespace

std::optional<ov::element::Type> element_type(std::string_view name) {
  for (const auto& entry : kTypes)
    if (entry.name == name) return ov::element::Type(entry.type);
  return std::nullopt;
}

std::string onnx_name(const ov::element::Type& type) {
  for (const auto& entry : kTypes)
    if (ov::element::Type(entry.type) == type) return std::string(entry.name);
  return type.get_type_name();
}

void fill_random(ov::Tensor& tensor, double low, double high, Random& random) {
  switch (static_cast<ov::element::Type_t>(tensor.get_element_type())) {
    case ov::element::Type_t::f32:
      return fill_real<float>(tensor, low, high, random);
    case ov::element::Type_t::f64:
      return fill_real<double>(tensor, low, high, random);
    case ov::element::Type_t::f16:
      return fill_real<ov::float16>(tensor, low, high, random);
    case ov::element::Type_t::bf16:
      return fill_real<ov::bfloat16>(tensor, low, high, random);
    case ov::element::Type_t::i8:
      return fill_whole<std::int8_t>(tensor, low, high, random);
    case ov::element::Type_t::u8:
      return fill_whole<std::uint8_t>(tensor, low, high, random);
    case ov::element::Type_t::i16:
      return fill_whole<std::int16_t>(tensor, low, high, random);
    case ov::element::Type_t::u16:
      return fill_whole<std::uint16_t>(tensor, low, high, random);
    case ov::element::Type_t::i32:
      return fill_whole<std::int32_t>(tensor, low, high, random);
    case ov::element::Type_t::u32:
      return fill_whole<std::uint32_t>(tensor, low, high, random);
    case ov::element::Type_t::i64:
      return fill_whole<std::int64_t>(tensor, low, high, random);
    case ov::element::Type_t::u64:
      return fill_whole<std::uint64_t>(tensor, low, high, random);
    case ov::element::Type_t::boolean:
      return fill_whole<std::uint8_t>(tensor, 0, 2, random);
    default:
      return;
  }
}

}  // namespace deepgap::openvino
