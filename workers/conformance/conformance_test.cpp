// Runs the conformance program on workers that keep the protocol and on fakes that break one rule each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

  struct Running {
    Subprocess process;
    std::string log;
  };
  Running start(const std::string& worker, std::vector<std::string> arguments) {
    std::vector<std::string> command{program("conformance"), worker};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const std::string log = folder_ + "/output-" + std::to_string(++checks_);  // logs are appended to
    auto process = Subprocess::start({.command = command, .environment = environment_, .log_path = log});
    EXPECT_TRUE(process.ok());
    return {std::move(*process), log};
  }
  static Outcome finish(Running& running) {
    const auto status = running.process.wait(300s);
    Outcome outcome;
    if (status && status->code) outcome.code = *status->code;
    outcome.text = RootedFileSystem().read(running.log).ok() ? *RootedFileSystem().read(running.log) : "";
    for (const auto& line : split(outcome.text, '\n')) {
      std::istringstream words(line);
      std::string verdict, rule;
      words >> verdict >> rule;
      if (verdict == "ok" || verdict == "violated" || verdict == "skipped")
        outcome.verdicts.emplace(rule, verdict);
    }
    return outcome;
  }
  Outcome check(const std::string& worker, std::vector<std::string> arguments = {}) {
    Running running = start(worker, std::move(arguments));
    return finish(running);
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
  EXPECT_EQ(outcome.verdicts.size(), 51u) << outcome.text;
  for (const auto& [rule, verdict] : outcome.verdicts) EXPECT_EQ(verdict, "ok") << rule;
}

TEST_F(Conformance, AWorkerMayPrintOnItsOutput) {
  Outcome outcome = check_fake("garbage_log", {"--only", "loading,measuring"});
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
      {"crash_at_load", {"--only", "loading"}, "load.reply", "killed by signal 11"},
      {"crash_at_call",
       {"--set", "fake.at=3", "--only", "measuring"},
       "measure.fixed",
       "killed by signal 11"},
      {"crash_between", {"--only", "ending"}, "end_of_requests", "exit code 3"},
      {"exit_at_call", {"--set", "fake.at=10", "--only", "measuring"}, "measure.fixed", "exit code 0"},
      {"device_lost", {"--set", "fake.at=10", "--only", "measuring"}, "measure.fixed", "device_lost"},
      {"garbage_reply",
       {"--only", "loading"},
       "load.reply",
       "expected a line with one JSON object, found 'Loading model...'"},
      {"wrong_order", {"--only", "loading"}, "load.reply", "found one to 1000000"},
      {"truncated_blob",
       {"--set", "fake.at=10", "--only", "measuring"},
       "measure.fixed",
       "expected 8000 bytes of the blob 'host_ns', found the end after 3"},
      {"ignore_exit", {"--only", "ending"}, "exit", "found it running"},
  };
  for (const auto& expected : cases) {
    Outcome outcome = check_fake(expected.scenario, expected.more);
    EXPECT_EQ(outcome.code, 1) << expected.scenario;
    EXPECT_EQ(outcome.verdicts[expected.rule], "violated") << expected.scenario << "\n" << outcome.text;
    EXPECT_THAT(outcome.text, testing::HasSubstr(expected.sentence)) << expected.scenario;
    EXPECT_EQ(outcome.verdicts["hello.capabilities"], "ok") << expected.scenario;
  }
}

