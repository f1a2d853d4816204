#include "hw/cgroup.h"

#include <algorithm>

#include "base/text.h"
#include "hw/kernel_text.h"

namespace deepgap::hw {
namespace {

// Version 1 writes "no limit" as the largest multiple of the page size; no machine has as much.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
constexpr std::size_t kDeepest = 256;  // groups on one path

struct Mount {
  std::string root;  // the group that is mounted
  std::string point;
  int version = 2;
  std::string controllers;  // version 1: "rw,cpu,cpuacct"
};

// "\040" is how mountinfo writes a space.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '3') {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

// A word in a list with commas.
bool lists(std::string_view words, std::string_view word) {
  for (const std::string& one : split(words, ',')) {
    if (one == word) return true;
  }
  return false;
}

std::vector<Mount> find_mounts(const FileSystem& files) {
  std::vector<Mount> mounts;
  const auto text = files.read_trimmed("/proc/self/mountinfo");
  if (text) {
    // 31 23 0:28 ROOT POINT rw,relatime [optional fields] - TYPE SOURCE OPTIONS
    for (const std::string_view line : lines_of(*text)) {
      const auto words = words_of(line);
      const auto dash = std::find(words.begin(), words.end(), "-");
      if (words.size() < 6 || words.end() - dash < 4) continue;
      if (dash[1] != "cgroup" && dash[1] != "cgroup2") continue;
      const int version = dash[1] == "cgroup2" ? 2 : 1;
      mounts.push_back({unescape(words[3]), unescape(words[4]), version, std::string(dash[3])});
    }
  }
  if (!mounts.empty()) return mounts;
  const std::string usual = "/sys/fs/cgroup";
  if (files.exists(usual + "/cgroup.controllers")) return {{"/", usual, 2, ""}};
  for (const char* controller : {"cpu", "cpuset", "memory"}) {
    for (const std::string& folder : files.list(usual)) {
      if (lists(folder, controller)) mounts.push_back({"/", usual + '/' + folder, 1, controller});
    }
  }
  return mounts;
}

// Our group for a controller of version 1, or of version 2 with controller "".
std::optional<std::string> find_group(std::string_view own_groups, std::string_view controller) {
  for (const std::string_view line : lines_of(own_groups)) {  // "4:cpu,cpuacct:/a/b", "0::/a/b"
    const std::size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : lists(controllers, controller)) {
      return std::string(line.substr(second + 1));
    }
  }
  return std::nullopt;
}

CgroupPath climb(const FileSystem& files, const Mount& mount, const std::string& group) {
  // What of the group's path is below the mount. Inside a container the path may name groups that are not
  // mounted here
  // ("/../..", or the host's): then the mount's root is the nearest that can be seen.
  std::string below;
  if (mount.root == "/") {
    below = group;
  } else if (group.starts_with(mount.root + "/")) {
    below = group.substr(mount.root.size());
  }
  if (below.find("/..") != std::string::npos) below.clear();
  while (below.ends_with('/')) below.pop_back();
  CgroupPath path{mount.version, {}};
  while (!below.empty() && path.folders.size() < kDeepest) {
    if (files.exists(mount.point + below)) path.folders.push_back(mount.point + below);
    below = below.substr(0, below.rfind('/'));
  }
  if (files.exists(mount.point)) path.folders.push_back(mount.point);
  return path;
}

CgroupPath find_path(const FileSystem& files, const std::vector<Mount>& mounts, std::string_view own_groups,
                     std::string_view controller) {
  for (const Mount& mount : mounts) {
    if (mount.version != 1 || !lists(mount.controllers, controller)) continue;
    return climb(files, mount, find_group(own_groups, controller).value_or("/"));
  }
  // In a hybrid set-up version 2 is mounted too, without the controllers that version 1 has.
  for (const Mount& mount : mounts) {
    if (mount.version == 2) return climb(files, mount, find_group(own_groups, "").value_or("/"));
  }
  return {};
}

std::optional<double> quota_of(const FileSystem& files, int version, const std::string& folder) {
  std::optional<std::int64_t> quota, period;
  if (version == 2) {
    const auto text = files.read_trimmed(folder + "/cpu.max");  // "150000 100000", "max 100000"
    const auto words = words_of(text ? std::string_view(*text) : std::string_view());
    if (words.size() != 2) return std::nullopt;
    quota = to_integer(words[0]);
    period = to_integer(words[1]);
  } else {
    quota = read_integer(files, folder + "/cpu.cfs_quota_us");  // -1: no limit
    period = read_integer(files, folder + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<Bytes> limit_in(const FileSystem& files, const std::string& path) {
  const auto limit = read_integer(files, path);  // "max": no limit
  if (!limit || *limit < 0 || *limit >= kNoLimit) return std::nullopt;
  return Bytes{*limit};
}

void keep_smaller(std::optional<Bytes>& smallest, std::optional<Bytes> other) {
  if (other && (!smallest || *other < *smallest)) smallest = other;
}

void read_memory(const FileSystem& files, const CgroupPath& path, CgroupLimits& limits) {
  for (const std::string& folder : path.folders) {
    const bool v2 = path.version == 2;
    const std::string stat = files.read_trimmed(folder + "/memory.stat").value_or("");
    std::optional<Bytes> limit = limit_in(files, folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
    if (v2) {
      keep_smaller(limit, limit_in(files, folder + "/memory.high"));
    } else if (const auto above = keyed_integer(stat, "hierarchical_memory_limit");
               above && *above >= 0 && *above < kNoLimit) {
      keep_smaller(limit, Bytes{*above});  // of groups that are not visible from inside a container
    }
    if (!limit) continue;
    if (!limits.memory_limit || *limit < *limits.memory_limit) {
      limits.memory_limit = limit;
      limits.memory_limit_from = folder;
    }
    const auto used = read_integer(files, folder + (v2 ? "/memory.current" : "/memory.usage_in_bytes"));
    if (!used || *used < 0) continue;
    const std::int64_t cache = std::clamp<std::int64_t>(
        keyed_integer(stat, v2 ? "inactive_file" : "total_inactive_file").value_or(0), 0, *used);
    keep_smaller(limits.memory_left, Bytes{std::max<std::int64_t>(0, limit->value - (*used - cache))});
  }
}

}  // namespace

CgroupPaths find_cgroups(const FileSystem& files) {
  const std::vector<Mount> mounts = find_mounts(files);
  const std::string own = files.read_trimmed("/proc/self/cgroup").value_or("");
  return {find_path(files, mounts, own, "cpu"), find_path(files, mounts, own, "cpuset"),
          find_path(files, mounts, own, "memory")};
}

CgroupLimits read_cgroup_limits(const FileSystem& files) {
  const CgroupPaths paths = find_cgroups(files);
  CgroupLimits limits;
  for (const CgroupPath* path : {&paths.cpu, &paths.memory}) {
    if (!limits.version && !path->folders.empty()) limits.version = path->version;
  }
  for (const std::string& folder : paths.cpu.folders) {
    const auto quota = quota_of(files, paths.cpu.version, folder);
    if (quota && (!limits.cpu_quota || *quota < *limits.cpu_quota)) {
      limits.cpu_quota = quota;
      limits.cpu_quota_from = folder;
    }
  }
  const std::vector<std::string> names =
      paths.cpuset.version == 2 ? std::vector<std::string>{"/cpuset.cpus.effective"}
                                : std::vector<std::string>{"/cpuset.effective_cpus", "/cpuset.cpus"};
  for (const std::string& folder : paths.cpuset.folders) {
    for (const std::string& name : names) {
      const auto cpus = read_cpu_list(files, folder + name);
      if (cpus && !cpus->empty() && !limits.cpus) limits.cpus = cpus;
    }
  }
  read_memory(files, paths.memory, limits);
  return limits;
}

std::vector<ThrottleCounters> read_throttling(const FileSystem& files, const CgroupPath& path) {
  std::vector<ThrottleCounters> counters;
  for (const std::string& folder : path.folders) {
    const auto text = files.read_trimmed(folder + "/cpu.stat");
    if (!text) continue;
    const auto throttled = keyed_integer(*text, "nr_throttled");
    const auto periods = keyed_integer(*text, "nr_periods");
    if (!throttled || !periods) continue;
    const auto time =
        keyed_integer(*text, path.version == 2 ? "throttled_usec" : "throttled_time").value_or(0);
    const std::int64_t largest = kNoLimit / 1000;
    counters.push_back({folder, std::clamp<std::int64_t>(*periods, 0, kNoLimit),
                        std::clamp<std::int64_t>(*throttled, 0, kNoLimit),
                        path.version == 2 ? std::clamp<std::int64_t>(time, 0, largest) * 1000
                                          : std::clamp<std::int64_t>(time, 0, kNoLimit)});
  }
  return counters;
}

}  // namespace deepgap::hw
