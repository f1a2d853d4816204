// Whether the kernel's out-of-memory killer has struck: the one way to tell its SIGKILL from anyone else's.
//
//   MemoryKills kills(files);
//   const auto before = kills.count();
//   ... a worker dies of SIGKILL that we did not send ...
//   kills.count() > before                // it was the kernel, for want of memory
//
// Counters: `oom_kill` of memory.events (control groups, version 2) or memory.oom_control (version 1) of the
// group that holds us, and of /proc/vmstat, which counts the kills of the whole machine. The kernel raises
// them before it sends the signal (mm/oom_kill.c, __oom_kill_process). They were added with Linux 4.13;
// memory.events is of 4.18.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"

namespace deepgap::run {

class MemoryKills {
 public:
  // Finds our control group. `files` outlives it.
  explicit MemoryKills(const FileSystem& files);
  // Kills so far, of all counters together; nothing where the kernel has none of them.
  std::optional<std::int64_t> count() const;

 private:
  const FileSystem* files_;
  std::vector<std::string> counters_;  // files with a line "oom_kill N"
};

}  // namespace deepgap::run
