// The CPU as a value of the core: names, facts, ceilings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "base/cpu_list.h"
#include "base/text.h"
#include "hw/cpu.h"
#include "hw/kernel_text.h"
#include "hw/microarchitecture.h"

namespace deepgap::hw {
namespace {

// "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz" -> "xeon-platinum-8380"; "" where nothing is left.
std::string short_name(std::string_view name) {
  std::string plain = lower(name.substr(0, name.find('@')));
  for (const char* mark : {"(r)", "(tm)", "(c)"}) {
    for (std::size_t at; (at = plain.find(mark)) != std::string::npos;)
      plain.replace(at, std::string_view(mark).size(), " ");
  }
  if (const std::size_t with = plain.find(" with "); with != std::string::npos)
    plain.resize(with);  // "with Radeon Graphics"
  std::vector<std::string> parts;
  for (const std::string_view word : words_of(plain)) {
    if (word == "intel" || word == "amd" || word == "cpu" || word == "processor" || word == "gen") continue;
    if (word.ends_with("-core") && std::isdigit(static_cast<unsigned char>(word.front())))
      continue;  // "24-core"
    if (word.size() >= 3 && std::isdigit(static_cast<unsigned char>(word.front())) &&
        (word.ends_with("th") || word.ends_with("nd") || word.ends_with("rd") || word.ends_with("st"))) {
      continue;  // "13th"
    }
    if (word != "+") parts.emplace_back(word);
  }
  return join(parts, "-");
}

class Facts {
 public:
  void add(std::string name, std::string value, std::string unit = "") {
    facts_.push_back({std::move(name), std::move(value), std::move(unit)});
  }
  void add(std::string name, const std::optional<std::string>& value) {
    if (value && !value->empty()) add(std::move(name), *value, "");
  }
  void add(std::string name, std::optional<int> value) {
    if (value) add(std::move(name), std::to_string(*value), "");
  }
  void add(std::string name, std::optional<Bytes> value) {
    if (value) add(std::move(name), std::to_string(value->value), "B");
  }
  void add_clock(std::string name, std::optional<double> hertz) {
    if (hertz) add(std::move(name), fmt::format("{:.0f}", *hertz), "Hz");
  }
  std::vector<DeviceFact> take() { return std::move(facts_); }

