// The kernel's counters that load_watch.cpp takes differences of: /proc/stat, /proc/PID/stat. For its files
// only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file_system.h"

namespace deepgap::hw {

// What a counter went up by. 32-bit kernels wrap; some counters (iowait) are known to step back, which is 0.
std::int64_t counter_increase(std::int64_t before, std::int64_t after);

// One CPU's line of /proc/stat, in ticks: user, nice, system, idle, iowait, irq, softirq, steal. (Guest time
// is in user.)
using CpuTicks = std::array<std::int64_t, 8>;
inline constexpr int kAllCpus =
    -1;  // key of the line that adds them up, which is used only where there are no others
std::map<int, CpuTicks> parse_cpu_ticks(std::string_view proc_stat);

struct TickSum {
  std::int64_t busy = 0, idle = 0, steal = 0;
  std::int64_t total() const { return busy + idle + steal; }
};
TickSum increase(const CpuTicks& before, const CpuTicks& after);

struct ProcessTicks {
  int pid = 0;
  std::int64_t started = 0;   // in ticks since boot: tells a process from a later one of the same number
  std::int64_t own = 0;       // user and system
  std::int64_t children = 0;  // of those that ended and were waited for
};
std::optional<ProcessTicks> parse_process_ticks(std::string_view proc_pid_stat);

// The processes and all their descendants that are alive; nothing where this process itself cannot be read.
using ProcessTree = std::map<int, ProcessTicks>;
std::optional<ProcessTree> read_processes(const FileSystem& files, const std::vector<int>& pids);
// CPU time of the tree between two readings. A child that ended meanwhile counts through its parent.
std::int64_t increase(const ProcessTree& before, const ProcessTree& after);

}  // namespace deepgap::hw
