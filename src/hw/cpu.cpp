#include "hw/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include "base/cpu_list.h"
#include "base/text.h"
#include "hw/cpu_parts.h"
#include "hw/kernel_text.h"
#include "hw/microarchitecture.h"

namespace deepgap::hw {
namespace {

// "always [madvise] never" -> "madvise"
std::optional<std::string> chosen(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::size_t open = text->find('[');
  const std::size_t close = text->find(']');
  if (open == std::string::npos || close == std::string::npos || close <= open + 1) return std::nullopt;
  return printable(text->substr(open + 1, close - open - 1), 40);
}

struct Signature {
  std::string_view text;  // of CPUID leaf 0x40000000, or of a DMI name
  const char* hypervisor;
};
constexpr std::array kCpuidSignatures = {
    Signature{"KVMKVMKVM", "kvm"},        Signature{"VMwareVMware", "vmware"},
    Signature{"Microsoft Hv", "hyper-v"}, Signature{"XenVMMXenVMM", "xen"},
    Signature{"TCGTCGTCGTCG", "qemu"},    Signature{"VBoxVBoxVBox", "virtualbox"},
    Signature{"bhyve bhyve ", "bhyve"},   Signature{" lrpepyh  vr", "parallels"},
};
// A cloud's name stands on its bare machines too; those carry "metal" in the product's name.
constexpr std::array kDmiSignatures = {
    Signature{"VMware", "vmware"},
    Signature{"innotek", "virtualbox"},
    Signature{"VirtualBox", "virtualbox"},
    Signature{"Xen", "xen"},
    Signature{"Parallels", "parallels"},
    Signature{"KVM", "kvm"},
    Signature{"QEMU", "qemu"},
    Signature{"Bochs", "qemu"},
    Signature{"Amazon EC2", "kvm"},
    Signature{"Google Compute Engine", "kvm"},
    Signature{"OpenStack", "kvm"},
    Signature{"Virtual Machine", "hyper-v"},
    Signature{"Apple Virtualization", "apple"},
};

std::optional<std::string> hypervisor_by_cpuid(const CpuidSource& cpuid) {
  const auto registers = cpuid ? cpuid(0x40000000U, 0) : std::nullopt;
  if (!registers) return std::nullopt;
  std::array<char, 12> text{};
  std::memcpy(text.data(), &registers->ebx, 4);
  std::memcpy(text.data() + 4, &registers->ecx, 4);
  std::memcpy(text.data() + 8, &registers->edx, 4);
  const std::string_view signature(text.data(), text.size());
  for (const Signature& known : kCpuidSignatures) {
    if (signature.starts_with(known.text)) return known.hypervisor;
  }
  return std::nullopt;
}

std::optional<std::string> hypervisor_by_dmi(const FileSystem& files) {
  std::string names;
  for (const char* name : {"sys_vendor", "product_name", "board_vendor", "bios_vendor"}) {
    names += files.read_trimmed(std::string("/sys/class/dmi/id/") + name).value_or("") + '\n';
  }
  if (lower(names).find("metal") != std::string::npos) return std::nullopt;
  for (const Signature& known : kDmiSignatures) {
    if (names.find(known.text) != std::string::npos) return known.hypervisor;
  }
  return std::nullopt;
}

std::optional<std::string> find_container(const FileSystem& files) {
  // Inside a container both may be "/"; on its host's side of it the second is not.
  const std::string groups = files.read_trimmed("/proc/1/cgroup").value_or("") + '\n' +
                             files.read_trimmed("/proc/self/cgroup").value_or("");
  if (files.exists("/run/secrets/kubernetes.io") || files.exists("/var/run/secrets/kubernetes.io") ||
      groups.find("kubepods") != std::string::npos) {
    return "kubernetes";
  }
  if (files.exists("/run/.containerenv") || groups.find("libpod") != std::string::npos) return "podman";
  if (files.exists("/.dockerenv") || groups.find("/docker") != std::string::npos) return "docker";
  if (const auto said = files.read_trimmed("/run/systemd/container"); said && !said->empty()) {
    return printable(*said, 40);
  }
  if (groups.find("/lxc") != std::string::npos) return "lxc";
  if (groups.find("containerd") != std::string::npos) return "containerd";
  return std::nullopt;
}

std::optional<std::string> find_microarchitecture(const CpuInfo& cpu) {
  if (cpu.arm_implementer && cpu.arm_part) {
    const auto found = find_arm(*cpu.arm_implementer, *cpu.arm_part);
    return found ? std::optional(std::string(found->name)) : std::nullopt;
  }
  if (!cpu.vendor || !cpu.family || !cpu.model) return std::nullopt;
  const auto found = find_x86(
      {*cpu.vendor, *cpu.family, *cpu.model, cpu.stepping.value_or(0), cpu.name, cpu.has("avx512f"), false});
  return found ? std::optional(std::string(found->name)) : std::nullopt;
}

}  // namespace

void read_virtualisation(const FileSystem& files, const Cpuinfo& cpuinfo, const CpuidSource& cpuid,
                         CpuInfo& cpu) {
  const auto flags = cpuinfo.value("flags");
  bool flagged = false;
  if (flags) {
    const auto words = words_of(*flags);
    flagged = std::find(words.begin(), words.end(), "hypervisor") != words.end();
  }
  const auto sys = files.read_trimmed("/sys/hypervisor/type");
  if (flagged) {
    cpu.hypervisor = hypervisor_by_cpuid(cpuid);
    if (!cpu.hypervisor && sys && !sys->empty()) cpu.hypervisor = printable(*sys, 40);
    if (!cpu.hypervisor) cpu.hypervisor = hypervisor_by_dmi(files);
    if (!cpu.hypervisor) cpu.hypervisor = "unknown";
  } else if (!flags) {  // arm64 has no flag for it
    if (sys && !sys->empty()) cpu.hypervisor = printable(*sys, 40);
    if (!cpu.hypervisor) cpu.hypervisor = hypervisor_by_dmi(files);
  }
  cpu.container = find_container(files);
}

void read_memory(const FileSystem& files, CpuInfo& cpu) {
  if (const auto text = files.read_trimmed("/proc/meminfo")) {
    cpu.memory.total = kilobyte_field(*text, "MemTotal");
    cpu.memory.available = kilobyte_field(*text, "MemAvailable");
    cpu.memory.swap_total = kilobyte_field(*text, "SwapTotal");
    cpu.memory.huge_page_size = kilobyte_field(*text, "Hugepagesize");
    for (const std::string_view line : lines_of(*text)) {
      const auto words = words_of(line);
      if (words.size() != 2 || words[0] != "HugePages_Total:") continue;
      const auto pages = to_integer(words[1]);
      if (pages && *pages >= 0) cpu.memory.huge_pages = pages;
    }
  }
  cpu.memory.transparent_huge_pages =
      chosen(files.read_trimmed("/sys/kernel/mm/transparent_hugepage/enabled"));
}

void read_limits(const FileSystem& files, CpuInfo& cpu) {
  if (const auto status = files.read_trimmed("/proc/self/status")) {
    for (const std::string_view line : lines_of(*status)) {
      constexpr std::string_view kKey = "Cpus_allowed_list:";
      if (!line.starts_with(kKey)) continue;
      auto cpus = parse_cpu_list(line.substr(kKey.size()));
      if (cpus && !cpus->empty()) cpu.affinity = std::move(cpus);
    }
  }
  cpu.limits = read_cgroup_limits(files);
  cpu.usable_cpu_list = cpu.online_cpus;
  // A list that leaves nothing cannot be ours: we are running.
  for (const auto* allowed : {&cpu.affinity, &cpu.limits.cpus}) {
    if (!*allowed) continue;
    std::vector<int> both = common_cpus(cpu.usable_cpu_list, **allowed);
    if (!both.empty()) cpu.usable_cpu_list = std::move(both);
  }
  cpu.usable_cpus = static_cast<int>(cpu.usable_cpu_list.size());
  if (cpu.limits.cpu_quota && *cpu.limits.cpu_quota < static_cast<double>(cpu.usable_cpus)) {
    cpu.usable_cpus = std::max(1, static_cast<int>(std::floor(*cpu.limits.cpu_quota)));
  }
}

Result<CpuInfo> probe_cpu(const FileSystem& files, const CpuidSource& cpuid) {
  auto text = files.read("/proc/cpuinfo");
  if (!text || trim(*text).empty()) {
    return missing(fmt::format("expected this machine's CPU in /proc/cpuinfo, found {}: mount /proc",
                               text ? "an empty file" : "none that can be read"));
  }
  const Cpuinfo cpuinfo(std::move(text).value());
  CpuInfo cpu;
  read_identity(cpuinfo, cpuid, cpu);
  read_topology(files, cpuinfo, cpu);
  read_caches(files, cpu);
  read_numa(files, cpu);
  read_virtualisation(files, cpuinfo, cpuid, cpu);
  read_clocks(files, cpuinfo, cpuid, cpu);
  read_core_types(files, cpuinfo, cpu);
  read_memory(files, cpu);
  read_limits(files, cpu);
  if (cpu.has("sve")) {
    const auto bytes = read_integer(files, "/proc/sys/abi/sve_default_vector_length");
    if (bytes && *bytes >= 16 && *bytes <= 256) cpu.sve_bits = static_cast<int>(*bytes * 8);
  }
  cpu.microarchitecture = find_microarchitecture(cpu);
  return cpu;
}

Result<Bytes> available_memory(const FileSystem& files) {
  const auto text = files.read_trimmed("/proc/meminfo");
  std::optional<Bytes> available = kilobyte_field(text ? *text : "", "MemAvailable");
  if (!available && text) available = kilobyte_field(*text, "MemFree");  // before Linux 3.14
  const auto left = read_cgroup_limits(files).memory_left;
  if (left && (!available || *left < *available)) available = left;
  if (!available) {
    return missing(
        "expected MemAvailable in /proc/meminfo or a cgroup's memory limit, found neither: mount /proc");
  }
  return *available;
}

}  // namespace deepgap::hw
