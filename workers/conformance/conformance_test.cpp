// Runs the conformance program on workers that keep the protocol and on fakes that break one rule each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "base/file_system.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace deepgap::conformance {
namespace {

using namespace std::chrono_literals;

struct Outcome {
  int code = -1;
  std::string text;
  std::map<std::string, std::string> verdicts;  // by rule
};

class Conformance : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "deepgap-conformance-test-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    for (const auto& name : RootedFileSystem().list(folder_)) unlink((folder_ + "/" + name).c_str());
    rmdir(folder_.c_str());
  }

  std::string program(const char* name) const {
    return std::string(DEEPGAP_BUILD_FOLDER) + "/deepgap-worker-" + name;
  }

  Outcome check(const std::string& worker, std::vector<std::string> arguments = {}) {
    std::vector<std::string> command{program("conformance"), worker};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const std::string log = folder_ + "/output-" + std::to_string(++checks_);  // logs are appended to
    auto process = Subprocess::start({.command = command, .environment = environment_, .log_path = log});
    EXPECT_TRUE(process.ok());
    const auto status = process->wait(300s);
    Outcome outcome;
    if (status && status->code) outcome.code = *status->code;
    outcome.text = RootedFileSystem().read(log).ok() ? *RootedFileSystem().read(log) : "";
    for (const auto& line : split(outcome.text, '\n')) {
      std::istringstream words(line);
      std::string verdict, rule;
      words >> verdict >> rule;
      if (verdict == "ok" || verdict == "violated" || verdict == "skipped")
        outcome.verdicts.emplace(rule, verdict);
    }
    return outcome;
  }
  Outcome check_fake(const std::string& scenario, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"--set", "fake.scenario=" + scenario, "--patience", "10s"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return check(program("fake"), arguments);
  }

  std::map<std::string, std::string> environment_;
  std::string folder_;
  int checks_ = 0;
};

TEST_F(Conformance, TheFakeKeepsTheProtocol) {
  Outcome outcome = check(program("fake"), {"--set", "fake.median=2ms"});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.verdicts.size(), 26u) << outcome.text;
  for (const auto& [rule, verdict] : outcome.verdicts) EXPECT_EQ(verdict, "ok") << rule;
}

TEST_F(Conformance, AWorkerMayPrintOnItsOutput) {
  Outcome outcome = check_fake("garbage_log");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}

TEST_F(Conformance, EachMisbehaviourBreaksItsRule) {
  struct Case {
    const char* scenario;
    std::vector<std::string> more;
    const char* rule;
    const char* sentence;
  };
  const std::vector<Case> cases{
      {"crash_at_load", {}, "load.reply", "killed by signal 11"},
      {"crash_at_call", {"--set", "fake.at=3"}, "measure.fixed", "killed by signal 11"},
      {"crash_between", {}, "end_of_requests", "exit code 3"},
      {"exit_at_call", {"--set", "fake.at=10"}, "measure.fixed", "exit code 0"},
      {"device_lost", {"--set", "fake.at=10"}, "measure.fixed", "device_lost"},
      {"garbage_reply", {}, "load.reply", "expected a line with one JSON object, found 'Loading model...'"},
      {"wrong_order", {}, "load.reply", "found one to 1000000"},
      {"truncated_blob",
       {"--set", "fake.at=10"},
       "measure.fixed",
       "expected 8000 bytes of the blob 'host_ns', found the end after 3"},
      {"ignore_exit", {}, "exit", "found it running"},
  };
  for (const auto& expected : cases) {
    Outcome outcome = check_fake(expected.scenario, expected.more);
    EXPECT_EQ(outcome.code, 1) << expected.scenario;
    EXPECT_EQ(outcome.verdicts[expected.rule], "violated") << expected.scenario << "\n" << outcome.text;
    EXPECT_THAT(outcome.text, testing::HasSubstr(expected.sentence)) << expected.scenario;
    EXPECT_EQ(outcome.verdicts["hello.capabilities"], "ok") << expected.scenario;
  }
}

TEST_F(Conformance, ASilentWorkerIsNotWaitedForLongerThanPatience) {
  environment_["DEEPGAP_FAKE_SCENARIO"] = "hang_at_load";
  Outcome outcome = check(program("fake"), {"--patience", "3s"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.verdicts["load.reply"], "violated");
  EXPECT_THAT(outcome.text, testing::HasSubstr("found silence for 3 s"));
}

TEST_F(Conformance, AProgramThatIsNoWorkerIsTold) {
  Outcome echo = check("/bin/true");
  EXPECT_EQ(echo.code, 1);
  EXPECT_EQ(echo.verdicts["start"], "violated");
  EXPECT_EQ(check(folder_ + "/absent").code, 1);
}

TEST_F(Conformance, WrongUsageIsTold) {
  EXPECT_EQ(check(program("fake"), {"--model", "x.onnx"}).code, 2);
  EXPECT_EQ(check(program("fake"), {"--precision", "fp31"}).code, 2);
  EXPECT_EQ(check(program("fake"), {"--speed", "3"}).code, 2);
}

// The example of docs/worker-protocol.md, as a stranger would save it.
TEST_F(Conformance, TheWorkerOfTheDocumentKeepsTheProtocol) {
  const auto document =
      RootedFileSystem().read(std::string(DEEPGAP_SOURCE_FOLDER) + "/docs/worker-protocol.md");
  ASSERT_TRUE(document.ok());
  const std::string fence = "```python\n";
  const auto begin = document->find(fence);
  ASSERT_NE(begin, std::string::npos);
  const auto end = document->find("```", begin + fence.size());
  ASSERT_NE(end, std::string::npos);
  const std::string path = folder_ + "/worker.py";
  std::ofstream(path) << document->substr(begin + fence.size(), end - begin - fence.size());
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  Outcome outcome = check(path);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
}

}  // namespace
}  // namespace deepgap::conformance
