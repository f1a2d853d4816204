// Seeded random numbers that are the same on every platform and standard library (std's distributions are
// not).
//
// The generator is xoshiro256** seeded by SplitMix64 (Blackman and Vigna, 2018, public domain algorithms).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace deepgap {

class Random {
 public:
  explicit Random(std::uint64_t seed);
  std::uint64_t next();
  double uniform();                          // [0, 1), 53 bits
  std::uint64_t below(std::uint64_t bound);  // [0, bound), unbiased; bound > 0
  double normal();                           // mean 0, variance 1 (Box-Muller)
  // An independent generator for a named part, so that adding a part does not shift the others.
  Random fork(std::uint64_t stream) const;

  template <typename T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::uint64_t state_[4];
  std::uint64_t seed_;
};

}  // namespace deepgap
