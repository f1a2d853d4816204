// A child process with two pipes of its own besides its captured log: how workers are run.
//
//   DEEPGAP_ASSIGN(Subprocess worker, Subprocess::start({.command = {"deepgap-worker-fake"}, .log_path =
//   "fake.log"})); write(worker.write_descriptor(), ...); read(worker.read_descriptor(), ...);
//   worker.stop(grace).describe();       // "exit code 0", "killed by signal 11 (segmentation fault)"
//
// The child finds the pipes as file descriptors 3 (it reads) and 4 (it writes) and inherits no other of ours.
// Its stdin is /dev/null; stdout and stderr go to one log file. All its signals have their default action. It
// is in a process group of its own, so that Ctrl-C reaches only us; when it ends, what is left of the group
// gets SIGKILL. A process that leaves the group (setsid) escapes this and may keep the pipes open: read them
// with a timeout.
//
// The child gets SIGKILL when we die (PR_SET_PDEATHSIG), or when the *thread* that started it ends, for so
// Linux counts parents: start children from a thread that outlives them.
//
// Children may be started and waited for in several threads at once; one Subprocess belongs to one thread at
// a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace deepgap {

struct SubprocessOptions {
  std::vector<std::string> command;  // program and arguments; the program is a path or is found in PATH
  std::map<std::string, std::string> environment;  // added to ours
  std::string log_path;  // stdout and stderr of the child are appended; "" is /dev/null
};

// How a child ended: one of the two is set, or neither where that is not known (it hangs in the kernel and
// SIGKILL does not end it, or someone else in this program took its status).
struct ExitStatus {
  std::optional<int> code;
  std::optional<int> signal;
  // "exit code 3", "killed by signal 11 (segmentation fault)"
  std::string describe() const;
};

class Subprocess {
 public:
  // Returns once the program runs; a program that is not there or cannot be executed is an error (kMissing).
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
  // SIGTERM to the group, SIGKILL after `grace`; at once where it has ended.
  ExitStatus stop(Nanoseconds grace);

 private:
  struct State;
  Subprocess();
  std::unique_ptr<State> state_;
};

// SIGPIPE is ignored from now on, so that writing to a worker that died fails with EPIPE and does not kill
// us. The program's main calls it once, before it starts a child; the library itself leaves the process's
// signals alone.
void ignore_broken_pipes();

}  // namespace deepgap