// The fake with one thing bent on its way to the program (testdata/bent_worker.py), for what the fake's own
// scenarios do not reach.
TEST_F(Conformance, EachBendBreaksItsRule) {
  struct Case {
    const char* bend;
    const char* group;
    const char* rule;
    const char* sentence;
  };
  const std::vector<Case> cases{
      {"strange_failure", "requests", "measure.before_load", "found 'sulking'"},
      {"short_lines", "requests", "request.large", "exit code 1"},
      {"any_protocol", "requests", "hello.other_protocol", "found success"},
      {"unnamed_verb", "requests", "request.unnamed_verbs", "'memory': expected the failure 'unsupported'"},
      {"unnamed_probes", "requests", "hello.capabilities", "found it without any"},
      {"unsaid_polls", "requests", "hello.capabilities", "found 'polls' of false with 'enqueue'"},
      {"probe_dies", "probing", "probe", "exit code 1"},
      {"other_ceiling", "probing", "probe", "a ceiling of 'bandwidth.memory', found one of 'peak.fp32'"},
      {"no_ceiling", "probing", "probe", "expected a ceiling above 0, found 0"},
      {"probes_all", "probing", "probe", "expected the failure 'unsupported'"},
      {"probes_any_device", "probing", "probe", "'bandwidth.memory' on 'abacus:0'"},
      {"long_load", "loading", "load.reply", "found 1 h"},
      {"no_new_members", "loading", "load.other_members", "exit code 1"},
      {"keeps_the_model_before", "loading", "load.failed", "the model before was kept"},
      {"too_many_slots", "loading", "load.slots", "expected success"},
      {"other_clock", "measuring", "measure.columns", "found one after it"},
      {"other_date", "measuring", "measure.started", "found one 1 h from it"},
      {"started_late", "measuring", "measure.started", "right before the first timed call"},
      {"first_call_apart_twice", "measuring", "measure.warmup_time", "with the first call of"},
      {"long_warmup_time", "measuring", "measure.warmup_time", "found 1 h"},
      {"null_is_needed", "measuring", "measure.other_members", "exit code 1"},
      {"progress_of_another", "measuring", "measure.time_limit", "found it of 999"},
      {"long_window", "measuring", "measure.throughput", "found 1 h"},
      {"more_in_flight", "measuring", "measure.throughput", "expected at most 2 calls in flight"},
      {"short_warmup", "limits", "warmup.least", "expected 30 warm-up calls or more, found 5"},
      {"warms_up_by_calls", "limits", "warmup.least", "expected a warm-up of 300 ms or longer"},
      {"long_warmup", "limits", "warmup.half", "expected a warm-up of 500 ms at most"},
      {"most_before_fixed", "limits", "stop.fixed_count", "expected 20 samples, found 3"},
      {"none_when_late", "limits", "stop.late", "expected 1 samples, found 20"},
      {"more_than_most", "limits", "stop.max_samples", "expected 15 samples, found 18"},
      {"few_samples", "limits", "stop.least", "expected 25 samples or more, found 12"},
      {"short_time", "limits", "stop.least", "expected timed calls for 100 ms or longer"},
      {"no_hold", "scheduling", "start_at", "expected nothing timed before the moment asked for"},
      {"no_hold", "scheduling", "start_at.throughput", "expected nothing timed before the moment asked for"},
      {"hold_counts", "scheduling", "start_at", "expected the stop_reason 'fixed_count'"},
      {"slow_cancel", "cancelling", "cancel", "expected an end after the calls in flight"},
      {"cancel_ends_it", "cancelling", "cancel.idle", "exit code 1"},
      {"no_timer", "verbs", "run", "expected the 'enqueue_ns' that 'timers' names, found none"},
      {"cold_again", "verbs", "run", "'first_call_ns' of null in a measuring after it"},
      {"negative_op", "verbs", "profile", "found -1"},
      {"absent_trace", "verbs", "profile", "found none at '/nowhere/trace.json'"},
      {"typed_outputs", "verbs", "outputs", "expected blobs of type 'bytes', found 'u8'"},
      {"own_inputs", "verbs", "outputs.inputs", "exit code 1"},
      {"one_seed", "verbs", "outputs.seed", "another seed, found the same"},
      {"ends_told_twice", "verbs", "poll", "expected ends of calls in flight, each once"},
      {"ends_before_begin", "verbs", "poll", "found 1"},
      {"exit_told_twice", "ending", "exit", "expected the end of the connection, found the message"},
      {"dies_while_measuring", "ending", "end_of_requests.measuring", "found exit code 5"},
      {"swallows_what_is_malformed", "ending", "request.malformed", "found silence for 5 s"},
  };
  environment_["DEEPGAP_BENT_WORKER"] = program("fake");
  const std::string bent =
      std::string(DEEPGAP_SOURCE_FOLDER) + "/workers/conformance/testdata/bent_worker.py";
  // Side by side, for they wait most of the time.
  constexpr std::size_t kTogether = 8;
  for (std::size_t begin = 0; begin < cases.size(); begin += kTogether) {
    const std::size_t end = std::min(begin + kTogether, cases.size());
    std::vector<Running> running;
    for (std::size_t i = begin; i < end; ++i) {
      environment_["DEEPGAP_BENT"] = cases[i].bend;
      running.push_back(
          start(bent, {"--set", "fake.median=2ms", "--patience", "5s", "--only", cases[i].group}));
    }
    for (std::size_t i = begin; i < end; ++i) {
      Outcome outcome = finish(running[i - begin]);
      EXPECT_EQ(outcome.code, 1) << cases[i].bend;
      EXPECT_EQ(outcome.verdicts[cases[i].rule], "violated") << cases[i].bend << "\n" << outcome.text;
      EXPECT_THAT(outcome.text, testing::HasSubstr(cases[i].sentence)) << cases[i].bend;
    }
  }
}

TEST_F(Conformance, OneGroupOfRulesIsTriedAlone) {
  Outcome outcome = check(program("fake"), {"--only", "probing,requests"});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_EQ(outcome.verdicts["probe"], "ok");
  EXPECT_EQ(outcome.verdicts["hello.other_protocol"], "ok");
  EXPECT_FALSE(outcome.verdicts.contains("load.reply"));
  EXPECT_EQ(check(program("fake"), {"--only", "probign"}).code, 2);
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
