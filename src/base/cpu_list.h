// Lists of CPUs as the kernel writes them.
//
//   parse_cpu_list("0-3,8,10-11") -> {0, 1, 2, 3, 8, 10, 11}      format_cpu_list({0, 1, 2, 3, 8}) -> "0-3,8"
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deepgap {

// Sorted, each once. The empty list is a list ("" for a memory-only NUMA node); nothing for text that is
// none, or that names a CPU above kLargestCpu (no kernel has as many; a list of 2^31 entries would take the
// memory).
inline constexpr int kLargestCpu = 65535;
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);
// `cpus` sorted, each once.
std::string format_cpu_list(std::span<const int> cpus);
// What both hold; both sorted.
std::vector<int> common_cpus(std::span<const int> a, std::span<const int> b);

}  // namespace deepgap
