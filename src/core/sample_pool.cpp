#include "core/sample_pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "stats/quantile.h"

namespace deepgap {
namespace {

using Processes = std::span<const std::span<const std::int64_t>>;

// A sample as its distance from the smallest one, with the number of its process in the low bits: sorting
// keys sorts samples, and a walk over the sorted keys meets each process's samples in their order.
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
  std::int64_t smallest = processes[0][0];
  std::int64_t largest = smallest;
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

// Where the middle of a process lies in its order, and how many of its samples were met so far.
struct Middle {
  std::size_t low_rank = 0;
  std::size_t high_rank = 0;  // the same for an odd number of samples
  std::size_t met = 0;
};

SamplePool pool_by_comparing(Processes processes) {
  SamplePool pool;
  for (std::span<const std::int64_t> samples : processes) {
    pool.sorted.insert(pool.sorted.end(), samples.begin(), samples.end());
    pool.process_medians.push_back(stats::median(samples));
  }
  std::sort(pool.sorted.begin(), pool.sorted.end());
  return pool;
}

}  // namespace

SamplePool pool_samples(Processes processes) {
  if (processes.empty()) return {};
  const KeyLayout layout = layout_for(processes);

  std::size_t count = 0;
  std::vector<Middle> middles;
  middles.reserve(processes.size());
  for (std::span<const std::int64_t> samples : processes) {
    middles.push_back({(samples.size() - 1) / 2, samples.size() / 2, 0});
    count += samples.size();
  }
  if (layout.bits > kKeyBits || count > kMostForRadix) return pool_by_comparing(processes);
  std::vector<std::uint64_t> keys;
  keys.reserve(count);
  for (std::size_t process = 0; process < processes.size(); ++process) {
    for (std::int64_t sample : processes[process]) keys.push_back(layout.key(sample, process));
  }
  sort_keys(keys, layout.process_bits, layout.bits);

  SamplePool pool;
  pool.sorted.reserve(count);
  pool.process_medians.resize(processes.size());
  for (std::uint64_t key : keys) {
    const std::int64_t sample = layout.sample(key);
    pool.sorted.push_back(sample);
    Middle& middle = middles[layout.process(key)];
    // Halves are added, as the sum of two samples may overflow.
    const double half = static_cast<double>(sample) / 2;
    if (middle.met == middle.low_rank) pool.process_medians[layout.process(key)] += half;
    if (middle.met == middle.high_rank) pool.process_medians[layout.process(key)] += half;
    ++middle.met;
  }
  return pool;
}

}  // namespace deepgap
