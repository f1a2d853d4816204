// A series of zeros and ones in time order, packed into words, with its autocovariance by counting bits: some
// thirty times as fast as sums of products, and a summary looks at dozens of such series. Only for
// autocorrelation.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deepgap::stats {

class BinarySeries {
 public:
  // One where a value of the series is at most `level`.
  BinarySeries(std::span<const double> series, double level) : BinarySeries(series, level, 0) {}
  // |level| below 2^63. Whole numbers are compared as such, which is faster.
  BinarySeries(std::span<const std::int64_t> series, double level)
      : BinarySeries(series, static_cast<std::int64_t>(std::floor(level)), 0) {}

  BinarySeries(const BinarySeries&) = delete;
  BinarySeries& operator=(const BinarySeries&) = delete;

  // At `lag` < size, of the series less its mean, divisor size.
  double autocovariance(std::size_t lag) const {
    const auto n = static_cast<double>(size_);
    const double mean = static_cast<double>(ones_) / n;
    // Ones among those that have a partner `lag` later, and among those partners.
    const double early = static_cast<double>(ones_below(size_ - lag));
    const double late = static_cast<double>(ones_ - ones_below(lag));
    const double products = static_cast<double>(pairs_of_ones(lag));
    return (products - mean * (early + late) + (n - static_cast<double>(lag)) * mean * mean) / n;
  }

 private:
  static constexpr std::size_t kBits = 64;
  static constexpr std::size_t kShortWords = 8;

  template <typename T>
  BinarySeries(std::span<const T> series, T level, int)
      : size_(series.size()),
        long_words_(series.size() / kBits < kShortWords ? 0 : series.size() / kBits + 1),
        words_(long_words_.empty() ? std::span(short_words_).first(series.size() / kBits + 1)
                                   : std::span(long_words_)) {
    for (std::size_t word = 0; word * kBits < size_; ++word) {
      const std::span<const T> part = series.subspan(word * kBits, std::min(kBits, size_ - word * kBits));
      std::uint64_t bits = 0;
      for (std::size_t i = part.size(); i > 0; --i) bits = 2 * bits + (part[i - 1] <= level ? 1U : 0U);
      words_[word] = bits;
    }
    ones_ = ones_below(size_);
  }

  static std::size_t count(std::uint64_t word) {
#if defined(__x86_64__) && !defined(__POPCNT__)
    // std::popcount would be a call into the compiler's library: sums of 2, 4 and 8 bits, then of the bytes.
    word -= (word >> 1) & 0x5555555555555555U;
    word = (word & 0x3333333333333333U) + ((word >> 2) & 0x3333333333333333U);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FU;
    return static_cast<std::size_t>((word * 0x0101010101010101U) >> 56);
#else
    return static_cast<std::size_t>(std::popcount(word));
#endif
  }

  std::size_t ones_below(std::size_t end) const {
    std::size_t ones = 0;
    for (std::size_t word = 0; word < end / kBits; ++word) ones += count(words_[word]);
    const std::size_t rest = end % kBits;
    return rest == 0 ? ones : ones + count(words_[end / kBits] << (kBits - rest));
  }

  // Places i where both i and i + lag hold a one; the words end in zeros.
  std::size_t pairs_of_ones(std::size_t lag) const {
    const std::size_t words = lag / kBits;
    const std::size_t bits = lag % kBits;
    std::size_t pairs = 0;
    for (std::size_t word = 0; word + words < words_.size(); ++word) {
      std::uint64_t later = words_[word + words] >> bits;
      if (bits > 0 && word + words + 1 < words_.size()) later |= words_[word + words + 1] << (kBits - bits);
      pairs += count(words_[word] & later);
    }
    return pairs;
  }

  std::size_t size_;
  std::array<std::uint64_t, kShortWords> short_words_{};  // most series are short: no allocation
  std::vector<std::uint64_t> long_words_;
  std::span<std::uint64_t> words_;  // one of the two
  std::size_t ones_ = 0;
};

}  // namespace deepgap::stats
