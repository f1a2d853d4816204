#include "base/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/text.h"

extern char** environ;

namespace deepgap {
namespace {

constexpr int kChildReads = 3;
constexpr int kChildWrites = 4;

std::string reason(int error) {
  return std::generic_category().message(error);
}

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_descriptor(read);
    close_descriptor(write);
  }
  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = ends[0];
    write = ends[1];
    return true;
  }
};

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) merged.emplace_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

bool is_program(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The program's path: `name` itself if it has a slash, else the first one in the child's PATH.
Result<std::string> find_program(const std::string& name,
                                 const std::map<std::string, std::string>& environment) {
  if (name.find('/') != std::string::npos) return name;
  const auto own = environment.find("PATH");
  const char* ours = getenv("PATH");
  const std::string path = own != environment.end() ? own->second : ours != nullptr ? ours : "/usr/bin:/bin";
  for (const std::string& folder : split(path, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(candidate)) return candidate;
  }
  return missing(fmt::format("expected the program '{}' in PATH, found none: install it or give its path",
                             printable(name)));
}

// What the child needs between fork and exec, where nothing may be allocated.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  const char* log_path;
  int reads;
  int writes;
  int report;
  pid_t parent;
};

// What failed in the child before its program ran, as it comes through the pipe.
enum class ChildStep : int { kPrepare, kLog, kExecute };
struct ChildFailure {
  ChildStep step;
  int error;
};

[[noreturn]] void give_up(int report, ChildStep step) {
  const ChildFailure failure{step, errno};
  [[maybe_unused]] const ssize_t written = write(report, &failure, sizeof failure);
  _exit(127);
}

// Signals are blocked here until handlers of ours can no longer run in the child.
void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number)
    sigaction(number, &action, nullptr);  // fails for SIGKILL and SIGSTOP
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Everything above our pipes is closed by exec, also what a library of ours opened without CLOEXEC.
void close_others_on_exec() {
  constexpr unsigned kFirst = kChildWrites + 1;
  constexpr unsigned kCloseRangeCloexec = 1U << 2;
#ifdef SYS_close_range
  if (syscall(SYS_close_range, kFirst, ~0U, kCloseRangeCloexec) == 0) return;
#endif
  const long open_max = sysconf(_SC_OPEN_MAX);  // before Linux 5.11
  const int end = open_max < 0 || open_max > 65536 ? 65536 : static_cast<int>(open_max);
  for (int descriptor = kFirst; descriptor < end; ++descriptor) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  // Out of the way of the numbers that the child is to have.
  const int report = fcntl(plan.report, F_DUPFD_CLOEXEC, 16);
  if (report < 0) give_up(plan.report, ChildStep::kPrepare);
  const int reads = fcntl(plan.reads, F_DUPFD_CLOEXEC, 16);
  const int writes = fcntl(plan.writes, F_DUPFD_CLOEXEC, 16);
  if (reads < 0 || writes < 0) give_up(report, ChildStep::kPrepare);

  if (setpgid(0, 0) != 0) give_up(report, ChildStep::kPrepare);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(report, ChildStep::kPrepare);
  if (getppid() != plan.parent) _exit(127);  // we died before the line above

  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  const int input = null < 0 ? -1 : fcntl(null, F_DUPFD_CLOEXEC, 16);
  if (input < 0) give_up(report, ChildStep::kPrepare);
  int output = input;
  if (plan.log_path[0] != '\0') {
    const int log = open(plan.log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    output = log < 0 ? -1 : fcntl(log, F_DUPFD_CLOEXEC, 16);
    if (output < 0) give_up(report, ChildStep::kLog);
  }
  const bool placed = dup2(input, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2 &&
                      dup2(reads, kChildReads) == kChildReads && dup2(writes, kChildWrites) == kChildWrites;
  if (!placed) give_up(report, ChildStep::kPrepare);
  close_others_on_exec();
  reset_signals();
  execve(plan.program, plan.arguments, plan.environment);
  give_up(report, ChildStep::kExecute);
}

Error start_error(const std::string& program, const SubprocessOptions& options, ChildFailure failure) {
  const std::string name = printable(program);
  switch (failure.step) {
    case ChildStep::kPrepare:
      return internal_error(
          fmt::format("cannot prepare the process of '{}': {}", name, reason(failure.error)));
    case ChildStep::kLog:
      return bad_input(fmt::format("cannot write the log '{}' of '{}': {}", printable(options.log_path), name,
                                   reason(failure.error)));
    case ChildStep::kExecute:
      break;
  }
  switch (failure.error) {
    case ENOENT:
      return missing(
          access(program.c_str(), F_OK) == 0
              ? fmt::format(
                    "cannot run '{}': the interpreter that its first line or header names is not there", name)
              : fmt::format("expected a program at '{}', found none: check the path", name));
    case EACCES:
      return missing(fmt::format("cannot run '{}': it is not an executable file", name));
    case ENOEXEC:
      return missing(fmt::format(
          "cannot run '{}': it is no program of this machine's kind, nor a script that names its interpreter",
          name));
    default:
      return missing(fmt::format("cannot run '{}': {}", name, reason(failure.error)));
  }
}

// Nothing once the program runs: exec then closed the pipe.
std::optional<ChildFailure> read_failure(int descriptor) {
  ChildFailure failure{};
  for (;;) {
    const ssize_t count = ::read(descriptor, &failure, sizeof failure);
    if (count < 0 && errno == EINTR) continue;
    if (count == static_cast<ssize_t>(sizeof failure)) return failure;
    return std::nullopt;
  }
}

// An ignored SIGCHLD, as some launchers leave it behind, would make the kernel drop our children's statuses.
void keep_child_statuses() {
  struct sigaction action {};
  if (sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
}

pid_t fork_with_signals_blocked(const ChildPlan& plan) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0) run_child(plan);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

}  // namespace

Result<Spawned> spawn(const SubprocessOptions& options) {
  if (options.command.empty()) return internal_error("expected the command of a process, found an empty one");
  DEEPGAP_ASSIGN(const std::string program, find_program(options.command.front(), options.environment));
  std::vector<std::string> command = options.command;
  std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> variables = pointers(environment);
  Pipe to_child;
  Pipe from_child;
  Pipe report;
  if (!to_child.open() || !from_child.open() || !report.open()) {
    return internal_error(
        fmt::format("cannot open the pipes of '{}': {}", printable(program), reason(errno)));
  }
  keep_child_statuses();
  const ChildPlan plan{.program = program.c_str(),
                       .arguments = arguments.data(),
                       .environment = variables.data(),
                       .log_path = options.log_path.c_str(),
                       .reads = to_child.read,
                       .writes = from_child.write,
                       .report = report.write,
                       .parent = getpid()};
  Spawned child;
  child.pid = fork_with_signals_blocked(plan);
  if (child.pid < 0) {
    return internal_error(
        fmt::format("cannot make a process for '{}': {}", printable(program), reason(errno)));
  }
  close_descriptor(report.write);
  if (const std::optional<ChildFailure> failure = read_failure(report.read)) {
    while (waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return start_error(program, options, *failure);
  }
  child.write = std::exchange(to_child.write, -1);
  child.read = std::exchange(from_child.read, -1);
  return child;
}

}  // namespace deepgap
