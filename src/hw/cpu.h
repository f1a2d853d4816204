// This machine's CPU as a device: what it is called, what it can do, what of it we may use.
//
//   13th Gen Intel(R) Core(TM) i7-1370P: 1 socket, 14 cores (6 performance, 8 efficiency), 20 CPUs, 24 MiB L3
//
// All of it is read through a FileSystem, so that other machines' /proc and /sys can be put in its place
// (hw/tree_file_system.h, tests/roots). What a machine does not say is absent; docs/hardware.md says where
// each fact is from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/result.h"
#include "base/units.h"
#include "core/device.h"
#include "hw/cgroup.h"

namespace deepgap::hw {

// CPUs of one kind: a hybrid laptop has two or three, other machines one.
struct CoreType {
  std::string
      name;  // "performance", "efficiency", "low-power"; arm64: the core's name; "" when all are alike
  std::vector<int> cpus;         // logical
  std::optional<int> cores;      // physical
  std::optional<double> max_hz;  // the highest of its CPUs
  std::optional<int> arm_part;   // arm64: its part number
};

struct CpuCache {
  int level = 0;
  std::string kind;           // "data", "instruction", "unified"
  std::optional<Bytes> size;  // of one instance
  int shared_by = 1;          // logical CPUs on one instance
  int instances = 0;          // of this level, kind, size and sharing
  std::vector<int> cpus;      // that these instances serve
};

struct NumaNode {
  int id = 0;
  std::vector<int> cpus;  // empty: memory only
  std::optional<Bytes> memory;
};

struct CpuClocks {
  std::optional<double>
      base_hz;  // guaranteed: cpufreq base_frequency, else CPUID leaf 0x16, else the name's "@ 2.30GHz"
  std::optional<double> min_hz;
  std::optional<double> max_hz;  // the fastest core alone
  std::optional<double>
      current_hz;  // the highest of all CPUs, when probed; absent in a VM, where it is nominal
  std::optional<std::string> governor;  // "performance", "powersave", "schedutil"; "mixed" where CPUs differ
  std::optional<std::string> driver;    // "intel_pstate", "amd-pstate-epp", "acpi-cpufreq"
  std::optional<bool> boost;            // turbo allowed
};

struct MemoryInfo {
  std::optional<Bytes> total;
  std::optional<Bytes> available;  // of the machine; what cgroups leave is in `limits`
  std::optional<Bytes> swap_total;
  std::optional<std::string> transparent_huge_pages;  // "always", "madvise", "never"
  std::optional<Bytes> huge_page_size;
  std::optional<std::int64_t> huge_pages;  // configured, of that size
};

// Everything that the probe found. Lists of CPUs are sorted.
struct CpuInfo {
  std::string name;  // as the vendor writes it; arm64: "Neoverse-V1"; "unknown CPU" where nothing says
  std::string architecture;                    // "x86_64", "aarch64"; "" where nothing says
  std::optional<std::string> vendor;           // "GenuineIntel", "AuthenticAMD", "ARM", "Apple"
  std::optional<int> family, model, stepping;  // x86
  std::optional<int> arm_implementer, arm_part, arm_variant, arm_revision;
  std::optional<std::string> microcode;
  std::optional<std::string> microarchitecture;  // hw/microarchitecture.h
  // By our names, of known_extensions(architecture); absent where the machine lists none at all.
  std::optional<std::vector<std::string>> extensions;
  std::optional<int> sve_bits;  // vector length of SVE

  std::vector<int> online_cpus;
  int logical_cpus = 1;  // online
  std::optional<int> sockets, physical_cores, cores_per_socket,
      threads_per_core;              // threads: the most that any core has
  std::vector<CoreType> core_types;  // the fastest first
  std::optional<std::string> smt;    // "on", "off", "forceoff", "notsupported", "notimplemented"
  std::vector<CpuCache> caches;      // by level, data before instruction
  std::vector<NumaNode> numa_nodes;
  CpuClocks clocks;
  MemoryInfo memory;

  std::optional<std::vector<int>> affinity;  // CPUs that this process may run on
  CgroupLimits limits;
  std::optional<std::string>
      hypervisor;  // "kvm", "vmware", "xen", ...; "unknown" where only the CPU's flag says so
  std::optional<std::string> container;  // "docker", "podman", "kubernetes", "lxc", ...

  // CPUs for computing threads, at least 1: the number of online CPUs that affinity and CPU set allow, and no
  // more than the whole cores of the quota. With a quota of 1.5, two threads would be stopped for a part of
  // each period, which shows as a second level of latency; one thread is not.
  int usable_cpus = 1;
  std::vector<int> usable_cpu_list;  // the CPUs meant, before the quota

  bool has(std::string_view extension) const;
};

// The CPUID instruction, passed in: (leaf, subleaf) -> registers, or nothing where it cannot be asked.
struct CpuidRegisters {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
using CpuidSource = std::function<std::optional<CpuidRegisters>(std::uint32_t leaf, std::uint32_t subleaf)>;
// This machine's own; nothing on arm64.
CpuidSource native_cpuid();
inline CpuidSource no_cpuid() {
  return {};
}

// Fails (missing) only where /proc/cpuinfo cannot be read or is empty. Affinity is that of /proc/self/status.
Result<CpuInfo> probe_cpu(const FileSystem& files, const CpuidSource& cpuid);

// Our names of an architecture's extensions, in the order in which they are shown: "sse4.2", "avx2",
// "avx512_vnni", "amx_bf16"; "neon", "sve2", "i8mm".
std::vector<std::string> known_extensions(std::string_view architecture);

// The CPU as the core's value: address "cpu", short names, facts, and those ceilings that follow from
// documented figures (cores x clock x operations a cycle); what is not known is not there. The facts are
// those by which a store knows the device again: none that changes from one moment to the next.
Device to_device(const CpuInfo& cpu);

// Those that do: clock.current, and memory.available under a cgroup's limit where there is one.
std::vector<DeviceFact> momentary_facts(const CpuInfo& cpu);

// Bytes that a process may take now without swapping or being killed: MemAvailable, or less where a cgroup
// says so.
Result<Bytes> available_memory(const FileSystem& files);

}  // namespace deepgap::hw
