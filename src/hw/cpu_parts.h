// The parts that probe_cpu puts together; for cpu.cpp and their own files only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/cpu.h"

namespace deepgap::hw {

// /proc/cpuinfo as its blocks of "key : value", one a CPU; keys outside any block hold for all.
class Cpuinfo {
 public:
  explicit Cpuinfo(std::string text);

  struct Block {
    int cpu = 0;
    std::map<std::string_view, std::string_view> values;
  };
  const std::vector<Block>& blocks() const { return blocks_; }
  // Of the block, else of all.
  std::optional<std::string_view> value(const Block& block, std::string_view key) const;
  // Of the first block that has it, else of all.
  std::optional<std::string_view> value(std::string_view key) const;
  // Not below 0, in either base.
  std::optional<int> integer(const Block& block, std::string_view key) const;
  std::optional<int> integer(std::string_view key) const;

 private:
  std::string text_;
  std::vector<Block> blocks_;
  std::map<std::string_view, std::string_view> common_;
};

// Each fills its part of `cpu` and may use what the ones before it filled, in this order.
void read_identity(const Cpuinfo& cpuinfo, const CpuidSource& cpuid, CpuInfo& cpu);
void read_topology(const FileSystem& files, const Cpuinfo& cpuinfo, CpuInfo& cpu);
void read_caches(const FileSystem& files, CpuInfo& cpu);
void read_numa(const FileSystem& files, CpuInfo& cpu);
void read_virtualisation(const FileSystem& files, const Cpuinfo& cpuinfo, const CpuidSource& cpuid,
                         CpuInfo& cpu);
void read_clocks(const FileSystem& files, const Cpuinfo& cpuinfo, const CpuidSource& cpuid, CpuInfo& cpu);
void read_core_types(const FileSystem& files, const Cpuinfo& cpuinfo, CpuInfo& cpu);  // also names arm64 CPUs
void read_memory(const FileSystem& files, CpuInfo& cpu);
void read_limits(const FileSystem& files, CpuInfo& cpu);

// cpufreq of CPUs that share a clock.
struct FrequencyPolicy {
  std::string folder;
  std::vector<int> cpus;
};
std::vector<FrequencyPolicy> frequency_policies(const FileSystem& files, const std::vector<int>& online);

// CPUs by physical core (each core's list sorted), and the socket of each where known.
struct Core {
  std::vector<int> cpus;
  std::optional<int> socket;
};
std::vector<Core> find_cores(const FileSystem& files, const Cpuinfo& cpuinfo, const std::vector<int>& online);

}  // namespace deepgap::hw
