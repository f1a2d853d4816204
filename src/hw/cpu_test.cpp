#include "hw/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "hw/tree_file_system.h"

namespace deepgap::hw {
namespace {

using ::testing::ElementsAre;

TreeFileSystem with_cpuinfo(const std::string& text) {
  TreeFileSystem files;
  files.set("/proc/cpuinfo", text);
  return files;
}

CpuInfo probe(const TreeFileSystem& files, const CpuidSource& cpuid = no_cpuid()) {
  auto cpu = probe_cpu(files, cpuid);
  EXPECT_TRUE(cpu.ok());
  return cpu.ok() ? std::move(cpu).value() : CpuInfo();
}

std::vector<std::string> aliases_of(const char* name) {
  CpuInfo cpu;
  cpu.name = name;
  return to_device(cpu).aliases;
}

TEST(Cpu, ShortNames) {
  EXPECT_THAT(aliases_of("Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz"), ElementsAre("xeon-platinum-8380"));
  EXPECT_THAT(aliases_of("12th Gen Intel(R) Core(TM) i7-1260P"), ElementsAre("core-i7-1260p", "i7-1260p"));
  EXPECT_THAT(aliases_of("AMD EPYC 9654 96-Core Processor"), ElementsAre("epyc-9654"));
  EXPECT_THAT(aliases_of("AMD Ryzen 7 PRO 6850U with Radeon Graphics"), ElementsAre("ryzen-7-pro-6850u"));
  EXPECT_THAT(aliases_of("Neoverse-V1"), ElementsAre("neoverse-v1"));
  EXPECT_THAT(aliases_of("unknown CPU"), ElementsAre());
}

TEST(Cpu, WithoutSysTheTopologyIsThatOfCpuinfo) {
  std::string text;
  for (int cpu = 0; cpu < 8; ++cpu) {  // two sockets of two cores of two threads
    text += "processor : " + std::to_string(cpu) + "\nphysical id : " + std::to_string(cpu % 2) +
            "\ncore id : " + std::to_string(cpu / 2 % 2) + "\n\n";
  }
  const CpuInfo cpu = probe(with_cpuinfo(text));
  EXPECT_EQ(cpu.logical_cpus, 8);
  EXPECT_EQ(cpu.sockets, 2);
  EXPECT_EQ(cpu.physical_cores, 4);
  EXPECT_EQ(cpu.cores_per_socket, 2);
  EXPECT_EQ(cpu.threads_per_core, 2);
}

TEST(Cpu, WhatIsNotSaidIsAbsent) {
  const CpuInfo cpu = probe(with_cpuinfo("processor : 0\n"));
  EXPECT_EQ(cpu.name, "unknown CPU");
  EXPECT_EQ(cpu.sockets, std::nullopt);
  EXPECT_EQ(cpu.physical_cores, std::nullopt);
  EXPECT_EQ(cpu.extensions, std::nullopt);
  EXPECT_EQ(cpu.clocks.max_hz, std::nullopt);
  EXPECT_EQ(cpu.memory.total, std::nullopt);
  EXPECT_EQ(cpu.hypervisor, std::nullopt);
  EXPECT_EQ(cpu.usable_cpus, 1);
  EXPECT_THAT(to_device(cpu).ceilings, ElementsAre());
}

TEST(Cpu, UsableCpusAreTheLeastOfAffinityCpuSetAndQuota) {
  TreeFileSystem files = with_cpuinfo("processor : 0\n");
  files.set("/sys/devices/system/cpu/online", "0-15");
  EXPECT_EQ(probe(files).usable_cpus, 16);
  files.set("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-9\n");
  EXPECT_EQ(probe(files).usable_cpus, 10);
  files.set("/sys/fs/cgroup/cgroup.controllers", "cpu cpuset");
  files.set("/sys/fs/cgroup/cpuset.cpus.effective", "4-15");
  EXPECT_EQ(probe(files).usable_cpus, 6);
  EXPECT_THAT(probe(files).usable_cpu_list, ElementsAre(4, 5, 6, 7, 8, 9));
  files.set("/sys/fs/cgroup/cpu.max", "550000 100000");
  EXPECT_EQ(probe(files).usable_cpus, 5);  // whole cores
  files.set("/sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(probe(files).usable_cpus, 1);  // never none
  files.set("/sys/fs/cgroup/cpu.max", "6400000 100000");
  EXPECT_EQ(probe(files).usable_cpus, 6);                         // a quota above the machine is none
  files.set("/proc/self/status", "Cpus_allowed_list:\t90-99\n");  // not ours: we run
  EXPECT_EQ(probe(files).usable_cpus, 12);
}

TEST(Cpu, OfflineCpusDoNotCount) {
  TreeFileSystem files = with_cpuinfo("processor : 0\n\nprocessor : 2\n");
  files.set("/sys/devices/system/cpu/online", "0,2");
  for (const char* cpu : {"0", "1", "2", "3"}) {
    const std::string folder = std::string("/sys/devices/system/cpu/cpu") + cpu;
    const bool low = cpu[0] < '2';
    files.set(folder + "/topology/core_cpus_list", low ? "0-1" : "2-3");
    files.set(folder + "/topology/physical_package_id", "0");
    files.set(folder + "/cache/index0/level", "1");
    files.set(folder + "/cache/index0/type", "Data");
    files.set(folder + "/cache/index0/size", "48K");
    files.set(folder + "/cache/index0/shared_cpu_list", low ? "0-1" : "2-3");
  }
  const CpuInfo cpu = probe(files);
  EXPECT_EQ(cpu.logical_cpus, 2);
  EXPECT_EQ(cpu.physical_cores, 2);
  EXPECT_EQ(cpu.threads_per_core, 1);
  ASSERT_EQ(cpu.caches.size(), 1U);
  EXPECT_EQ(cpu.caches[0].instances, 2);
  EXPECT_EQ(cpu.caches[0].shared_by, 1);
}

TEST(Cpu, KernelNamesTheHybridsCores) {
  TreeFileSystem files = with_cpuinfo("processor : 0\nvendor_id : GenuineIntel\n");
  files.set("/sys/devices/system/cpu/online", "0-5");
  files.set("/sys/devices/cpu_core/cpus", "0-1");
  files.set("/sys/devices/cpu_atom/cpus", "2-5");
  const CpuInfo cpu = probe(files);
  ASSERT_EQ(cpu.core_types.size(), 2U);
  EXPECT_EQ(cpu.core_types[0].name, "performance");
  EXPECT_EQ(cpu.core_types[1].name, "efficiency");
  EXPECT_THAT(cpu.core_types[1].cpus, ElementsAre(2, 3, 4, 5));
}

TEST(Cpu, FavouredCoresAreNoOtherKind) {
  TreeFileSystem files = with_cpuinfo("processor : 0\n");
  files.set("/sys/devices/system/cpu/online", "0-3");
  const std::string policies = "/sys/devices/system/cpu/cpufreq/policy";
  for (int cpu = 0; cpu < 4; ++cpu) {
    files.set(policies + std::to_string(cpu) + "/affected_cpus", std::to_string(cpu));
    files.set(policies + std::to_string(cpu) + "/cpuinfo_max_freq", cpu == 3 ? "5200000" : "5000000");
  }
  EXPECT_EQ(probe(files).core_types.size(), 1U);
  files.set(policies + "0/cpuinfo_max_freq", "3900000");
  EXPECT_EQ(probe(files).core_types.size(), 2U);
}

TEST(Cpu, OneClockForSeveralCpus) {
  TreeFileSystem files = with_cpuinfo("processor : 0\n");
  files.set("/sys/devices/system/cpu/online", "0-3");
  const std::string policies = "/sys/devices/system/cpu/cpufreq/policy";
  files.set(policies + "0/affected_cpus", "0 1\n");  // the kernel separates these by spaces
  files.set(policies + "0/cpuinfo_max_freq", "3000000");
  files.set(policies + "0/scaling_governor", "powersave\n");
  files.set(policies + "2/affected_cpus", "2 3\n");
  files.set(policies + "2/cpuinfo_max_freq", "2000000");
  files.set(policies + "2/scaling_governor", "performance\n");
  const CpuInfo cpu = probe(files);
  ASSERT_EQ(cpu.core_types.size(), 2U);
  EXPECT_THAT(cpu.core_types[0].cpus, ElementsAre(0, 1));
  EXPECT_THAT(cpu.core_types[1].cpus, ElementsAre(2, 3));
  EXPECT_EQ(cpu.clocks.governor, "mixed");
}

// A table of leaves in place of the instruction.
CpuidSource cpuid_of(const std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidRegisters>& leaves) {
  return [leaves](std::uint32_t leaf, std::uint32_t subleaf) -> std::optional<CpuidRegisters> {
    const auto found = leaves.find({leaf, subleaf});
    if (found == leaves.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Cpu, HypervisorByCpuid) {
  CpuidRegisters vmware;
  std::memcpy(&vmware.ebx, "VMwa", 4);
  std::memcpy(&vmware.ecx, "reVM", 4);
  std::memcpy(&vmware.edx, "ware", 4);
  const auto cpuid = cpuid_of({{{0x40000000U, 0}, vmware}});
  EXPECT_EQ(probe(with_cpuinfo("flags : lm hypervisor\n"), cpuid).hypervisor, "vmware");
  EXPECT_EQ(probe(with_cpuinfo("flags : lm\n"), cpuid).hypervisor, std::nullopt);
  EXPECT_EQ(probe(with_cpuinfo("flags : lm hypervisor\n")).hypervisor, "unknown");
}

TEST(Cpu, HypervisorByDmi) {
  TreeFileSystem files = with_cpuinfo("flags : lm hypervisor\n");
  files.set("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  files.set("/sys/class/dmi/id/product_name", "c5.xlarge\n");
  EXPECT_EQ(probe(files).hypervisor, "kvm");
  TreeFileSystem arm =
      with_cpuinfo("processor : 0\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : 0xd40\n");
  arm.set("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  arm.set("/sys/class/dmi/id/product_name", "c7g.xlarge\n");
  EXPECT_EQ(probe(arm).hypervisor, "kvm");
  arm.set("/sys/class/dmi/id/product_name", "c7g.metal\n");
  EXPECT_EQ(probe(arm).hypervisor, std::nullopt);
}

TEST(Cpu, Containers) {
  const auto container = [](const char* path, const char* text) {
    TreeFileSystem files = with_cpuinfo("processor : 0\n");
    files.set(path, text);
    return probe(files).container;
  };
  EXPECT_EQ(container("/.dockerenv", ""), "docker");
  EXPECT_EQ(container("/run/.containerenv", ""), "podman");
  EXPECT_EQ(container("/run/systemd/container", "systemd-nspawn\n"), "systemd-nspawn");
  EXPECT_EQ(container("/proc/1/cgroup", "0::/kubepods/burstable/pod1/x\n"), "kubernetes");
  EXPECT_EQ(container("/proc/1/cgroup", "1:cpu:/docker/0a1b\n"), "docker");
  EXPECT_EQ(container("/proc/1/cgroup", "1:cpu:/lxc/box\n"), "lxc");
  EXPECT_EQ(container("/proc/1/cgroup", "0::/init.scope\n"), std::nullopt);
}

// Leaf 7: subleaf 1 EAX bit 4 is AVX-VNNI, EAX bit 5 AVX512_BF16; subleaf 0 EDX bit 22 and 25 are AMX (Intel
// 325462).
TEST(Cpu, CpuidNamesWhatAnOldKernelDoesNot) {
  CpuidRegisters features, more;
  features.edx = 1U << 22 | 1U << 25;
  more.eax = 1U << 4 | 1U << 5;
  const auto cpuid = cpuid_of({{{7, 0}, features}, {{7, 1}, more}});
  const CpuInfo cpu = probe(with_cpuinfo("flags : lm avx avx2 fma\n"), cpuid);
  EXPECT_TRUE(cpu.has("avx_vnni"));
  EXPECT_FALSE(cpu.has("avx512_bf16"));  // AVX-512 itself is off
  EXPECT_FALSE(cpu.has("amx_int8"));     // needs the kernel
}

TEST(Cpu, ClocksByCpuid) {
  CpuidRegisters clocks;
  clocks.eax = 2300;
  clocks.ebx = 3400;
  const CpuInfo cpu = probe(with_cpuinfo("processor : 0\n"), cpuid_of({{{0x16, 0}, clocks}}));
  EXPECT_DOUBLE_EQ(cpu.clocks.base_hz.value(), 2.3e9);
  EXPECT_DOUBLE_EQ(cpu.clocks.max_hz.value(), 3.4e9);
  EXPECT_EQ(probe(with_cpuinfo("processor : 0\n"), cpuid_of({{{0x16, 0}, {}}})).clocks.max_hz, std::nullopt);
}

// Graviton3's features, as Amazon's machines list them; 64 cores of Neoverse V1 with 256-bit SVE.
TEST(Cpu, Graviton3) {
  std::string text;
  for (int cpu = 0; cpu < 2; ++cpu) {
    text += "processor\t: " + std::to_string(cpu) +
            "\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp "
            "asimdhp cpuid "
            "asimdrdm jscvt fcma lrcpc dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm "
            "paca pacg "
            "dcpodp svei8mm svebf16 i8mm bf16 dgh rng\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU "
            "variant\t: "
            "0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n\n";
  }
  TreeFileSystem files = with_cpuinfo(text);
  files.set("/proc/sys/abi/sve_default_vector_length", "32\n");
  const CpuInfo cpu = probe(files);
  EXPECT_EQ(cpu.name, "Neoverse-V1");
  EXPECT_EQ(cpu.architecture, "aarch64");
  EXPECT_EQ(cpu.sve_bits, 256);
  EXPECT_THAT(cpu.extensions.value(), ElementsAre("neon", "fp16", "dotprod", "i8mm", "bf16", "sve"));
  EXPECT_EQ(to_device(cpu).fact("arithmetic.bf16"), "bf16");
}

TEST(Cpu, ThisMachine) {
  const auto cpu = probe_cpu(RootedFileSystem(), native_cpuid());
  ASSERT_TRUE(cpu.ok()) << cpu.error().message();
  EXPECT_GE(cpu->usable_cpus, 1);
  EXPECT_LE(cpu->usable_cpus, cpu->logical_cpus);
  EXPECT_TRUE(cpu->memory.total.has_value());
  EXPECT_TRUE(available_memory(RootedFileSystem()).ok());
  EXPECT_EQ(to_device(cpu.value()).address, "cpu");
}

}  // namespace
}  // namespace deepgap::hw
