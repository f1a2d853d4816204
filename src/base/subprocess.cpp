#include "base/subprocess.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "base/spawn.h"

namespace deepgap {
namespace {

constexpr Nanoseconds kMillisecond{1'000'000};
// A process that SIGKILL does not end within this hangs in the kernel (a driver, a dead network disk).
constexpr Nanoseconds kPatienceAfterKill{10'000'000'000};

Nanoseconds monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Nanoseconds{std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
}

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

std::string_view signal_name(int number) {
  switch (number) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGABRT:
      return "aborted";
    case SIGKILL:
      return "killed; perhaps the machine ran out of memory";
    case SIGBUS:
      return "bus error";
    case SIGILL:
      return "illegal instruction";
    case SIGFPE:
      return "arithmetic error";
    case SIGTERM:
      return "terminated";
    case SIGINT:
      return "interrupted";
    case SIGPIPE:
      return "broken pipe";
    case SIGHUP:
      return "hung up";
    case SIGQUIT:
      return "quit";
    case SIGTRAP:
      return "trap";
    case SIGSYS:
      return "forbidden system call";
    case SIGXCPU:
      return "limit of processor time reached";
    case SIGXFSZ:
      return "limit of file size reached";
    case SIGALRM:
      return "alarm";
    case SIGUSR1:
      return "user signal 1";
    case SIGUSR2:
      return "user signal 2";
    default:
      return "";
  }
}

}  // namespace

std::string ExitStatus::describe() const {
  if (code) return fmt::format("exit code {}", *code);
  if (!signal) return "ended in a way that is not known";
  const std::string_view name = signal_name(*signal);
  return name.empty() ? fmt::format("killed by signal {}", *signal)
                      : fmt::format("killed by signal {} ({})", *signal, name);
}

struct Subprocess::State {
  pid_t pid = -1;
  int pidfd = -1;
  int write = -1;
  int read = -1;
  std::optional<ExitStatus> status;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    close_descriptor(write);
    close_descriptor(read);
    end();
    close_descriptor(pidfd);
  }

  void signal_group(int number) const {
    if (!status) kill(-pid, number);  // not reaped yet, so the number is still this child's
  }

  // Takes the status of an ended child; false while it runs.
  bool reap() {
    if (status) return true;
    siginfo_t info{};
    const int waited = waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
    if (waited == 0 && info.si_pid == 0) return false;
    if (waited != 0 && errno == EINTR) return false;
    ExitStatus ended;
    if (waited == 0) {
      // What it left behind goes with it, while its own remains keep the group's number from being used
      // again.
      kill(-pid, SIGKILL);
      int raw = 0;
      pid_t reaped = -1;
      do {
        reaped = waitpid(pid, &raw, 0);
      } while (reaped < 0 && errno == EINTR);
      if (reaped == pid && WIFEXITED(raw)) ended.code = WEXITSTATUS(raw);
      if (reaped == pid && WIFSIGNALED(raw)) ended.signal = WTERMSIG(raw);
    }
    status = ended;
    return true;
  }

  bool wait(Nanoseconds timeout) {
    const Nanoseconds start = monotonic_now();
    const Nanoseconds end = timeout > Nanoseconds::max() - start ? Nanoseconds::max() : start + timeout;
    Nanoseconds pause = kMillisecond;
    while (!reap()) {
      const Nanoseconds left = end - monotonic_now();
      if (left <= Nanoseconds::zero()) return false;
      pause_until_end(left, pause);
    }
    return true;
  }

  void end() {
    if (pid < 0 || reap()) return;
    signal_group(SIGKILL);
    wait(kPatienceAfterKill);
  }

 private:
  void pause_until_end(Nanoseconds left, Nanoseconds& pause) const {
    // Rounded up: poll() counts milliseconds, and less than one must not spin.
    const auto milliseconds = [](Nanoseconds time) {
      return static_cast<int>(std::min<std::int64_t>((time.count() + 999'999) / 1'000'000, 3'600'000));
    };
    if (pidfd >= 0) {
      pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
      ::poll(&ended, 1, milliseconds(left));
      return;
    }
    ::poll(nullptr, 0, milliseconds(std::min(left, pause)));  // before Linux 5.3
    pause = std::min(pause * 2, 20 * kMillisecond);
  }
};

Subprocess::Subprocess() : state_(std::make_unique<State>()) {}
Subprocess::Subprocess(Subprocess&&) noexcept = default;
Subprocess& Subprocess::operator=(Subprocess&&) noexcept = default;
Subprocess::~Subprocess() = default;

Result<Subprocess> Subprocess::start(const SubprocessOptions& options) {
  DEEPGAP_ASSIGN(const Spawned spawned, spawn(options));
  Subprocess child;
  State& state = *child.state_;
  state.pid = spawned.pid;
  state.write = spawned.write;
  state.read = spawned.read;
#ifdef SYS_pidfd_open
  state.pidfd = static_cast<int>(syscall(SYS_pidfd_open, state.pid, 0));
#endif
  return child;
}

int Subprocess::pid() const {
  return state_->pid;
}
int Subprocess::write_descriptor() const {
  return state_->write;
}
int Subprocess::read_descriptor() const {
  return state_->read;
}
void Subprocess::close_write() {
  close_descriptor(state_->write);
}

std::optional<ExitStatus> Subprocess::poll() {
  state_->reap();
  return state_->status;
}

std::optional<ExitStatus> Subprocess::wait(Nanoseconds timeout) {
  state_->wait(timeout);
  return state_->status;
}

ExitStatus Subprocess::stop(Nanoseconds grace) {
  if (!state_->reap()) {
    state_->signal_group(SIGTERM);
    if (!state_->wait(grace)) state_->end();
  }
  return state_->status.value_or(ExitStatus{});
}

void ignore_broken_pipes() {
  signal(SIGPIPE, SIG_IGN);
}

}  // namespace deepgap
