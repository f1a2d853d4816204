// Sockets, cores, kinds of cores, caches and NUMA nodes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/cpu_list.h"
#include "base/text.h"
#include "hw/cpu_parts.h"
#include "hw/kernel_text.h"
#include "hw/microarchitecture.h"

namespace deepgap::hw {
namespace {

constexpr const char* kCpus = "/sys/devices/system/cpu";
// A hybrid's kinds of cores differ in their highest clock by a quarter and more; favoured cores of one kind
// by some 5 %.
constexpr double kOtherKindOfClock = 0.85;

std::string cpu_folder(int cpu) {
  return fmt::format("{}/cpu{}", kCpus, cpu);
}

std::vector<int> find_online(const FileSystem& files, const Cpuinfo& cpuinfo) {
  if (auto cpus = read_cpu_list(files, std::string(kCpus) + "/online"); cpus && !cpus->empty()) return *cpus;
  std::vector<int> cpus;
  for (const Cpuinfo::Block& block : cpuinfo.blocks()) {
    if (block.cpu <= kLargestCpu) cpus.push_back(block.cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  if (cpus.empty()) cpus.push_back(0);  // one runs this
  return cpus;
}

// "48K", "24576K", "18M"
std::optional<Bytes> cache_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t factor = 1;
  if (text.back() == 'K') factor = 1024;
  if (text.back() == 'M') factor = std::int64_t{1024} * 1024;
  const auto number = to_integer(factor == 1 ? text : text.substr(0, text.size() - 1));
  if (!number || *number <= 0 || *number > (std::int64_t{1} << 40)) return std::nullopt;
  return Bytes{*number * factor};
}

// Each CPU's cache sizes: those of another kind of core differ.
using CacheSignature = std::vector<std::pair<std::string, std::string>>;

CacheSignature private_caches(const FileSystem& files, int cpu) {
  CacheSignature signature;
  for (int index = 0; index < 3; ++index) {
    const std::string folder = fmt::format("{}/cache/index{}", cpu_folder(cpu), index);
    signature.emplace_back(files.read_trimmed(folder + "/level").value_or("") +
                               files.read_trimmed(folder + "/type").value_or(""),
                           files.read_trimmed(folder + "/size").value_or(""));
  }
  return signature;
}

std::optional<double> top_clock(const FileSystem& files, const std::vector<FrequencyPolicy>& policies,
                                int cpu) {
  for (const FrequencyPolicy& policy : policies) {
    if (std::binary_search(policy.cpus.begin(), policy.cpus.end(), cpu)) {
      return read_kilohertz(files, policy.folder + "/cpuinfo_max_freq");
    }
  }
  return std::nullopt;
}

// Intel's hybrid kernels say it themselves.
std::vector<CoreType> types_by_pmu(const FileSystem& files, const std::vector<int>& online) {
  std::vector<CoreType> types;
  for (const auto& [device, name] :
       {std::pair("cpu_core", "performance"), std::pair("cpu_atom", "efficiency"),
        std::pair("cpu_lowpower", "low-power")}) {
    const auto cpus = read_cpu_list(files, fmt::format("/sys/devices/{}/cpus", device));
    CoreType type;
    type.name = name;
    if (cpus) type.cpus = common_cpus(*cpus, online);
    if (!type.cpus.empty()) types.push_back(std::move(type));
  }
  return types;
}

std::vector<CoreType> types_by_part(const Cpuinfo& cpuinfo, const std::vector<int>& online) {
  std::map<int, CoreType> by_part;
  for (const Cpuinfo::Block& block : cpuinfo.blocks()) {
    const auto part = cpuinfo.integer(block, "CPU part");
    if (!part || !std::binary_search(online.begin(), online.end(), block.cpu)) continue;
    CoreType& type = by_part[*part];
    type.arm_part = part;
    type.cpus.push_back(block.cpu);
  }
  std::vector<CoreType> types;
  for (auto& [part, type] : by_part) {
    std::sort(type.cpus.begin(), type.cpus.end());
    type.cpus.erase(std::unique(type.cpus.begin(), type.cpus.end()), type.cpus.end());
    types.push_back(std::move(type));
  }
  return types;
}

// By what else tells kinds apart: cache sizes, then the highest clock.
std::vector<CoreType> types_by_shape(const FileSystem& files, const std::vector<FrequencyPolicy>& policies,
                                     const std::vector<int>& online) {
  std::map<CacheSignature, std::vector<int>> by_caches;
  for (const int cpu : online) by_caches[private_caches(files, cpu)].push_back(cpu);
  std::vector<CoreType> types;
  for (const auto& [caches, cpus] : by_caches) {
    CoreType fast, slow;
    double top = 0;
    for (const int cpu : cpus) top = std::max(top, top_clock(files, policies, cpu).value_or(0));
    for (const int cpu : cpus) {
      const auto clock = top_clock(files, policies, cpu);
      (clock && *clock < top * kOtherKindOfClock ? slow : fast).cpus.push_back(cpu);
    }
    types.push_back(std::move(fast));
    if (!slow.cpus.empty()) types.push_back(std::move(slow));
  }
  return types;
}

}  // namespace

std::vector<Core> find_cores(const FileSystem& files, const Cpuinfo& cpuinfo,
                             const std::vector<int>& online) {
  std::map<int, Core> by_first_cpu;
  for (const int cpu : online) {
    const std::string folder = cpu_folder(cpu) + "/topology";
    auto siblings = read_cpu_list(files, folder + "/core_cpus_list");
    if (!siblings) siblings = read_cpu_list(files, folder + "/thread_siblings_list");  // before Linux 5.3
    if (!siblings) continue;
    const std::vector<int> together = common_cpus(*siblings, online);
    if (!std::binary_search(together.begin(), together.end(), cpu)) continue;
    Core& core = by_first_cpu[together.front()];
    core.cpus = together;
    // -1: the firmware does not say.
    core.socket =
        within(read_integer(files, folder + "/physical_package_id"), 0, std::numeric_limits<int>::max());
  }
  if (by_first_cpu.empty()) {
    std::map<std::pair<int, int>, int> first_cpu;
    for (const Cpuinfo::Block& block : cpuinfo.blocks()) {
      const auto socket = cpuinfo.integer(block, "physical id");
      const auto core = cpuinfo.integer(block, "core id");
      if (!socket.has_value() || !core.has_value()) continue;
      if (!std::binary_search(online.begin(), online.end(), block.cpu)) continue;
      const std::pair<int, int> key(socket.value(), core.value());
      Core& together = by_first_cpu[first_cpu.emplace(key, block.cpu).first->second];
      together.cpus.push_back(block.cpu);
      together.socket = key.first;
    }
  }
  std::vector<Core> cores;
  for (auto& [first, core] : by_first_cpu) {
    std::sort(core.cpus.begin(), core.cpus.end());
    cores.push_back(std::move(core));
  }
  return cores;
}

void read_topology(const FileSystem& files, const Cpuinfo& cpuinfo, CpuInfo& cpu) {
  cpu.online_cpus = find_online(files, cpuinfo);
  cpu.logical_cpus = static_cast<int>(cpu.online_cpus.size());
  if (const auto smt = files.read_trimmed(std::string(kCpus) + "/smt/control"); smt && !smt->empty()) {
    cpu.smt = printable(*smt, 40);
  }
  const std::vector<Core> cores = find_cores(files, cpuinfo, cpu.online_cpus);
  if (cores.empty()) return;
  std::map<int, int> cores_of_socket;
  std::size_t threads = 1;
  bool sockets_known = true;
  for (const Core& core : cores) {
    threads = std::max(threads, core.cpus.size());
    if (core.socket) ++cores_of_socket[*core.socket];
    sockets_known = sockets_known && core.socket;
  }
  cpu.physical_cores = static_cast<int>(cores.size());
  cpu.threads_per_core = static_cast<int>(threads);
  if (!sockets_known) return;
  cpu.sockets = static_cast<int>(cores_of_socket.size());
  int most = 0;
  for (const auto& [socket, count] : cores_of_socket) most = std::max(most, count);
  cpu.cores_per_socket = most;
}

void read_core_types(const FileSystem& files, const Cpuinfo& cpuinfo, CpuInfo& cpu) {
  const auto policies = frequency_policies(files, cpu.online_cpus);
  std::vector<CoreType> types = types_by_pmu(files, cpu.online_cpus);
  if (types.empty() && cpu.arm_implementer) types = types_by_part(cpuinfo, cpu.online_cpus);
  if (types.empty()) types = types_by_shape(files, policies, cpu.online_cpus);
  const std::vector<Core> cores = find_cores(files, cpuinfo, cpu.online_cpus);
  for (CoreType& type : types) {
    for (const int one : type.cpus) {
      const auto clock = top_clock(files, policies, one);
      if (clock && (!type.max_hz || *clock > *type.max_hz)) type.max_hz = clock;
    }
    if (!cores.empty()) {
      type.cores = static_cast<int>(std::count_if(cores.begin(), cores.end(), [&](const Core& core) {
        return std::binary_search(type.cpus.begin(), type.cpus.end(), core.cpus.front());
      }));
    }
  }
  std::stable_sort(types.begin(), types.end(), [](const CoreType& a, const CoreType& b) {
    return a.max_hz.value_or(0) > b.max_hz.value_or(0);
  });
  if (cpu.arm_implementer) {
    std::string names;
    for (CoreType& type : types) {
      if (!type.arm_part) type.arm_part = cpu.arm_part;
      if (!type.arm_part) continue;
      type.name = arm_core_name(*cpu.arm_implementer, *type.arm_part);
      if (names.find(type.name) == std::string::npos) names += (names.empty() ? "" : " + ") + type.name;
    }
    if (!names.empty()) cpu.name = names;
  } else if (types.size() > 1) {
    constexpr const char* kNames[] = {"performance", "efficiency", "low-power"};
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i].name.empty()) types[i].name = i < 3 ? kNames[i] : fmt::format("kind {}", i + 1);
    }
  }
  cpu.core_types = std::move(types);
}

