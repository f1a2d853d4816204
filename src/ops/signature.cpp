#include "ops/signature.h"

namespace deepgap::ops {

std::optional<std::int64_t> TensorShape::elements() const {
  if (!dims) return std::nullopt;
  std::int64_t product = 1;
  for (const std::int64_t dim : *dims) {
    if (dim < 0 || __builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return product;
}

std::optional<Bytes> TensorShape::bytes() const {
  const std::optional<std::int64_t> count = elements();
  return count ? bytes_of(dtype, *count) : std::nullopt;
}

TensorShape tensor(DataType dtype, Shape dims) {
  return {dtype, std::move(dims), false, true};
}

TensorShape weight(DataType dtype, Shape dims) {
  return {dtype, std::move(dims), true, true};
}

const std::vector<std::int64_t>* OpSignature::find_integers(std::initializer_list<const char*> names) const {
  for (const char* name_wanted : names) {
    if (const auto found = integers.find(name_wanted); found != integers.end()) return &found->second;
  }
  return nullptr;
}

std::int64_t OpSignature::integer(std::initializer_list<const char*> names, std::int64_t otherwise) const {
  const std::vector<std::int64_t>* found = find_integers(names);
  return found != nullptr && found->size() == 1 ? found->front() : otherwise;
}

}  // namespace deepgap::ops
