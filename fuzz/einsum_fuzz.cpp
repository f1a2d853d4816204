// The input: number of operands; of each its rank and its dimensions, a byte each; the rest is the equation.
#include "ops/einsum.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

// So that products overflow too.
constexpr std::int64_t kLarge = std::int64_t{1} << 40;

void survive(std::string_view input) {
  Reader bytes(input);
  std::vector<ops::TensorShape> operands(bytes.number(1) % 5);
  for (ops::TensorShape& operand : operands) {
    ops::Shape dims(bytes.number(1) % 8);
    for (std::int64_t& dim : dims) {
      dim = static_cast<std::int64_t>(bytes.number(1));
      if (dim > 250) dim = dim == 251 ? -1 : kLarge;
    }
    operand = ops::tensor(ops::DataType::kFloat32, std::move(dims));
  }
  if (const auto einsum = ops::analyse_einsum(bytes.rest(), operands)) {
    require(einsum->flops.value_or(0) >= 0, "work is not negative");
  }
}

std::string operand(std::vector<unsigned char> dims) {
  return static_cast<char>(dims.size()) + std::string(dims.begin(), dims.end());
}

std::vector<Seed> seeds() {
  return {{"product", "\x02" + operand({3, 4}) + operand({4, 5}) + "ij,jk->ik"},
          {"implicit", "\x02" + operand({3, 4}) + operand({4, 5}) + "ij, jk"},
          {"trace", "\x01" + operand({3, 3}) + "ii->"},
          {"ellipsis", "\x02" + operand({2, 3, 4}) + operand({2, 4, 5}) + "...ij,...jk->...ik"},
          {"three", "\x03" + operand({2, 3}) + operand({3, 4}) + operand({4, 255}) + "ab,bc,cd->ad"}};
}

}  // namespace

const Target kEinsum{"einsum", "equations of Einsum in a model", survive, seeds};

}  // namespace deepgap::fuzz
