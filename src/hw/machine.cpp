#include "hw/machine.h"

#include <sys/utsname.h>

#include "base/text.h"
#include "hw/kernel_text.h"

namespace deepgap::hw {
namespace {

// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)", as a shell would read it; simple quotes and escapes only.
std::optional<std::string> pretty_name(std::string_view os_release) {
  for (std::string_view line : lines_of(os_release)) {
    line = trim(line);
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (!line.starts_with(kKey)) continue;
    std::string_view value = trim(line.substr(kKey.size()));
    const bool quoted =
        value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
    if (quoted) value = value.substr(1, value.size() - 2);
    std::string plain;
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (value[at] == '\\' && at + 1 < value.size()) ++at;
      plain += value[at];
    }
    if (!plain.empty()) return printable(plain, 120);
  }
  return std::nullopt;
}

}  // namespace

Uname read_uname() {
  utsname name{};
  if (uname(&name) != 0) return {};
  return {printable(name.nodename), printable(name.release), printable(name.machine)};
}

MachineInfo describe_machine(const FileSystem& files, const Uname& uname, const CpuInfo& cpu) {
  MachineInfo machine;
  machine.hostname = uname.node;
  machine.kernel = uname.release;
  machine.arch = uname.machine.empty() ? cpu.architecture : uname.machine;
  std::optional<std::string> os;
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = files.read_trimmed(path);
    if (text && !os) os = pretty_name(*text);
  }
  machine.os = os.value_or("Linux");
  machine.cpu_model = cpu.name;
  machine.cpu_sockets = cpu.sockets;
  machine.cpu_cores_per_socket = cpu.cores_per_socket;
  machine.cpu_threads_per_core = cpu.threads_per_core;
  machine.cpu_logical_cpus = cpu.logical_cpus;
  if (cpu.memory.total) machine.mem_total_mb = cpu.memory.total->value / (std::int64_t{1024} * 1024);
  return machine;
}

}  // namespace deepgap::hw
