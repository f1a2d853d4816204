// What control groups (version 1 and 2) allow this process: a container's CPU quota, CPU set and memory
// limit.
//
//   cpu quota 1.5 cores (set by /sys/fs/cgroup/kubepods/pod7), CPU set 0-7, memory limit 4 GiB
//
// Limits nest: each group on the path from ours up to the mount's root may set one, and the smallest holds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/units.h"

namespace deepgap::hw {

// The folders of the groups that hold this process, for one controller, innermost first; empty where there
// are none.
struct CgroupPath {
  int version = 2;                   // 1 or 2
  std::vector<std::string> folders;  // absolute, as mounted here
};

struct CgroupPaths {
  CgroupPath cpu;
  CgroupPath cpuset;
  CgroupPath memory;
};

// From /proc/self/cgroup and /proc/self/mountinfo; where those are unreadable, from the usual mount points.
CgroupPaths find_cgroups(const FileSystem& files);

struct CgroupLimits {
  std::optional<int> version;            // of the CPU controller, else of the memory controller: 1 or 2
  std::optional<double> cpu_quota;       // cores: quota / period; absent: no limit
  std::string cpu_quota_from;            // the group that sets it; "" where none does
  std::optional<std::vector<int>> cpus;  // of the CPU set
  std::optional<Bytes> memory_limit;  // the smallest of hard (max) and soft (high) limits; absent: no limit
  std::string memory_limit_from;
  // Left below the tightest limit, page cache that can be dropped counted as free; absent: no limit.
  std::optional<Bytes> memory_left;
};

CgroupLimits read_cgroup_limits(const FileSystem& files);

// What the quota did to one group so far (cpu.stat).
struct ThrottleCounters {
  std::string folder;
  std::int64_t periods = 0;    // nr_periods
  std::int64_t throttled = 0;  // nr_throttled
  std::int64_t throttled_ns = 0;
};
// One entry for each group on `path` that has a quota's counters.
std::vector<ThrottleCounters> read_throttling(const FileSystem& files, const CgroupPath& path);

}  // namespace deepgap::hw