 private:
  std::vector<DeviceFact> facts_;
};

// Which of these the CPU has; "none" where it has none of them.
std::string those_it_has(const CpuInfo& cpu, std::initializer_list<std::string_view> extensions) {
  std::vector<std::string> names;
  for (const std::string_view one : extensions) {
    if (cpu.has(one)) names.emplace_back(one);
  }
  return names.empty() ? "none" : join(names, ",");
}

void add_extensions(const CpuInfo& cpu, Facts& facts) {
  if (!cpu.extensions) return;
  for (const std::string& name : known_extensions(cpu.architecture)) {
    facts.add("extension." + name, cpu.has(name) ? "yes" : "no", "");
  }
  facts.add("arithmetic.int8", those_it_has(cpu, {"amx_int8", "avx512_vnni", "avx_vnni", "i8mm", "dotprod"}),
            "");
  facts.add("arithmetic.bf16", those_it_has(cpu, {"amx_bf16", "avx512_bf16", "bf16"}), "");
  facts.add("arithmetic.fp16", those_it_has(cpu, {"amx_fp16", "avx512_fp16", "fp16"}), "");
  if (cpu.sve_bits) facts.add("sve.vector_length", std::to_string(*cpu.sve_bits), "bit");
}

void add_topology(const CpuInfo& cpu, Facts& facts) {
  facts.add("sockets", cpu.sockets);
  facts.add("cores.physical", cpu.physical_cores);
  facts.add("cores.per_socket", cpu.cores_per_socket);
  facts.add("threads.per_core", cpu.threads_per_core);
  facts.add("cpus.logical", std::optional(cpu.logical_cpus));
  facts.add("cpus.online", format_cpu_list(cpu.online_cpus), "");
  facts.add("cpus.usable", std::optional(cpu.usable_cpus));
  facts.add("smt", cpu.smt);
  if (cpu.core_types.size() > 1) {
    for (const CoreType& type : cpu.core_types) {
      const std::string name = "cores." + lower(type.name);
      facts.add(name, type.cores);
      facts.add(name + ".cpus", format_cpu_list(type.cpus), "");
      facts.add_clock(name + ".clock.max", type.max_hz);
    }
  }
  std::map<std::string, int> times;
  for (const CpuCache& cache : cpu.caches) {
    const char* suffix = cache.kind == "data" ? "d" : cache.kind == "instruction" ? "i" : "";
    std::string name = fmt::format("cache.l{}{}", cache.level, suffix);
    // "cache.l2.performance" where the kinds of cores have caches of their own, "cache.l3.2" where nothing
    // tells two apart.
    const auto alike = std::count_if(cpu.caches.begin(), cpu.caches.end(), [&](const CpuCache& other) {
      return other.level == cache.level && other.kind == cache.kind;
    });
    for (const CoreType& type : cpu.core_types) {
      if (alike > 1 && cpu.core_types.size() > 1 && common_cpus(type.cpus, cache.cpus) == cache.cpus)
        name += '.' + lower(type.name);
    }
    if (const int again = ++times[name]; again > 1) name += fmt::format(".{}", again);
    facts.add(name, cache.size);
    facts.add(name + ".instances", std::optional(cache.instances));
    facts.add(name + ".shared_by", std::optional(cache.shared_by));
  }
  if (!cpu.numa_nodes.empty()) facts.add("numa.nodes", std::to_string(cpu.numa_nodes.size()), "");
  for (const NumaNode& node : cpu.numa_nodes) {
    facts.add(fmt::format("numa.{}.cpus", node.id), format_cpu_list(node.cpus), "");
    facts.add(fmt::format("numa.{}.memory", node.id), node.memory);
  }
}

void add_state(const CpuInfo& cpu, Facts& facts) {
  facts.add_clock("clock.base", cpu.clocks.base_hz);
  facts.add_clock("clock.min", cpu.clocks.min_hz);
  facts.add_clock("clock.max", cpu.clocks.max_hz);
  facts.add("clock.governor", cpu.clocks.governor);
  facts.add("clock.driver", cpu.clocks.driver);
  if (cpu.clocks.boost) facts.add("clock.boost", *cpu.clocks.boost ? "on" : "off", "");
  facts.add("memory.total", cpu.memory.total);
  facts.add("memory.swap", cpu.memory.swap_total);
  facts.add("memory.transparent_huge_pages", cpu.memory.transparent_huge_pages);
  facts.add("memory.huge_page_size", cpu.memory.huge_page_size);
  if (cpu.memory.huge_pages) facts.add("memory.huge_pages", std::to_string(*cpu.memory.huge_pages), "");
  if (cpu.affinity) facts.add("limit.affinity", format_cpu_list(*cpu.affinity), "");
  if (cpu.limits.cpus) facts.add("limit.cpuset", format_cpu_list(*cpu.limits.cpus), "");
  if (cpu.limits.cpu_quota) facts.add("limit.cpu_quota", format_number(*cpu.limits.cpu_quota), "cores");
  facts.add("limit.memory", cpu.limits.memory_limit);
  facts.add("cgroup.version", cpu.limits.version);
  facts.add("hypervisor", cpu.hypervisor);
  facts.add("container", cpu.container);
}

// Operations a cycle of each kind of core; nothing for a kind that the table does not know.
std::optional<Microarchitecture> microarchitecture_of(const CpuInfo& cpu, const CoreType& type) {
  if (cpu.arm_implementer && type.arm_part) return find_arm(*cpu.arm_implementer, *type.arm_part);
  if (!cpu.vendor || !cpu.family || !cpu.model) return std::nullopt;
  const bool efficiency = type.name == "efficiency" || type.name == "low-power";
  return find_x86({*cpu.vendor, *cpu.family, *cpu.model, cpu.stepping.value_or(0), cpu.name,
                   cpu.has("avx512f"), efficiency});
}

struct Quantity {
  const char* name;
  std::optional<int> OperationsPerCycle::*operations;
  const char* needs;  // one of these extensions, separated by ','; "" for none
};
constexpr std::array kQuantities = {
    Quantity{"flops.fp64.vector", &OperationsPerCycle::fp64_vector, "fma,neon"},
    Quantity{"flops.fp32.vector", &OperationsPerCycle::fp32_vector, "fma,neon"},
    Quantity{"flops.int8.vector", &OperationsPerCycle::int8_vector, "avx512_vnni,avx_vnni,dotprod"},
    Quantity{"flops.bf16.matrix", &OperationsPerCycle::bf16_matrix, "amx_bf16"},
    Quantity{"flops.int8.matrix", &OperationsPerCycle::int8_matrix, "amx_int8"},
};

std::vector<Ceiling> theoretical_ceilings(const CpuInfo& cpu) {
  std::vector<Ceiling> ceilings;
  for (const Quantity& quantity : kQuantities) {
    const auto needs = split(quantity.needs, ',');
    if (std::none_of(needs.begin(), needs.end(), [&](const std::string& one) { return cpu.has(one); }))
      continue;
    double rate = 0;
    std::string parts, source;
    bool known = !cpu.core_types.empty();
    for (const CoreType& type : cpu.core_types) {
      const auto architecture = microarchitecture_of(cpu, type);
      const auto hertz = cpu.core_types.size() == 1 ? cpu.clocks.max_hz : type.max_hz;
      known = known && architecture && hertz && type.cores && architecture->operations.*quantity.operations;
      if (!known) break;
      const int operations = *(architecture->operations.*quantity.operations);
      rate += *type.cores * *hertz * operations;
      parts += fmt::format("{}{} cores x {} GHz x {} operations a cycle", parts.empty() ? "" : " + ",
                           *type.cores, format_number(*hertz / 1e9), operations);
      source = architecture->source;
    }
    if (!known) continue;
    ceilings.push_back({quantity.name, rate, Unit::kFlopsPerSecond, Origin::kProbe,
                        parts + "; the highest clock, which all cores together rarely hold; " + source});
  }
  return ceilings;
}

}  // namespace

std::vector<DeviceFact> momentary_facts(const CpuInfo& cpu) {
  Facts facts;
  facts.add_clock("clock.current", cpu.clocks.current_hz);
  std::optional<Bytes> available = cpu.memory.available;
  const std::optional<Bytes> left = cpu.limits.memory_left;
  if (left && (!available || *left < *available)) available = left;
  facts.add("memory.available", available);
  return facts.take();
}

Device to_device(const CpuInfo& cpu) {
  Device device;
  device.address = "cpu";
  device.kind = DeviceKind::kCpu;
  device.name = cpu.name;
  if (std::string name = short_name(cpu.name); !name.empty() && cpu.name != "unknown CPU") {
    device.aliases.push_back(name);
    if (name.starts_with("core-")) device.aliases.push_back(name.substr(5));  // "i7-1370p"
  }
  Facts facts;
  facts.add("architecture", cpu.architecture, "");
  facts.add("vendor", cpu.vendor);
  facts.add("microarchitecture", cpu.microarchitecture);
  facts.add("family", cpu.family);
  facts.add("model", cpu.model);
  facts.add("stepping", cpu.stepping);
  facts.add("microcode", cpu.microcode);
  add_topology(cpu, facts);
  add_extensions(cpu, facts);
  add_state(cpu, facts);
  device.facts = facts.take();
  std::erase_if(device.facts, [](const DeviceFact& fact) { return fact.value.empty(); });
  device.ceilings = theoretical_ceilings(cpu);
  return device;
}

}  // namespace deepgap::hw
