// A child process with two pipes of its own besides its captured log: how workers are run.
//
// The child finds the pipes as file descriptors 3 (it reads) and 4 (it writes). Its stdin is /dev/null; stdout and
// stderr go to one log file. It is in a process group of its own, so that Ctrl-C reaches only us, and it gets SIGKILL
// when we die (PR_SET_PDEATHSIG).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace deepgap {

struct SubprocessOptions {
  std::vector<std::string> command;             // program and arguments; the program is a path or is found in PATH
  std::map<std::string, std::string> environment;  // added to ours
  std::string log_path;                         // stdout and stderr of the child; "" is /dev/null
};

// How a child ended: exactly one of the two is set.
struct ExitStatus {
  std::optional<int> code;
  std::optional<int> signal;
  // "exit code 3", "killed by signal 11 (segmentation fault)"
  std::string describe() const;
};

class Subprocess {
 public:
  static Result<Subprocess> start(const SubprocessOptions& options);
  Subprocess(Subprocess&&) noexcept;
  Subprocess& operator=(Subprocess&&) noexcept;
  ~Subprocess();  // closes the pipes, kills what still runs, reaps it

  int pid() const;
  // Ends of the pipes on our side: -1 once closed.
  int write_descriptor() const;
  int read_descriptor() const;
  void close_write();

  // The status if it has ended; does not wait.
  std::optional<ExitStatus> poll();
  // Waits up to `timeout`; nothing if it still runs.
  std::optional<ExitStatus> wait(Nanoseconds timeout);
  // SIGTERM to the group, SIGKILL after `grace`.
  ExitStatus stop(Nanoseconds grace);

 private:
  struct State;
  Subprocess();
  State* state_ = nullptr;
};

}  // namespace deepgap
