// The machine around the devices, as the columns of an export and the run context name it.
//
//   hostname "bench-3", os "Debian GNU/Linux 12 (bookworm)", kernel "6.1.0-28-amd64", arch "x86_64",
//   cpu_model "AMD EPYC 7451 24-Core Processor", 2 sockets of 24 cores of 2 threads, 96 CPUs, 515842 MB
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/file_system.h"
#include "hw/cpu.h"

namespace deepgap::hw {

// What uname(2) says.
struct Uname {
  std::string node;     // host name
  std::string release;  // kernel
  std::string machine;  // "x86_64", "aarch64"
};
Uname read_uname();

struct MachineInfo {
  std::string hostname;
  std::string os;  // PRETTY_NAME of /etc/os-release; "Linux" where there is none
  std::string kernel;
  std::string arch;
  std::string cpu_model;
  std::optional<int> cpu_sockets;
  std::optional<int> cpu_cores_per_socket;
  std::optional<int> cpu_threads_per_core;
  int cpu_logical_cpus = 1;
  std::optional<std::int64_t> mem_total_mb;  // in MiB, whole ones
};

MachineInfo describe_machine(const FileSystem& files, const Uname& uname, const CpuInfo& cpu);

}  // namespace deepgap::hw
