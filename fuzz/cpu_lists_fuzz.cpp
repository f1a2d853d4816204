#include <algorithm>

#include "base/cpu_list.h"
#include "hw/kernel_text.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

void survive(std::string_view input) {
  if (const auto cpus = parse_cpu_list(input)) {
    require(std::ranges::is_sorted(*cpus), "CPUs are sorted");
    for (const int cpu : *cpus) require(cpu >= 0 && cpu <= kLargestCpu, "CPUs are in range");
    require(parse_cpu_list(format_cpu_list(*cpus)) == cpus, "a CPU list comes back");
    require(common_cpus(*cpus, *cpus) == *cpus, "a list has all of its CPUs in common with itself");
  }
  for (const std::string_view line : hw::lines_of(input)) {
    for (const std::string_view word : hw::words_of(line)) {
      const auto decimal = hw::to_integer(word);
      if (decimal)
        require(hw::within(decimal, -7, 7).value_or(0) <= 7, "a bounded number is within its bounds");
      (void)hw::to_integer_any_base(word);
      (void)hw::to_real(word);
      (void)hw::numbered_name(word, "cpu");
      (void)hw::kilobyte_field(input, word);
      (void)hw::keyed_integer(input, word);
    }
  }
}

std::vector<Seed> seeds() {
  return {{"list", "0-3,8,10-11\n"},
          {"empty", ""},
          {"backwards", "3-0"},
          {"huge", "0-65535"},
          {"meminfo", "MemTotal: 16384 kB\nnr_throttled 12\n"},
          {"numbers", "cpu12 0x41 -1 1.5e3"}};
}

}  // namespace

const Target kCpuLists{"cpu_lists", "lists, numbers and lines as the kernel writes them", survive, seeds};

}  // namespace deepgap::fuzz
