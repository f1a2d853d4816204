#include "hw/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/cpu.h"
#include "hw/tree_file_system.h"

namespace deepgap::hw {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

constexpr const char* kMount2 = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

TreeFileSystem version_2(const std::string& group) {
  TreeFileSystem files;
  files.set("/proc/self/mountinfo", kMount2);
  files.set("/proc/self/cgroup", "0::" + group + "\n");
  files.set("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  return files;
}

TEST(Cgroup, TheSmallestQuotaOnThePathHolds) {
  TreeFileSystem files = version_2("/a/b/c");
  files.set("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  files.set("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  files.set("/sys/fs/cgroup/a/b/c/cpu.max", "400000 200000\n");
  const CgroupLimits limits = read_cgroup_limits(files);
  EXPECT_EQ(limits.version, 2);
  EXPECT_DOUBLE_EQ(limits.cpu_quota.value(), 1.5);
  EXPECT_EQ(limits.cpu_quota_from, "/sys/fs/cgroup/a");
  EXPECT_FALSE(limits.memory_limit.has_value());
}

TEST(Cgroup, NoQuotaIsAbsent) {
  TreeFileSystem files = version_2("/a");
  for (const char* text : {"max 100000\n", "", "garbage", "0 100000", "-5 100000", "100000 0", "100000",
                           "1e9 100000", "99999999999999999999 100000"}) {
    files.set("/sys/fs/cgroup/a/cpu.max", text);
    EXPECT_FALSE(read_cgroup_limits(files).cpu_quota.has_value()) << text;
  }
}

TEST(Cgroup, MemoryLimitAndWhatIsLeft) {
  TreeFileSystem files = version_2("/a/b");
  files.set("/sys/fs/cgroup/a/memory.max", std::to_string(8 * kGiB));
  files.set("/sys/fs/cgroup/a/memory.current", std::to_string(7 * kGiB));
  files.set("/sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file " + std::to_string(2 * kGiB) + "\n");
  files.set("/sys/fs/cgroup/a/b/memory.max", "max");
  files.set("/sys/fs/cgroup/a/b/memory.high", std::to_string(6 * kGiB));
  files.set("/sys/fs/cgroup/a/b/memory.current", std::to_string(1 * kGiB));
  const CgroupLimits limits = read_cgroup_limits(files);
  EXPECT_EQ(limits.memory_limit.value().value, 6 * kGiB);
  EXPECT_EQ(limits.memory_limit_from, "/sys/fs/cgroup/a/b");
  EXPECT_EQ(limits.memory_left.value().value, 3 * kGiB);  // outside: 8 - (7 - 2); inside: 6 - 1

  files.set("/proc/meminfo", "MemTotal: 20 kB\nMemAvailable:  1048576 kB\n");
  EXPECT_EQ(available_memory(files).value().value, 1 * kGiB);
  files.set("/proc/meminfo", "MemAvailable:  16777216 kB\n");
  EXPECT_EQ(available_memory(files).value().value, 3 * kGiB);
  files.set("/sys/fs/cgroup/a/memory.current", std::to_string(20 * kGiB));
  EXPECT_EQ(available_memory(files).value().value, 0);  // over the limit: nothing, not less
}

TEST(Cgroup, AvailableMemoryWithoutFiles) {
  TreeFileSystem files;
  EXPECT_FALSE(available_memory(files).ok());
  files.set("/proc/meminfo", "MemFree: 10 kB\n");
  EXPECT_EQ(available_memory(files).value().value, 10240);
}

TEST(Cgroup, Version1WithControllersMountedTogether) {
  TreeFileSystem files;
  files.set("/proc/self/mountinfo",
            "26 25 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
            "31 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:13 - cgroup cgroup rw,cpu,cpuacct\n"
            "34 25 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  files.set("/proc/self/cgroup", "4:memory:/docker/x\n3:cpu,cpuacct:/docker/x\n0::/docker/x\n");
  files.set("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n");
  files.set("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  files.set("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  files.set("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  files.set("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "9223372036854771712\n");
  files.set("/sys/fs/cgroup/memory/docker/x/memory.stat", "hierarchical_memory_limit 1073741824\n");
  const CgroupLimits limits = read_cgroup_limits(files);
  EXPECT_EQ(limits.version, 1);
  EXPECT_DOUBLE_EQ(limits.cpu_quota.value(), 2.5);
  EXPECT_EQ(limits.memory_limit.value().value, kGiB);  // of a group above that is not mounted here
}

// Docker without a cgroup namespace: the path names the host's group, the mount shows it as its root.
TEST(Cgroup, MountedBelowItsRoot) {
  TreeFileSystem files;
  files.set("/proc/self/mountinfo", "31 25 0:29 /docker/0a1b /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  files.set("/proc/self/cgroup", "3:cpu:/docker/0a1b/inner\n");
  files.set("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000");
  files.set("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  files.set("/sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "50000");
  files.set("/sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000");
  EXPECT_THAT(find_cgroups(files).cpu.folders, ElementsAre("/sys/fs/cgroup/cpu/inner", "/sys/fs/cgroup/cpu"));
  EXPECT_DOUBLE_EQ(read_cgroup_limits(files).cpu_quota.value(), 0.5);

  files.set("/proc/self/cgroup", "3:cpu:/../elsewhere\n");
  EXPECT_THAT(find_cgroups(files).cpu.folders, ElementsAre("/sys/fs/cgroup/cpu"));
  files.set("/proc/self/cgroup", "3:cpu:/docker/0a1b2c\n");  // a longer name is another group
  EXPECT_THAT(find_cgroups(files).cpu.folders, ElementsAre("/sys/fs/cgroup/cpu"));
}

TEST(Cgroup, WithoutMountinfoTheUsualPlaces) {
  TreeFileSystem files;
  files.set("/sys/fs/cgroup/cgroup.controllers", "cpu");
  files.set("/sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_DOUBLE_EQ(read_cgroup_limits(files).cpu_quota.value(), 3);

  TreeFileSystem old;
  old.set("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000");
  old.set("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(read_cgroup_limits(old).cpu_quota.value(), 3);
  EXPECT_FALSE(read_cgroup_limits(TreeFileSystem()).version.has_value());
}

TEST(Cgroup, MountPointWithASpace) {
  TreeFileSystem files;
  files.set("/proc/self/mountinfo", "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  files.set("/proc/self/cgroup", "0::/a:b\n");
  files.set("/my groups/a:b/cpu.max", "100000 100000");
  EXPECT_DOUBLE_EQ(read_cgroup_limits(files).cpu_quota.value(), 1);
}

TEST(Cgroup, ThrottlingOfEveryGroup) {
  TreeFileSystem files = version_2("/a");
  files.set("/sys/fs/cgroup/a/cpu.stat",
            "usage_usec 5\nnr_periods 15\nnr_throttled 11\nthrottled_usec 3363873\n");
  files.set("/sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
  const auto counters = read_throttling(files, find_cgroups(files).cpu);
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters[0].periods, 15);
  EXPECT_EQ(counters[0].throttled, 11);
  EXPECT_EQ(counters[0].throttled_ns, 3'363'873'000);
}

}  // namespace
}  // namespace deepgap::hw
