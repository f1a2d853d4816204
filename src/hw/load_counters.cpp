#include "hw/load_counters.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu_list.h"
#include "hw/kernel_text.h"

namespace deepgap::hw {
namespace {

constexpr std::size_t kMostProcesses = 4096;  // of ours; what is beyond is foreign

}  // namespace

std::int64_t counter_increase(std::int64_t before, std::int64_t after) {
  if (after >= before) return after - before;
  constexpr std::int64_t kWrap = std::int64_t{1} << 32;
  const std::int64_t wrapped = after + kWrap - before;
  // A step back by a little would be a wrap by nearly all of the range.
  return before < kWrap && wrapped < kWrap / 4 ? wrapped : 0;
}

std::map<int, CpuTicks> parse_cpu_ticks(std::string_view proc_stat) {
  std::map<int, CpuTicks> cpus;
  std::optional<CpuTicks> all;
  for (const std::string_view line : lines_of(proc_stat)) {
    if (!line.starts_with("cpu")) break;  // they stand first
    const auto words = words_of(line);
    if (words.size() < 5) continue;  // the oldest kernels count four
    CpuTicks ticks{};
    bool good = true;
    for (std::size_t i = 0; i < ticks.size() && i + 1 < words.size(); ++i) {
      const auto value = to_integer(words[i + 1]);
      good = good && value && *value >= 0;
      if (good) ticks[i] = *value;
    }
    if (!good) continue;
    const auto cpu = numbered_name(words[0], "cpu");
    if (cpu && *cpu <= kLargestCpu) {
      cpus[*cpu] = ticks;
    } else if (words[0] == "cpu") {
      all = ticks;
    }
  }
  if (cpus.empty() && all) cpus[kAllCpus] = *all;
  return cpus;
}

TickSum increase(const CpuTicks& before, const CpuTicks& after) {
  CpuTicks up{};
  for (std::size_t i = 0; i < up.size(); ++i) up[i] = counter_increase(before[i], after[i]);
  return {up[0] + up[1] + up[2] + up[5] + up[6], up[3] + up[4], up[7]};
}

std::optional<ProcessTicks> parse_process_ticks(std::string_view proc_pid_stat) {
  // "4711 (a name (with) anything) S 1 ...": only the last ')' ends the name.
  const std::size_t close = proc_pid_stat.rfind(')');
  const auto pid = to_integer(proc_pid_stat.substr(0, proc_pid_stat.find(' ')));
  if (close == std::string_view::npos || !pid || *pid <= 0 || *pid > (1 << 30)) return std::nullopt;
  const auto words = words_of(proc_pid_stat.substr(close + 1));
  if (words.size() < 20) return std::nullopt;
  const auto user = to_integer(words[11]), system = to_integer(words[12]);
  const auto children_user = to_integer(words[13]), children_system = to_integer(words[14]);
  const auto started = to_integer(words[19]);
  if (!user || !system || !children_user || !children_system || !started) return std::nullopt;
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  for (const std::int64_t ticks : {*user, *system, *children_user, *children_system}) {
    if (ticks < 0 || ticks > kMost) return std::nullopt;
  }
  return ProcessTicks{static_cast<int>(*pid), *started, *user + *system, *children_user + *children_system};
}

std::optional<ProcessTree> read_processes(const FileSystem& files, const std::vector<int>& pids) {
  ProcessTree tree;
  const auto read_one = [&](const std::string& folder) {
    const auto text = files.read_trimmed(folder + "/stat");
    return text ? parse_process_ticks(*text) : std::nullopt;
  };
  const auto self = read_one("/proc/self");
  if (!self) return std::nullopt;
  std::vector<int> waiting = pids;
  waiting.push_back(self->pid);
  while (!waiting.empty() && tree.size() < kMostProcesses) {
    const int pid = waiting.back();
    waiting.pop_back();
    if (tree.contains(pid)) continue;
    const std::string folder = pid == self->pid ? "/proc/self" : fmt::format("/proc/{}", pid);
    const auto ticks = pid == self->pid ? self : read_one(folder);
    if (!ticks) continue;  // ended
    tree[pid] = *ticks;
    for (const std::string& task : files.list(folder + "/task")) {
      const auto children = files.read_trimmed(fmt::format("{}/task/{}/children", folder, task));
      if (!children) continue;
      for (const std::string_view child : words_of(*children)) {
        const auto number = to_integer(child);
        if (number && *number > 0 && *number <= (1 << 30)) waiting.push_back(static_cast<int>(*number));
      }
    }
  }
  return tree;
}

std::int64_t increase(const ProcessTree& before, const ProcessTree& after) {
  const auto same = [](const ProcessTree& tree, const ProcessTicks& process) {
    const auto found = tree.find(process.pid);
    return found != tree.end() && found->second.started == process.started ? &found->second : nullptr;
  };
  std::int64_t up = 0;
  for (const auto& [pid, now] : after) {
    if (const ProcessTicks* then = same(before, now)) {
      up += counter_increase(then->own, now.own) + counter_increase(then->children, now.children);
    } else {
      up += now.own + now.children;
    }
  }
  std::int64_t ended = 0;  // counted before, and again in the parent that waited for it
  for (const auto& [pid, then] : before) {
    if (!same(after, then)) ended += then.own + then.children;
  }
  return up >= ended ? up - ended : up;
}

}  // namespace deepgap::hw
