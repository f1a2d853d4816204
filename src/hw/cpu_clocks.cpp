// Clock frequencies, as cpufreq, CPUID and the name say them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/cpu_list.h"
#include "base/text.h"
#include "hw/cpu_parts.h"
#include "hw/kernel_text.h"

namespace deepgap::hw {
namespace {

void keep_larger(std::optional<double>& largest, std::optional<double> other) {
  if (other && (!largest || *other > *largest)) largest = other;
}

// "... @ 2.30GHz" -> 2.3e9
std::optional<double> clock_in_name(std::string_view name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view text = trim(name.substr(at + 1));
  double factor = 0;
  if (text.ends_with("GHz")) factor = 1e9;
  if (text.ends_with("MHz")) factor = 1e6;
  if (factor == 0) return std::nullopt;
  const auto value = to_real(text.substr(0, text.size() - 3));
  if (!value || *value <= 0 || *value * factor > 1e11) return std::nullopt;
  return std::round(*value * factor);
}

// One word for all, "mixed" where they differ.
void keep_word(std::optional<std::string>& word, const std::optional<std::string>& other) {
  if (!other || other->empty()) return;
  const std::string text = printable(*other, 40);
  if (!word) {
    word = text;
  } else if (*word != text) {
    word = "mixed";
  }
}

std::optional<double> megahertz(std::uint32_t field) {
  const std::uint32_t value = field & 0xffffU;
  if (value == 0) return std::nullopt;
  return value * 1e6;
}

}  // namespace

std::vector<FrequencyPolicy> frequency_policies(const FileSystem& files, const std::vector<int>& online) {
  std::vector<FrequencyPolicy> policies;
  const std::string folder = "/sys/devices/system/cpu/cpufreq";
  for (const std::string& name : files.list(folder)) {
    if (!numbered_name(name, "policy")) continue;
    const std::string policy = folder + '/' + name;
    auto cpus = read_cpu_list(files, policy + "/affected_cpus");
    if (!cpus) {  // separated by spaces, unlike other lists
      std::vector<int> listed;
      const std::string text = files.read_trimmed(policy + "/affected_cpus").value_or("");
      for (const std::string_view word : words_of(text)) {
        const auto one = to_integer(word);
        if (one && *one >= 0 && *one <= kLargestCpu) listed.push_back(static_cast<int>(*one));
      }
      std::sort(listed.begin(), listed.end());
      cpus = std::move(listed);
    }
    std::vector<int> here = common_cpus(*cpus, online);
    if (!here.empty()) policies.push_back({policy, std::move(here)});
  }
  if (!policies.empty()) return policies;
  for (const int cpu : online) {  // before Linux 4.3
    const std::string own = fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq", cpu);
    if (files.exists(own)) policies.push_back({own, {cpu}});
  }
  return policies;
}

void read_clocks(const FileSystem& files, const Cpuinfo& cpuinfo, const CpuidSource& cpuid, CpuInfo& cpu) {
  CpuClocks& clocks = cpu.clocks;
  if (const auto off = read_integer(files, "/sys/devices/system/cpu/intel_pstate/no_turbo")) {
    clocks.boost = *off == 0;
  } else if (const auto on = read_integer(files, "/sys/devices/system/cpu/cpufreq/boost")) {
    clocks.boost = *on != 0;
  }
  for (const FrequencyPolicy& policy : frequency_policies(files, cpu.online_cpus)) {
    keep_larger(clocks.base_hz, read_kilohertz(files, policy.folder + "/base_frequency"));
    keep_larger(clocks.max_hz, read_kilohertz(files, policy.folder + "/cpuinfo_max_freq"));
    keep_larger(clocks.current_hz, read_kilohertz(files, policy.folder + "/scaling_cur_freq"));
    const auto low = read_kilohertz(files, policy.folder + "/cpuinfo_min_freq");
    if (low && (!clocks.min_hz || *low < *clocks.min_hz)) clocks.min_hz = low;
    keep_word(clocks.governor, files.read_trimmed(policy.folder + "/scaling_governor"));
    keep_word(clocks.driver, files.read_trimmed(policy.folder + "/scaling_driver"));
  }
  // acpi-cpufreq's highest frequency is the base clock where boost goes beyond it.
  if (clocks.driver == "acpi-cpufreq" && clocks.boost.value_or(false)) {
    if (!clocks.base_hz) clocks.base_hz = clocks.max_hz;
    clocks.max_hz.reset();
  }
  const auto leaf = cpuid ? cpuid(0x16, 0) : std::nullopt;
  if (leaf && !clocks.base_hz) clocks.base_hz = megahertz(leaf->eax);
  if (leaf && !clocks.max_hz) clocks.max_hz = megahertz(leaf->ebx);
  if (!clocks.base_hz) clocks.base_hz = clock_in_name(cpu.name);
  if (!clocks.current_hz && !cpu.hypervisor) {
    for (const Cpuinfo::Block& block : cpuinfo.blocks()) {
      const auto text = cpuinfo.value(block, "cpu MHz");
      const auto value = text ? to_real(*text) : std::nullopt;
      if (value && *value > 0 && *value < 1e5) keep_larger(clocks.current_hz, *value * 1e6);
    }
  }
}

}  // namespace deepgap::hw
