#include "base/random.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace deepgap {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed) : seed_(seed) {
  for (std::uint64_t& word : state_) word = split_mix(seed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::uint64_t Random::below(std::uint64_t bound) {
  // The lowest 2^64 mod bound values are drawn again, so that the rest divides evenly.
  const std::uint64_t excess = (std::uint64_t{0} - bound) % bound;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= excess) return value % bound;
  }
}

double Random::normal() {
  const double radius =
      std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u is in (0, 1]: no logarithm of zero
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Random Random::fork(std::uint64_t stream) const {
  // Both numbers pass through the mixer, so that neighbouring seeds and streams share nothing; the
  // generator's position has no part in it.
  std::uint64_t mixed = stream;
  mixed = split_mix(mixed) ^ seed_;
  return Random(split_mix(mixed));
}

}  // namespace deepgap
