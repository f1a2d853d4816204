#include "base/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/temporary_folder.h"

namespace deepgap {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const RootedFileSystem kMachine;

void write(const std::string& path, std::string_view content) {
  const Result<void> written = write_file_atomically(path, content);
  ASSERT_TRUE(written.ok()) << written.error().message();
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

// Runs `body` in a child, whose limits and mounts end with it; its answer, or -1.
template <typename Body>
int in_child(Body body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Read, ReadsAFileWhole) {
  TemporaryFolder folder;
  for (const std::size_t size : {0UL, 1UL, 65'535UL, 65'536UL, 65'537UL, 30'000'000UL}) {
    std::string content(size, 'x');
    if (size > 0) content.back() = '\0';
    write(folder / "file", content);
    const Result<std::string> read = kMachine.read(folder / "file");
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(*read == content) << size;
  }
}

// Their size is reported as 0, and some are longer than one read gives.
TEST(Read, ReadsFilesOfProc) {
  const Result<std::string> status = kMachine.read("/proc/self/status");
  ASSERT_TRUE(status.ok());
  EXPECT_THAT(*status, HasSubstr("\nPid:\t" + std::to_string(getpid()) + "\n"));
  const Result<std::string> symbols = kMachine.read("/proc/kallsyms");
  if (symbols.ok() && !symbols->empty()) {
    EXPECT_EQ(symbols->back(), '\n');
  }
}

TEST(Read, SaysWhyItCannot) {
  TemporaryFolder folder;
  EXPECT_EQ(kMachine.read(folder.path()).error().message(),
            "cannot read '" + folder.path() + "': expected a file, found a folder");
  EXPECT_EQ(kMachine.read(folder / "none").error().message(),
            "cannot read '" + (folder / "none") + "': No such file or directory");
  EXPECT_EQ(kMachine.read(folder / "none").error().kind(), ErrorKind::kBadInput);
  EXPECT_THAT(kMachine.read("/a\x1b[2J").error().message(), HasSubstr("'/a\\x1b[2J'"));
  EXPECT_FALSE(kMachine.read("").ok());
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // they end the program where memory does not suffice
#else
constexpr bool kSanitized = false;
#endif

// A sparse file that no memory holds.
TEST(Read, SaysSoWhereTheMemoryDoesNotSuffice) {
  if (kSanitized) GTEST_SKIP() << "sanitizers do not let an allocation fail";
  TemporaryFolder folder;
  write(folder / "huge", "");
  if (truncate((folder / "huge").c_str(), off_t{1} << 43) != 0) GTEST_SKIP() << "no files of 8 TiB here";
  const int answer = in_child([&] {
    const rlimit limit{.rlim_cur = rlim_t{1} << 32, .rlim_max = rlim_t{1} << 32};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
    const Result<std::string> read = kMachine.read(folder / "huge");
    return !read.ok() && read.error().message().find("memory") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(answer, 0);
}

TEST(ReadTrimmed, IsNothingWhereThereIsNoFile) {
  TemporaryFolder folder;
  write(folder / "governor", " performance\n");
  EXPECT_EQ(kMachine.read_trimmed(folder / "governor"), "performance");
  EXPECT_EQ(kMachine.read_trimmed(folder / "none"), std::nullopt);
}

TEST(List, IsSorted) {
  TemporaryFolder folder;
  for (const char* name : {"cpu10", "cpu1", ".hidden", "cpu0"}) write(folder / name, "");
  EXPECT_THAT(kMachine.list(folder.path()), ElementsAre(".hidden", "cpu0", "cpu1", "cpu10"));
  EXPECT_THAT(kMachine.list(folder / "none"), IsEmpty());
  EXPECT_THAT(kMachine.list(folder / "cpu0"), IsEmpty());
}

class Rooted : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_folders(folder_ / "root/sys/devices/card").ok());
    ASSERT_TRUE(make_folders(folder_ / "root/sys/class").ok());
    write(folder_ / "secret", "outside");
    write(folder_ / "root/secret", "inside");
    write(folder_ / "root/sys/devices/card/name", "card");
    link("/sys/devices/card", "root/sys/class/absolute");
    link("../devices/card", "root/sys/class/relative");
    link("../../../../../../secret", "root/sys/class/up");
    link(folder_ / "secret", "root/sys/class/out");
    link("loop", "root/sys/class/loop");
  }
  void link(const std::string& target, const std::string& name) {
    std::filesystem::create_symlink(target, folder_ / name);
  }

  TemporaryFolder folder_;
  RootedFileSystem files_{folder_ / "root"};
};

TEST_F(Rooted, ReadsBelowItsRoot) {
  EXPECT_EQ(*files_.read("/sys/devices/card/name"), "card");
  EXPECT_EQ(*files_.read("sys//devices/./card/name"), "card");
  EXPECT_THAT(files_.list("/sys"), ElementsAre("class", "devices"));
  EXPECT_THAT(files_.list("/"), ElementsAre("secret", "sys"));
  EXPECT_TRUE(files_.exists("/sys/class"));
  EXPECT_FALSE(files_.exists("/proc"));
  EXPECT_EQ(*RootedFileSystem(folder_ / "root/").read("/secret"), "inside");
}

TEST_F(Rooted, DoesNotLeaveItsRoot) {
  EXPECT_EQ(*files_.read("/../secret"), "inside");
  EXPECT_EQ(*files_.read("/sys/../../../secret"), "inside");
  EXPECT_EQ(*files_.read("/sys/class/up"), "inside");
  EXPECT_FALSE(files_.read("/sys/class/out").ok());
  EXPECT_FALSE(files_.exists("/sys/class/out"));
}

TEST_F(Rooted, FollowsLinksOfTheTree) {
  EXPECT_EQ(*files_.read("/sys/class/absolute/name"), "card");
  EXPECT_EQ(*files_.read("/sys/class/relative/name"), "card");
  EXPECT_EQ(*files_.read("/sys/class/relative/../card/name"), "card");  // ".." of where the link leads
  EXPECT_THAT(files_.list("/sys/class/absolute"), ElementsAre("name"));
  EXPECT_FALSE(files_.read("/sys/class/loop").ok());
  EXPECT_FALSE(files_.exists("/sys/class/loop"));
}

TEST(WriteAtomically, ReplacesAndKeepsTheMode) {
  TemporaryFolder folder;
  write(folder / "file", "one");
  ASSERT_EQ(chmod((folder / "file").c_str(), 0640), 0);
  write(folder / "file", "two");
  EXPECT_EQ(*kMachine.read(folder / "file"), "two");
  EXPECT_EQ(mode_of(folder / "file"), 0640U);
  EXPECT_THAT(kMachine.list(folder.path()), ElementsAre("file"));
}

TEST(WriteAtomically, HeedsTheUmask) {
  TemporaryFolder folder;
  const mode_t before = umask(027);
  write(folder / "file", "text");
  umask(before);
  EXPECT_EQ(mode_of(folder / "file"), 0640U);
}

// A reader that opened the old file still sees all of it: the new one is another file.
TEST(WriteAtomically, LeavesTheOldFileToItsReaders) {
  TemporaryFolder folder;
  write(folder / "file", "old");
  std::filesystem::create_hard_link(folder / "file", folder / "kept");
  write(folder / "file", "new");
  EXPECT_EQ(*kMachine.read(folder / "kept"), "old");
}

TEST(WriteAtomically, GoesThroughLinks) {
  TemporaryFolder folder;
  ASSERT_TRUE(make_folders(folder / "a").ok());
  write(folder / "a/file", "old");
  std::filesystem::create_symlink("a/file", folder / "link");
  write(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(*kMachine.read(folder / "a/file"), "new");
}

TEST(WriteAtomically, KeepsNamesThatAreAsLongAsTheyMayBe) {
  TemporaryFolder folder;
  const std::string name(255, 'n');
  write(folder / name, "text");
  EXPECT_THAT(kMachine.list(folder.path()), ElementsAre(name));
}

TEST(WriteAtomically, WritesToTheCurrentFolder) {
  TemporaryFolder folder;
  const int answer = in_child([&] {
    if (chdir(folder.path().c_str()) != 0) return 1;
    return write_file_atomically("plain", "text").ok() ? 0 : 1;
  });
  EXPECT_EQ(answer, 0);
  EXPECT_EQ(*kMachine.read(folder / "plain"), "text");
}

TEST(WriteAtomically, WritesStraightToDevices) {
  EXPECT_TRUE(write_file_atomically("/dev/null", "text").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Result<void> full = write_file_atomically("/dev/full", "text");
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().message(),
            "cannot write '/dev/full': No space left on device; free some space or write elsewhere");
}

TEST(WriteAtomically, SaysWhyItCannot) {
  TemporaryFolder folder;
  EXPECT_THAT(write_file_atomically(folder / "none/file", "x").error().message(), HasSubstr("No such file"));
  EXPECT_THAT(write_file_atomically(folder.path(), "x").error().message(), HasSubstr("found a folder"));
  EXPECT_THAT(write_file_atomically(folder / "none/", "x").error().message(), HasSubstr("found a folder's"));
  EXPECT_FALSE(write_file_atomically("", "x").ok());
  EXPECT_THAT(kMachine.list(folder.path()), IsEmpty());
}

// What is true after a write that failed half way.
void expect_untouched(const TemporaryFolder& folder) {
  EXPECT_EQ(*kMachine.read(folder / "file"), "old");
  EXPECT_THAT(kMachine.list(folder.path()), ElementsAre("file"));
}

TEST(WriteAtomically, AFileTooLargeLeavesTheTargetAsItWas) {
  TemporaryFolder folder;
  write(folder / "file", "old");
  const int answer = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 100'000, .rlim_max = 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Result<void> written = write_file_atomically(folder / "file", std::string(1'000'000, 'x'));
    return !written.ok() && written.error().message().find("File too large") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(answer, 0);
  expect_untouched(folder);
}

TEST(WriteAtomically, AFullDiskLeavesTheTargetAsItWas) {
  TemporaryFolder folder;
  constexpr int kCannotMount = 77;
  // In a mount namespace of the child's own, so that nothing stays mounted.
  const int answer = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
      return kCannotMount;
    }
    if (!write_file_atomically(folder / "file", "old").ok()) return 1;
    const Result<void> written = write_file_atomically(folder / "file", std::string(1'000'000, 'x'));
    if (written.ok() || written.error().message().find("free some space") == std::string::npos) return 2;
    expect_untouched(folder);
    return testing::Test::HasFailure() ? 3 : 0;
  });
  if (answer == kCannotMount) GTEST_SKIP() << "only root can mount a small file system";
  EXPECT_EQ(answer, 0);
}

TEST(MakeFolders, MakesParentsToo) {
  TemporaryFolder folder;
  EXPECT_TRUE(make_folders(folder / "a/b/c").ok());
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a/b/c"));
  EXPECT_TRUE(make_folders(folder / "a/b/c").ok());
  EXPECT_TRUE(make_folders(folder / "d/").ok());
  write(folder / "file", "");
  EXPECT_THAT(make_folders(folder / "file").error().message(), HasSubstr("Not a directory"));
  EXPECT_THAT(make_folders(folder / "file/sub").error().message(), HasSubstr("Not a directory"));
}

TEST(FreeSpace, IsThatOfTheNearestFolderThatExists) {
  TemporaryFolder folder;
  const Result<Bytes> here = free_space(folder.path());
  ASSERT_TRUE(here.ok());
  EXPECT_GT(here->value, 0);
  EXPECT_TRUE(free_space(folder / "not/yet/there").ok());
  EXPECT_TRUE(free_space("relative/not/there").ok());
  EXPECT_EQ(free_space("/proc/nothing")->value, free_space("/proc")->value);
}

TEST(CacheFolder, FollowsTheEnvironment) {
  const int answer = in_child([] {
    setenv("HOME", "/home/user", 1);
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    setenv("DEEPGAP_CACHE", "/own", 1);
    if (cache_folder() != "/own") return 1;
    setenv("DEEPGAP_CACHE", "", 1);
    if (cache_folder() != "/xdg/deepgap") return 2;
    unsetenv("XDG_CACHE_HOME");
    if (cache_folder() != "/home/user/.cache/deepgap") return 3;
    unsetenv("HOME");
    return cache_folder().empty() ? 4 : 0;
  });
  EXPECT_EQ(answer, 0);
}

}  // namespace
}  // namespace deepgap
