// Exact counts that may be unknown: any unknown operand, overflow or negative makes the result unknown.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

namespace deepgap::ops {

using Count = std::optional<std::int64_t>;

inline Count product(std::span<const std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) {
    if (factor < 0 || __builtin_mul_overflow(result, factor, &result)) return std::nullopt;
  }
  return result;
}

inline Count product(std::initializer_list<Count> factors) {
  std::int64_t result = 1;
  for (const Count& factor : factors) {
    if (!factor || *factor < 0 || __builtin_mul_overflow(result, *factor, &result)) return std::nullopt;
  }
  return result;
}

inline Count sum(std::initializer_list<Count> terms) {
  std::int64_t result = 0;
  for (const Count& term : terms) {
    if (!term || *term < 0 || __builtin_add_overflow(result, *term, &result)) return std::nullopt;
  }
  return result;
}

}  // namespace deepgap::ops
