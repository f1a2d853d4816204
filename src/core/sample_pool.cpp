#include "core/sample_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

namespace deepgap {
namespace {

using Processes = std::span<const std::span<const std::int64_t>>;

// A sample as its distance from the smallest one, with the number of its process in the low bits: sorting
// keys sorts samples, and a walk over the sorted keys meets each process's samples in ascending order.
struct KeyLayout {
  std::int64_t smallest = 0;
  unsigned process_bits = 0;
  unsigned bits = 0;  // of the largest key

  std::uint64_t key(std::int64_t sample, std::size_t process) const {
    const std::uint64_t distance = static_cast<std::uint64_t>(sample) - static_cast<std::uint64_t>(smallest);
    return (distance << process_bits) | process;
  }
  std::int64_t sample(std::uint64_t key) const {
    return smallest + static_cast<std::int64_t>(key >> process_bits);
  }
  std::size_t process(std::uint64_t key) const { return key & ((std::uint64_t{1} << process_bits) - 1); }
};

KeyLayout layout_for(Processes processes) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest = std::numeric_limits<std::int64_t>::min();
  for (std::span<const std::int64_t> samples : processes) {
    for (std::int64_t sample : samples) {
      smallest = std::min(smallest, sample);
      largest = std::max(largest, sample);
    }
  }
  const std::uint64_t range = static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(smallest);
  const auto process_bits = static_cast<unsigned>(std::bit_width(processes.size() - 1));
  return {smallest, process_bits, static_cast<unsigned>(std::bit_width(range)) + process_bits};
}

constexpr unsigned kKeyBits = 64;
constexpr unsigned kDigitBits = 8;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr std::size_t kShortestForRadix = 64;  // below, comparing is faster than counting digits

constexpr std::size_t kMostForRadix = std::numeric_limits<std::uint32_t>::max();  // what a place can count

// By their bits [lowest_bit, bits), lower digits first (radix sort).
void sort_keys(std::vector<std::uint64_t>& keys, unsigned lowest_bit, unsigned bits) {
  if (keys.size() < kShortestForRadix) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  std::vector<std::uint64_t> other(keys.size());
  for (unsigned shift = lowest_bit; shift < bits; shift += kDigitBits) {
    std::array<std::uint32_t, kDigits> places{};
    for (std::uint64_t key : keys) ++places[(key >> shift) % kDigits];
    std::uint32_t next = 0;
    for (std::uint32_t& place : places) next += std::exchange(place, next);
    for (std::uint64_t key : keys) other[places[(key >> shift) % kDigits]++] = key;
    keys.swap(other);
  }
}

}  // namespace

SamplePool::SamplePool(Processes processes) {
  begins_.reserve(processes.size() + 1);
  begins_.push_back(0);
  for (std::span<const std::int64_t> samples : processes) begins_.push_back(begins_.back() + samples.size());
  const std::size_t count = begins_.back();
  if (count == 0) return;
  const KeyLayout layout = layout_for(processes);
  if (layout.bits > kKeyBits || count > kMostForRadix) {
    for (std::span<const std::int64_t> samples : processes) {
      by_process_.insert(by_process_.end(), samples.begin(), samples.end());
    }
    sort_by_comparing();
    return;
  }

  std::vector<std::uint64_t> keys;
  keys.reserve(count);
  for (std::size_t process = 0; process < processes.size(); ++process) {
    for (std::int64_t sample : processes[process]) keys.push_back(layout.key(sample, process));
  }
  sort_keys(keys, layout.process_bits, layout.bits);
  sorted_.resize(count);
  by_process_.resize(count);
  std::vector<std::size_t> next = begins_;
  for (std::size_t i = 0; i < count; ++i) {
    sorted_[i] = layout.sample(keys[i]);
    by_process_[next[layout.process(keys[i])]++] = sorted_[i];
  }
}

void SamplePool::sort_by_comparing() {
  sorted_ = by_process_;
  std::sort(sorted_.begin(), sorted_.end());
  for (std::size_t process = 0; process + 1 < begins_.size(); ++process) {
    const auto at = [&](std::size_t index) {
      return by_process_.begin() + static_cast<std::ptrdiff_t>(begins_[index]);
    };
    std::sort(at(process), at(process + 1));
  }
}

}  // namespace deepgap
