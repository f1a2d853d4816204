// Name, numbers of the model, extensions.
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/text.h"
#include "hw/cpu_parts.h"
#include "hw/kernel_text.h"
#include "hw/microarchitecture.h"

namespace deepgap::hw {
namespace {

struct Extension {
  std::string_view name;    // ours
  std::string_view kernel;  // in "flags" or "Features" of /proc/cpuinfo
};

constexpr std::array kX86 = {
    Extension{"sse4_2", "sse4_2"},
    Extension{"avx", "avx"},
    Extension{"f16c", "f16c"},
    Extension{"fma", "fma"},
    Extension{"avx2", "avx2"},
    Extension{"avx_vnni", "avx_vnni"},
    Extension{"avx_vnni_int8", "avx_vnni_int8"},
    Extension{"avx512f", "avx512f"},
    Extension{"avx512bw", "avx512bw"},
    Extension{"avx512vl", "avx512vl"},
    Extension{"avx512_vnni", "avx512_vnni"},
    Extension{"avx512_bf16", "avx512_bf16"},
    Extension{"avx512_fp16", "avx512_fp16"},
    Extension{"amx_tile", "amx_tile"},
    Extension{"amx_int8", "amx_int8"},
    Extension{"amx_bf16", "amx_bf16"},
    Extension{"amx_fp16", "amx_fp16"},
};

constexpr std::array kArm64 = {
    Extension{"neon", "asimd"}, Extension{"fp16", "asimdhp"}, Extension{"dotprod", "asimddp"},
    Extension{"i8mm", "i8mm"},  Extension{"bf16", "bf16"},    Extension{"sve", "sve"},
    Extension{"sve2", "sve2"},  Extension{"sme", "sme"},      Extension{"sme2", "sme2"},
};

template <std::size_t N>
std::vector<std::string> names_in(const std::array<Extension, N>& table,
                                  const std::set<std::string_view>* flags) {
  std::vector<std::string> names;
  for (const Extension& one : table) {
    if (!flags || flags->contains(one.kernel)) names.emplace_back(one.name);
  }
  return names;
}

// Kernels older than a CPU do not name its newest extensions. Those that need no state of their own beyond
// AVX's or AVX-512's work all the same; AMX does need the kernel, so its word is final there.
void add_unnamed_flags(const CpuidSource& cpuid, std::set<std::string_view>& flags) {
  if (!cpuid) return;
  const auto features = cpuid(7, 0);
  const auto more = cpuid(7, 1);
  if (features && flags.contains("avx512f")) {
    if (features->ecx >> 11 & 1U) flags.insert("avx512_vnni");
    if (features->edx >> 23 & 1U) flags.insert("avx512_fp16");
    if (more && (more->eax >> 5 & 1U)) flags.insert("avx512_bf16");
  }
  if (more && flags.contains("avx2")) {
    if (more->eax >> 4 & 1U) flags.insert("avx_vnni");
    if (more->edx >> 4 & 1U) flags.insert("avx_vnni_int8");
  }
}

std::optional<int> natural(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  return within(to_integer_any_base(*text), 0, std::numeric_limits<int>::max());
}

}  // namespace

CpuidSource native_cpuid() {
#if defined(__x86_64__)
  return [](std::uint32_t leaf, std::uint32_t subleaf) -> std::optional<CpuidRegisters> {
    CpuidRegisters r;
    // Hypervisors have a range of their own, which __get_cpuid_count does not know.
    const bool hypervisor_leaf = leaf >= 0x40000000U && leaf < 0x50000000U;
    if (!hypervisor_leaf) {
      if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return std::nullopt;
      return r;
    }
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 31 & 1U) == 0) return std::nullopt;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    return r;
  };
#else
  return {};
#endif
}

std::vector<std::string> known_extensions(std::string_view architecture) {
  if (architecture == "x86_64") return names_in(kX86, nullptr);
  if (architecture == "aarch64") return names_in(kArm64, nullptr);
  return {};
}

Cpuinfo::Cpuinfo(std::string text) : text_(std::move(text)) {
  bool in_block = false;
  for (const std::string_view line : lines_of(text_)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      if (trim(line).empty()) in_block = false;
      continue;
    }
    const std::string_view key = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (key == "processor") {
      const auto cpu = to_integer(value);
      if (cpu && *cpu >= 0 && *cpu <= std::numeric_limits<int>::max()) {
        blocks_.push_back({static_cast<int>(*cpu), {}});
        in_block = true;
        continue;
      }
    }
    auto& values = in_block ? blocks_.back().values : common_;
    values.emplace(key, value);
  }
}

std::optional<std::string_view> Cpuinfo::value(const Block& block, std::string_view key) const {
  if (const auto found = block.values.find(key); found != block.values.end()) return found->second;
  if (const auto found = common_.find(key); found != common_.end()) return found->second;
  return std::nullopt;
}

std::optional<std::string_view> Cpuinfo::value(std::string_view key) const {
  for (const Block& block : blocks_) {
    if (const auto found = block.values.find(key); found != block.values.end()) return found->second;
  }
  if (const auto found = common_.find(key); found != common_.end()) return found->second;
  return std::nullopt;
}

std::optional<int> Cpuinfo::integer(const Block& block, std::string_view key) const {
  return natural(value(block, key));
}

std::optional<int> Cpuinfo::integer(std::string_view key) const {
  return natural(value(key));
}

void read_identity(const Cpuinfo& cpuinfo, const CpuidSource& cpuid, CpuInfo& cpu) {
  cpu.name = "unknown CPU";
  for (const char* key : {"model name", "cpu model", "cpu", "uarch", "Hardware", "Model"}) {
    const auto name = cpuinfo.value(key);
    if (!name || name->empty()) continue;
    cpu.name = printable(*name, 120);
    break;
  }
  if (const auto text = cpuinfo.value("flags")) {
    const auto words = words_of(*text);
    std::set<std::string_view> flags(words.begin(), words.end());
    cpu.architecture = flags.contains("lm") ? "x86_64" : "i686";
    add_unnamed_flags(cpuid, flags);
    cpu.extensions = names_in(kX86, &flags);
  } else if (const auto features = cpuinfo.value("Features"); features && cpuinfo.value("CPU implementer")) {
    const auto words = words_of(*features);
    const std::set<std::string_view> flags(words.begin(), words.end());
    cpu.architecture = flags.contains("asimd") ? "aarch64" : "arm";
    cpu.extensions = names_in(kArm64, &flags);
  }
  if (const auto vendor = cpuinfo.value("vendor_id"); vendor && !vendor->empty())
    cpu.vendor = printable(*vendor, 60);
  if (const auto microcode = cpuinfo.value("microcode")) cpu.microcode = printable(*microcode, 60);
  cpu.family = cpuinfo.integer("cpu family");
  cpu.model = cpuinfo.integer("model");
  cpu.stepping = cpuinfo.integer("stepping");

  cpu.arm_implementer = cpuinfo.integer("CPU implementer");
  cpu.arm_part = cpuinfo.integer("CPU part");
  cpu.arm_variant = cpuinfo.integer("CPU variant");
  cpu.arm_revision = cpuinfo.integer("CPU revision");
  if (cpu.arm_implementer && !cpu.vendor) {
    if (const auto vendor = arm_implementer_name(*cpu.arm_implementer)) cpu.vendor = *vendor;
  }
}

bool CpuInfo::has(std::string_view extension) const {
  return extensions && std::find(extensions->begin(), extensions->end(), extension) != extensions->end();
}

}  // namespace deepgap::hw
