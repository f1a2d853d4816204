#include "base/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/hash.h"
#include "base/temporary_folder.h"
#include "base/text.h"

namespace deepgap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Nanoseconds kMillisecond{1'000'000};
// Long enough for a machine that is busy: tests that pass never wait for it.
constexpr Nanoseconds kLong = 60'000 * kMillisecond;

Subprocess start(SubprocessOptions options) {
  Result<Subprocess> started = Subprocess::start(options);
  if (!started.ok()) throw std::runtime_error(started.error().message());  // the test fails with it
  return std::move(started).value();
}

Subprocess shell(const std::string& script, const std::string& log_path = "") {
  return start({.command = {"/bin/sh", "-c", script}, .environment = {}, .log_path = log_path});
}

void send(const Subprocess& child, std::string_view text) {
  EXPECT_EQ(write(child.write_descriptor(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

// What the child writes until it closes its end.
std::string receive(const Subprocess& child) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd readable{.fd = child.read_descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, 60'000) <= 0) return text + " (no end of it came)";
    const ssize_t count = read(child.read_descriptor(), buffer.data(), buffer.size());
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string end_of(Subprocess& child) {
  const std::optional<ExitStatus> status = child.wait(kLong);
  return status ? status->describe() : "still runs";
}

bool is_alive(int pid) {
  // A zombie that nobody reaps (in a container without an init) is not alive.
  const auto status = RootedFileSystem().read("/proc/" + std::to_string(pid) + "/stat");
  return status.ok() && status->find(") Z ") == std::string::npos;
}

bool ends_soon(int pid) {
  SystemClock clock;
  for (int i = 0; i < 3000 && is_alive(pid); ++i) clock.sleep(10 * kMillisecond);
  return !is_alive(pid);
}

TEST(ExitStatus, NamesSignals) {
  EXPECT_EQ((ExitStatus{.code = 3, .signal = {}}.describe()), "exit code 3");
  EXPECT_EQ((ExitStatus{.code = {}, .signal = SIGSEGV}.describe()),
            "killed by signal 11 (segmentation fault)");
  EXPECT_EQ((ExitStatus{.code = {}, .signal = SIGRTMIN}.describe()),
            "killed by signal " + std::to_string(SIGRTMIN));
  EXPECT_EQ(ExitStatus{}.describe(), "ended in a way that is not known");
}

TEST(Subprocess, ReadsItsDescriptor3AndWrites4) {
  Subprocess child = shell("read line <&3; echo \"got $line\" >&4; cat <&3 >&4");
  send(child, "one\ntwo\nthree\n");
  child.close_write();
  EXPECT_EQ(child.write_descriptor(), -1);
  EXPECT_EQ(receive(child), "got one\ntwo\nthree\n");
  EXPECT_EQ(end_of(child), "exit code 0");
  EXPECT_TRUE(child.poll().has_value());
  EXPECT_EQ(child.stop(kLong).describe(), "exit code 0");
}

TEST(Subprocess, TellsHowItEnded) {
  Subprocess coded = shell("exit 3");
  EXPECT_EQ(end_of(coded), "exit code 3");
  Subprocess crashed = shell("kill -SEGV $$");
  EXPECT_EQ(end_of(crashed), "killed by signal 11 (segmentation fault)");
  Subprocess aborted = shell("kill -ABRT $$");
  EXPECT_EQ(end_of(aborted), "killed by signal 6 (aborted)");
}

TEST(Subprocess, StillRunsUntilItEnds) {
  Subprocess child = shell("read line <&3");
  EXPECT_FALSE(child.poll().has_value());
  EXPECT_FALSE(child.wait(kMillisecond).has_value());
  EXPECT_FALSE(child.wait(Nanoseconds{-1}).has_value());
  child.close_write();
  EXPECT_EQ(end_of(child), "exit code 1");  // read met the end of the pipe
}

TEST(Subprocess, ItsOutputGoesToTheLog) {
  TemporaryFolder folder;
  Subprocess first =
      shell("echo out; echo error >&2; cat", folder / "log");  // cat meets the end of stdin at once
  EXPECT_EQ(end_of(first), "exit code 0");
  Subprocess second = shell("echo again", folder / "log");
  EXPECT_EQ(end_of(second), "exit code 0");
  EXPECT_EQ(*RootedFileSystem().read(folder / "log"), "out\nerror\nagain\n");
}

// More than a pipe holds, on both: nothing waits for us to read the log.
TEST(Subprocess, MuchOutputDoesNotBlockIt) {
  TemporaryFolder folder;
  Subprocess child =
      shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2; head -c 200000 /dev/zero >&4",
            folder / "log");
  EXPECT_EQ(receive(child).size(), 200'000U);
  EXPECT_EQ(end_of(child), "exit code 0");
  EXPECT_EQ(RootedFileSystem().read(folder / "log")->size(), 6'000'000U);
}

TEST(Subprocess, PassesGarbageOnAsItIs) {
  Subprocess child = shell("printf '\\000\\377{\\n\\033[2J' >&4");
  EXPECT_EQ(receive(child), std::string("\0\xff{\n\x1b[2J", 8));
}

TEST(Subprocess, StopsOneThatListens) {
  Subprocess child = shell("trap 'exit 7' TERM; echo ready >&4; while :; do sleep 0.01; done");
  std::array<char, 6> ready{};
  ASSERT_EQ(read(child.read_descriptor(), ready.data(), ready.size()), 6);
  EXPECT_EQ(child.stop(kLong).describe(), "exit code 7");
}

TEST(Subprocess, KillsOneThatDoesNotListen) {
  Subprocess child = shell("trap '' TERM; echo ready >&4; while :; do sleep 1; done");
  std::array<char, 6> ready{};
  ASSERT_EQ(read(child.read_descriptor(), ready.data(), ready.size()), 6);
  EXPECT_EQ(child.stop(50 * kMillisecond).signal, SIGKILL);
  EXPECT_EQ(child.stop(kLong).signal, SIGKILL);  // once more: the same
}

TEST(Subprocess, KillsOneThatIsStopped) {
  Subprocess child = shell("kill -STOP $$");
  SystemClock clock;
  const std::string stat = "/proc/" + std::to_string(child.pid()) + "/stat";
  for (int i = 0; i < 3000; ++i) {
    if (RootedFileSystem().read(stat)->find(") T ") != std::string::npos) break;
    clock.sleep(10 * kMillisecond);
  }
  EXPECT_EQ(child.stop(50 * kMillisecond).signal, SIGKILL);
}

TEST(Subprocess, DestroyedItIsGone) {
  int pid = 0;
  {
    Subprocess child = shell("sleep 1000");
    pid = child.pid();
    EXPECT_TRUE(is_alive(pid));
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);  // reaped, too
}

TEST(Subprocess, MovesWithItsChild) {
  Subprocess child = shell("cat <&3 >&4");
  Subprocess moved = std::move(child);
  child = shell("exit 5");
  EXPECT_EQ(end_of(child), "exit code 5");
  const int pid = child.pid();
  EXPECT_NE(pid, moved.pid());
  send(moved, "text");
  moved.close_write();
  EXPECT_EQ(receive(moved), "text");
  moved = std::move(child);
  EXPECT_EQ(moved.pid(), pid);
}

// A grandchild keeps the pipe and the log open and does not heed SIGTERM: it goes when the child does.
TEST(Subprocess, WhatItLeftBehindGoesWithIt) {
  Subprocess child = shell("(trap '' TERM; sleep 1000) & echo $! >&4; exit 0");
  EXPECT_EQ(end_of(child), "exit code 0");
  const std::string grandchild = receive(child);  // ends only because no one holds the pipe any more
  ASSERT_FALSE(grandchild.empty());
  EXPECT_TRUE(ends_soon(std::stoi(grandchild)));
}

TEST(Subprocess, StopAsksTheWholeGroup) {
  Subprocess child = shell(
      "trap 'wait; exit 7' TERM\n"
      "(trap 'echo heard >&4; exit' TERM; echo ready >&4; while :; do sleep 0.01; done) &\n"
      "wait");
  std::array<char, 6> ready{};
  ASSERT_EQ(read(child.read_descriptor(), ready.data(), ready.size()), 6);
  EXPECT_EQ(child.stop(kLong).describe(), "exit code 7");
  EXPECT_EQ(receive(child), "heard\n");
}

// One in a session of its own escapes: waiting for the child does not wait for it.
TEST(Subprocess, DoesNotWaitForOneThatEscaped) {
  Subprocess child = shell("setsid sleep 1000 & echo $! >&4");
  EXPECT_EQ(end_of(child), "exit code 0");
  std::array<char, 32> text{};
  ASSERT_GT(read(child.read_descriptor(), text.data(), text.size() - 1), 0);
  kill(std::stoi(text.data()), SIGKILL);
}

TEST(Subprocess, GetsNoOtherDescriptorOfOurs) {
  TemporaryFolder folder;
  std::vector<int> ours;  // without CLOEXEC, below and above those of the pipes
  for (int i = 0; i < 40; ++i) ours.push_back(open("/dev/null", O_RDONLY));
  ours.push_back(fcntl(ours.front(), F_DUPFD, 700));
  Subprocess other = shell("read line <&3");
  Subprocess child =
      start({.command = {"/bin/ls", "-1", "/proc/self/fd"}, .environment = {}, .log_path = folder / "log"});
  EXPECT_EQ(end_of(child), "exit code 0");
  for (const int descriptor : ours) close(descriptor);
  // 5 is the one with which ls reads the folder.
  EXPECT_EQ(*RootedFileSystem().read(folder / "log"), "0\n1\n2\n3\n4\n5\n");
}

// A program may be started with its standard descriptors closed: the pipes then get their numbers.
TEST(Subprocess, StartsWhereOurLowDescriptorsAreFree) {
  TemporaryFolder folder;
  const pid_t pid = fork();
  if (pid == 0) {
    for (int descriptor = 0; descriptor < 20; ++descriptor) close(descriptor);
    Result<Subprocess> child = Subprocess::start({.command = {"/bin/sh", "-c", "echo log; cat <&3 >&4"},
                                                  .environment = {},
                                                  .log_path = folder / "log"});
    if (!child.ok()) _exit(1);
    if (write(child->write_descriptor(), "text", 4) != 4) _exit(2);
    child->close_write();
    if (receive(*child) != "text") _exit(3);
    _exit(child->wait(kLong)->code == 0 ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(*RootedFileSystem().read(folder / "log"), "log\n");
}

std::size_t open_descriptors() {
  return RootedFileSystem().list("/proc/self/fd").size();
}

TEST(Subprocess, LeavesNoDescriptorOpen) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    Subprocess child = shell("exit 0");
    EXPECT_EQ(end_of(child), "exit code 0");
    EXPECT_FALSE(
        Subprocess::start({.command = {"/no/such/program"}, .environment = {}, .log_path = ""}).ok());
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Subprocess, AddsToTheEnvironment) {
  ASSERT_EQ(setenv("DEEPGAP_TEST_KEPT", "kept", 1), 0);
  ASSERT_EQ(setenv("DEEPGAP_TEST_CHANGED", "old", 1), 0);
  Subprocess child = start({.command = {"/bin/sh", "-c", "env | grep DEEPGAP_TEST | sort >&4"},
                            .environment = {{"DEEPGAP_TEST_CHANGED", "new"}, {"DEEPGAP_TEST_ADDED", "a=b c"}},
                            .log_path = ""});
  EXPECT_EQ(receive(child), "DEEPGAP_TEST_ADDED=a=b c\nDEEPGAP_TEST_CHANGED=new\nDEEPGAP_TEST_KEPT=kept\n");
}

TEST(Subprocess, IsFoundInThePathOfTheChild) {
  TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "worker", "#!/bin/sh\nexit 9\n").ok());
  ASSERT_EQ(chmod((folder / "worker").c_str(), 0755), 0);
  Subprocess child =
      start({.command = {"worker"}, .environment = {{"PATH", "/none:" + folder.path()}}, .log_path = ""});
  EXPECT_EQ(end_of(child), "exit code 9");
  Subprocess found = start({.command = {"true"}, .environment = {}, .log_path = ""});
  EXPECT_EQ(end_of(found), "exit code 0");
}

class Refused : public testing::Test {
 protected:
  Error refused(const std::string& program, const std::string& log_path = "") {
    Result<Subprocess> started =
        Subprocess::start({.command = {program}, .environment = {}, .log_path = log_path});
    EXPECT_FALSE(started.ok());
    return started.ok() ? internal_error("it started") : std::move(started).error();
  }
  void write(const std::string& name, std::string_view content, mode_t mode) {
    ASSERT_TRUE(write_file_atomically(folder_ / name, content).ok());
    ASSERT_EQ(chmod((folder_ / name).c_str(), mode), 0);
  }
  TemporaryFolder folder_;
};

TEST_F(Refused, SaysWhatCannotBeRun) {
  EXPECT_EQ(refused("/no/such/program").message(),
            "expected a program at '/no/such/program', found none: check the path");
  EXPECT_EQ(refused("/no/such/program").kind(), ErrorKind::kMissing);
  EXPECT_EQ(
      refused("deepgap-no-such-program").message(),
      "expected the program 'deepgap-no-such-program' in PATH, found none: install it or give its path");
  write("text", "no program", 0644);
  EXPECT_THAT(refused(folder_ / "text").message(), HasSubstr("it is not an executable file"));
  EXPECT_THAT(refused(folder_.path()).message(), HasSubstr("it is not an executable file"));
  write("garbage",
        std::string("\x7f"
                    "ELF\xff\0\0",
                    7),
        0755);
  EXPECT_THAT(refused(folder_ / "garbage").message(), HasSubstr("no program of this machine's kind"));
  write("script", "#!/no/such/interpreter\n", 0755);
  EXPECT_THAT(refused(folder_ / "script").message(), HasSubstr("interpreter"));
  EXPECT_THAT(refused("/bin/true", "/no/such/folder/log").message(),
              HasSubstr("cannot write the log '/no/such/folder/log'"));
  EXPECT_EQ(refused("/bin/true", "/no/such/folder/log").kind(), ErrorKind::kBadInput);
  EXPECT_EQ(refused("").kind(), ErrorKind::kMissing);
  EXPECT_FALSE(Subprocess::start({}).ok());
}

TEST_F(Refused, LeavesNoChildBehind) {
  (void)refused("/no/such/program");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Subprocess, HasSignalsAsByDefault) {
  TemporaryFolder folder;
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  ignore_broken_pipes();
  Subprocess child = start({.command = {"/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"},
                            .environment = {},
                            .log_path = folder / "log"});
  EXPECT_EQ(end_of(child), "exit code 0");
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  EXPECT_EQ(sigismember(&now, SIGTERM), 1);  // ours are as they were
  EXPECT_EQ(sigismember(&now, SIGINT), 0);
  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  signal(SIGPIPE, SIG_DFL);
  // Below make, signals 32 and 33 are ignored: glibc keeps them for itself, posix_spawn hands them on
  // ignored.
  EXPECT_THAT(*RootedFileSystem().read(folder / "log"),
              testing::AnyOf("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n",
                             "SigBlk:\t0000000000000000\nSigIgn:\t0000000180000000\n"));
}

TEST(Subprocess, WritingToADeadOneFailsAndDoesNotKillUs) {
  ignore_broken_pipes();
  Subprocess child = shell("exit 0");
  EXPECT_EQ(end_of(child), "exit code 0");
  EXPECT_EQ(write(child.write_descriptor(), "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  signal(SIGPIPE, SIG_DFL);
}

TEST(Subprocess, HasItsStatusEvenWhereSigchldWasIgnored) {
  signal(SIGCHLD, SIG_IGN);
  Subprocess child = shell("exit 4");
  EXPECT_EQ(end_of(child), "exit code 4");
  signal(SIGCHLD, SIG_DFL);
}

TEST(Subprocess, SaysThatAnotherTookItsStatus) {
  Subprocess child = shell("exit 4");
  ASSERT_EQ(waitpid(child.pid(), nullptr, 0), child.pid());
  EXPECT_EQ(end_of(child), "ended in a way that is not known");
}

TEST(Subprocess, IsInAGroupOfItsOwn) {
  Subprocess child = shell("read line <&3");
  EXPECT_EQ(getpgid(child.pid()), child.pid());
}

TEST(Subprocess, DiesWhenWeDo) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    Result<Subprocess> child =
        Subprocess::start({.command = {"/bin/sleep", "1000"}, .environment = {}, .log_path = ""});
    const int pid = child.ok() ? child->pid() : -1;
    if (write(ends[1], &pid, sizeof pid) != sizeof pid) _exit(1);
    raise(SIGKILL);
  }
  int pid = -1;
  ASSERT_EQ(read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(ends_soon(pid));
  close(ends[0]);
  close(ends[1]);
}

// The calls that old kernels and some containers lack fail from now on, in this process and its children.
bool forbid_new_system_calls() {
  const auto call = [](long number, unsigned char skip) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), skip, 0);
  };
  std::array filter{sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                    call(SYS_pidfd_open, 3),
                    call(SYS_close_range, 2),
                    call(SYS_getrandom, 1),
                    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Subprocess, DoesWithoutTheCallsOfNewKernels) {
  constexpr int kCannotForbid = 77;
  TemporaryFolder folder;
  const pid_t pid = fork();
  if (pid == 0) {
    if (!forbid_new_system_calls()) _exit(kCannotForbid);
    if (syscall(SYS_pidfd_open, getpid(), 0) >= 0) _exit(1);
    const int ours = open("/dev/null", O_RDONLY);
    if (fcntl(ours, F_DUPFD, 200) < 0) _exit(2);
    Result<Subprocess> child = Subprocess::start({.command = {"/bin/sh", "-c", "sleep 0.1; ls /proc/self/fd"},
                                                  .environment = {},
                                                  .log_path = folder / "log"});
    if (!child.ok()) _exit(3);
    if (child->wait(kMillisecond)) _exit(4);
    const std::optional<ExitStatus> status = child->wait(kLong);
    if (!status || status->code != 0) _exit(5);
    _exit(new_random_hex(16) == new_random_hex(16) ? 6 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  if (WEXITSTATUS(status) == kCannotForbid) GTEST_SKIP() << "system calls cannot be forbidden here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(*RootedFileSystem().read(folder / "log"), "0\n1\n2\n3\n4\n5\n");
}

// Processor time, not wall time: waiting in a loop would use all of it.
TEST(Subprocess, WaitsWithoutSpinning) {
  Subprocess child = shell("read line <&3");
  timespec before{};
  timespec after{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
  EXPECT_FALSE(child.wait(300 * kMillisecond).has_value());
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
  const std::int64_t used = (after.tv_sec - before.tv_sec) * 1'000'000'000 + after.tv_nsec - before.tv_nsec;
  EXPECT_LT(used, 30'000'000);
}

// Each thread takes the statuses of its own children, and of no other.
TEST(Subprocess, ManyInTwoThreads) {
  std::atomic<int> right = 0;
  const auto run_some = [&right](int offset) {
    for (int i = 0; i < 100; ++i) {
      const int code = (offset + i) % 250;
      Subprocess child = shell("cat <&3 >&4; exit " + std::to_string(code));
      send(child, std::to_string(code));
      child.close_write();
      const bool answered = receive(child) == std::to_string(code);
      const std::optional<ExitStatus> status = child.wait(kLong);
      if (answered && status && status->code == code) ++right;
    }
  };
  std::thread first(run_some, 0);
  std::thread second(run_some, 125);
  first.join();
  second.join();
  EXPECT_EQ(right, 200);
}

}  // namespace
}  // namespace deepgap
