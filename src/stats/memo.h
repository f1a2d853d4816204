// Remembers the results of a costly pure function for the arguments seen last, one table a thread: in a list
// of cells the same sample sizes and degrees of freedom come again and again.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace deepgap::stats {

template <typename Value, std::size_t kArguments, std::size_t kSets = 1024>
class Memo {
 public:
  using Arguments = std::array<double, kArguments>;

  // The remembered value, else function(), which must give the same for the same arguments.
  template <typename Function>
  const Value& at(const Arguments& arguments, Function function) {
    // Each set has two entries, the one used last in front.
    Entry* const set = &entries_[2 * set_of(arguments)];
    if (set[0].holds(arguments)) return *set[0].value;
    std::swap(set[0], set[1]);
    if (!set[0].holds(arguments)) set[0] = {arguments, function()};
    return *set[0].value;
  }

 private:
  struct Entry {
    Arguments arguments{};
    std::optional<Value> value;

    bool holds(const Arguments& wanted) const { return value.has_value() && arguments == wanted; }
  };

  static std::size_t set_of(const Arguments& arguments) {
    std::uint64_t hash = 0;
    for (const double argument : arguments) {
      hash = (hash ^ std::bit_cast<std::uint64_t>(argument)) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash % kSets);
  }

  std::array<Entry, 2 * kSets> entries_{};
};

}  // namespace deepgap::stats
