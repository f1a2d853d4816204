#include "hw/machine.h"

#include <gtest/gtest.h>

#include "hw/tree_file_system.h"

namespace deepgap::hw {
namespace {

TEST(Machine, TakesEachColumnFromItsSource) {
  TreeFileSystem files;
  files.set("/etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  CpuInfo cpu;
  cpu.name = "AMD EPYC 7451 24-Core Processor";
  cpu.sockets = 2;
  cpu.cores_per_socket = 24;
  cpu.threads_per_core = 2;
  cpu.logical_cpus = 96;
  cpu.memory.total = Bytes{std::int64_t{515842} * 1024 * 1024 + 5};
  const MachineInfo machine = describe_machine(files, {"bench-3", "6.1.0-28-amd64", "x86_64"}, cpu);
  EXPECT_EQ(machine.hostname, "bench-3");
  EXPECT_EQ(machine.os, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(machine.kernel, "6.1.0-28-amd64");
  EXPECT_EQ(machine.arch, "x86_64");
  EXPECT_EQ(machine.cpu_model, "AMD EPYC 7451 24-Core Processor");
  EXPECT_EQ(machine.cpu_sockets, 2);
  EXPECT_EQ(machine.cpu_cores_per_socket, 24);
  EXPECT_EQ(machine.cpu_threads_per_core, 2);
  EXPECT_EQ(machine.cpu_logical_cpus, 96);
  EXPECT_EQ(machine.mem_total_mb, 515842);
}

TEST(Machine, SystemNameInItsSpellings) {
  const auto os = [](const char* path, const char* text) {
    TreeFileSystem files;
    files.set(path, text);
    return describe_machine(files, {}, {}).os;
  };
  EXPECT_EQ(os("/etc/os-release", "PRETTY_NAME='Alpine Linux v3.20'"), "Alpine Linux v3.20");
  EXPECT_EQ(os("/etc/os-release", "PRETTY_NAME=Arch\n"), "Arch");
  EXPECT_EQ(os("/etc/os-release", "PRETTY_NAME=\"a \\\"quoted\\\" name\"\n"), "a \"quoted\" name");
  EXPECT_EQ(os("/usr/lib/os-release", "PRETTY_NAME=\"Clear Linux OS\"\n"), "Clear Linux OS");
  EXPECT_EQ(os("/etc/os-release", "PRETTY_NAME=\n"), "Linux");
  EXPECT_EQ(os("/etc/other", ""), "Linux");
}

TEST(Machine, ThisOneHasAName) {
  const Uname uname = read_uname();
  EXPECT_FALSE(uname.release.empty());
  EXPECT_FALSE(uname.machine.empty());
}

}  // namespace
}  // namespace deepgap::hw
