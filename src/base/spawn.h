// How Subprocess starts its child: fork and exec with our pipes, and nothing else of ours, in the child.
#pragma once

#include <sys/types.h>

#include "base/result.h"
#include "base/subprocess.h"

namespace deepgap {

struct Spawned {
  pid_t pid = -1;
  int write = -1;  // our end of what the child reads; the caller closes both
  int read = -1;   // our end of what the child writes
};

// Returns once the program runs. No child is left where it fails.
Result<Spawned> spawn(const SubprocessOptions& options);

}  // namespace deepgap