void read_caches(const FileSystem& files, CpuInfo& cpu) {
  using Key = std::tuple<int, std::string, std::int64_t, int>;  // level, kind, size or -1, shared by
  std::map<Key, CpuCache> found;
  std::set<std::tuple<int, std::string, int>> seen;  // level, kind, first CPU
  for (const int one : cpu.online_cpus) {
    const std::string folder = cpu_folder(one) + "/cache";
    for (const std::string& name : files.list(folder)) {
      if (!numbered_name(name, "index")) continue;
      const std::string index = folder + '/' + name;
      const auto level = read_integer(files, index + "/level");
      const std::string kind = lower(files.read_trimmed(index + "/type").value_or(""));
      if (!level || *level < 1 || *level > 9) continue;
      if (kind != "data" && kind != "instruction" && kind != "unified") continue;
      std::vector<int> sharing = {one};
      if (const auto list = read_cpu_list(files, index + "/shared_cpu_list")) {
        const std::vector<int> online = common_cpus(*list, cpu.online_cpus);
        if (!online.empty()) sharing = online;
      }
      const int number = static_cast<int>(*level);
      if (!seen.emplace(number, kind, sharing.front()).second) continue;
      const auto size = cache_size(files.read_trimmed(index + "/size").value_or(""));
      CpuCache& cache = found[{number, kind, size ? size->value : -1, static_cast<int>(sharing.size())}];
      ++cache.instances;
      cache.cpus.insert(cache.cpus.end(), sharing.begin(), sharing.end());
    }
  }
  for (auto& [key, cache] : found) {
    std::tie(cache.level, cache.kind, std::ignore, cache.shared_by) = key;
    if (std::get<2>(key) >= 0) cache.size = Bytes{std::get<2>(key)};
    std::sort(cache.cpus.begin(), cache.cpus.end());
    cpu.caches.push_back(std::move(cache));
  }
  // The larger of two kinds of cores first.
  std::stable_sort(cpu.caches.begin(), cpu.caches.end(), [](const CpuCache& a, const CpuCache& b) {
    return std::tuple(a.level, a.kind, -a.size.value_or(Bytes{}).value) <
           std::tuple(b.level, b.kind, -b.size.value_or(Bytes{}).value);
  });
}

void read_numa(const FileSystem& files, CpuInfo& cpu) {
  const std::string folder = "/sys/devices/system/node";
  for (const std::string& name : files.list(folder)) {
    const auto id = numbered_name(name, "node");
    if (!id) continue;
    NumaNode node;
    node.id = *id;
    if (const auto cpus = read_cpu_list(files, fmt::format("{}/{}/cpulist", folder, name))) {
      node.cpus = common_cpus(*cpus, cpu.online_cpus);
    }
    if (const auto text = files.read_trimmed(fmt::format("{}/{}/meminfo", folder, name))) {
      node.memory = kilobyte_field(*text, "MemTotal");
    }
    cpu.numa_nodes.push_back(std::move(node));
  }
  std::sort(cpu.numa_nodes.begin(), cpu.numa_nodes.end(),
            [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
}

}  // namespace deepgap::hw
