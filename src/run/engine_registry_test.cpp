#include "run/engine_registry.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "base/temporary_folder.h"
#include "run/memory_kills.h"
#include "run/run_test_support.h"
#include "run/worker_log.h"

namespace deepgap::run {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Registry, QuotesWhatAWorkerPrintsThatCannotStart) {
  TemporaryFolder folder;
  const std::string path = folder / "deepgap-worker-broken";
  ASSERT_TRUE(
      write_file_atomically(path, "#!/bin/sh\necho 'cannot open libnothing.so' >&2\nexit 127\n").ok());
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  const Result<EngineDescription> description = describe_worker({.engine = "broken", .path = path});
  ASSERT_FALSE(description.ok());
  EXPECT_EQ(description.error().kind(), ErrorKind::kMissing);
  EXPECT_EQ(description.error().message(),
            "worker broken ended during hello (exit code 127): expected a reply; its log ends: cannot open "
            "libnothing.so");
}

TEST(Registry, GivesUpAWorkerThatSaysNoHelloAtTheHangLimit) {
  TemporaryFolder folder;
  const std::string path = folder / "deepgap-worker-mute";
  ASSERT_TRUE(write_file_atomically(path, "#!/bin/sh\nexec sleep 600\n").ok());
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  const Result<EngineDescription> description =
      describe_worker({.engine = "mute", .path = path}, std::chrono::milliseconds(300));
  ASSERT_FALSE(description.ok());
  EXPECT_EQ(description.error().message(),
            "worker mute was silent for 300 ms during hello: expected progress or a reply; it was ended "
            "(--hang-limit sets the limit); its log is empty");
}

TEST(Registry, AHelloThatTheUserStopsIsCancelled) {
  TemporaryFolder folder;
  const std::string path = folder / "deepgap-worker-mute";
  ASSERT_TRUE(write_file_atomically(path, "#!/bin/sh\nexec sleep 600\n").ok());
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  StopRequest stop;
  stop.request();
  const Result<EngineDescription> description =
      describe_worker({.engine = "mute", .path = path}, std::nullopt, &stop);
  ASSERT_FALSE(description.ok());
  EXPECT_EQ(description.error().kind(), ErrorKind::kCancelled);
}

TEST(Registry, DescribesAWorker) {
  const Result<EngineDescription> description = describe_worker(fake_worker());
  ASSERT_TRUE(description.ok()) << description.error().message();
  EXPECT_EQ(description->name, "fake");
  EXPECT_THAT(description->settings, testing::Contains("fake.median"));
}

class RegistryFolders : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"program", "libexec", "libexec/deepgap", "extra"})
      ASSERT_TRUE(make_folders(folder / name).ok());
  }
  void TearDown() override { unsetenv("DEEPGAP_WORKERS"); }
  void put(const std::string& name, mode_t mode = 0700) {
    ASSERT_TRUE(write_file_atomically(folder / name, "#!/bin/sh\n").ok());
    ASSERT_EQ(chmod((folder / name).c_str(), mode), 0);
  }
  TemporaryFolder folder;
};

TEST_F(RegistryFolders, FindsWorkersInTheirOrder) {
  put("program/deepgap-worker-zeta");
  put("program/deepgap-worker-alpha");
  put("libexec/deepgap/deepgap-worker-alpha");
  put("libexec/deepgap/deepgap-worker-beta");
  put("extra/deepgap-worker-zeta");
  put("program/deepgap-worker-conformance");
  put("program/deepgap-worker-copy~");
  put("program/deepgap-worker-plain", 0600);
  put("program/other");
  ASSERT_TRUE(make_folders(folder / "program/deepgap-worker-folder").ok());
  setenv("DEEPGAP_WORKERS", (":" + folder.path() + "/nowhere:" + folder.path() + "/extra").c_str(), 1);
  std::vector<std::string> found;
  for (const WorkerProgram& worker : find_workers(folder / "program")) {
    const std::string path = std::filesystem::path(worker.path).lexically_normal().string();
    found.push_back(worker.engine + " " + path.substr(folder.path().size()));
  }
  EXPECT_THAT(found, testing::ElementsAre("alpha /program/deepgap-worker-alpha",
                                          "beta /libexec/deepgap/deepgap-worker-beta",
                                          "zeta /extra/deepgap-worker-zeta"));
}

TEST_F(RegistryFolders, SaysWhatAKnownEngineNeedsAndSuggestsForAnUnknownOne) {
  const Result<WorkerProgram> known = find_worker("openvino", folder / "program");
  ASSERT_FALSE(known.ok());
  EXPECT_EQ(known.error().kind(), ErrorKind::kMissing);
  EXPECT_THAT(known.error().message(),
              AllOf(HasSubstr("deepgap-worker-openvino"), HasSubstr("scripts/fetch-openvino.sh")));
  const Result<WorkerProgram> unknown = find_worker("opnvino", folder / "program");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind(), ErrorKind::kUsage);
  EXPECT_THAT(unknown.error().message(), HasSubstr("did you mean 'openvino'?"));
}

TEST(WorkerLog, QuotesAtMostThreeLinesMadeSafe) {
  TemporaryFolder folder;
  const std::string path = folder / "a.log";
  EXPECT_EQ(quote_log_end(""), "");
  EXPECT_EQ(quote_log_end(path), "; its log is empty");
  ASSERT_TRUE(write_file_atomically(path, "one\ntwo\n\n  three\x1b[2J \nfour" + std::string(500, 'x')).ok());
  const std::string quoted = quote_log_end(path, false);
  EXPECT_THAT(quoted, testing::StartsWith("; its log ends: two | three\\x1b[2J | fourxxx"));
  EXPECT_THAT(quoted, AllOf(Not(HasSubstr("\x1b")), EndsWith("...")));
  EXPECT_LT(quoted.size(), 300u);
}

TEST(WorkerLog, RemovesOldLogsAlone) {
  TemporaryFolder folder;
  for (const char* name : {"old.log", "new.log", "old.txt"})
    ASSERT_TRUE(write_file_atomically(folder / name, "x").ok());
  const auto month_ago = std::filesystem::file_time_type::clock::now() - 24h * 30;
  for (const char* name : {"old.log", "old.txt"}) std::filesystem::last_write_time(folder / name, month_ago);
  remove_old_logs(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder / "old.log"));
  EXPECT_TRUE(std::filesystem::exists(folder / "new.log"));
  EXPECT_TRUE(std::filesystem::exists(folder / "old.txt"));
}

TEST(MemoryKillsCount, AddsTheGroupsAndTheMachines) {
  TemporaryFolder folder;
  const RootedFileSystem files(folder.path());
  const auto put = [&folder](const std::string& path, const std::string& text) {
    ASSERT_TRUE(make_folders(std::filesystem::path(folder / path).parent_path().string()).ok());
    ASSERT_TRUE(write_file_atomically(folder / path, text).ok());
  };
  EXPECT_FALSE(MemoryKills(files).count().has_value());
  put("proc/self/cgroup", "0::/user/job\n");
  put("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  put("sys/fs/cgroup/user/job/memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\n");
  EXPECT_EQ(MemoryKills(files).count(), 2);
  put("proc/vmstat", "nr_free 1\noom_kill 5\n");
  EXPECT_EQ(MemoryKills(files).count(), 7);
  put("proc/self/cgroup", "7:memory:/job\n");  // version 1
  put("proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  put("sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
  EXPECT_EQ(MemoryKills(files).count(), 9);
}

}  // namespace
}  // namespace deepgap::run
