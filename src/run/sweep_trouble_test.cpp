#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "run/sweep_test_support.h"

namespace deepgap::run {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

struct Trouble {
  const char* scenario;
  const char* kind;
  const char* words;  // of the failure's text
};
void PrintTo(const Trouble& trouble, std::ostream* out) {
  *out << trouble.scenario;
}

class SweepTrouble : public SweepTest, public testing::WithParamInterface<Trouble> {};

// The cell in trouble is tried in each round and says why; its neighbours, before and after it, lose nothing.
TEST_P(SweepTrouble, LeavesOtherCellsAlone) {
  SweepRequest request = fake_request({"a"}, {1, 2, 4}, kLatency, 2);
  request.measure.hang_limit = std::chrono::seconds(2);
  request.measure.isolation = Isolation::kGroup;
  SweepPlan plan = plan_of(request);
  plan.cells[1].settings["fake.scenario"] = GetParam().scenario;
  plan.cells[1].settings["fake.at"] = "5";
  const SweepOutcome outcome = run_well(plan);
  const std::string kind = GetParam().kind;
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b2"), "0:" + kind + " 1:" + kind);
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "0 1");
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b4"), "0 1");
  EXPECT_EQ(outcome.visits_done, 4);
  EXPECT_EQ(outcome.visits_failed, 2);
  for (const Event& event : sink.events) {
    if (event.failure.empty()) continue;
    EXPECT_THAT(event.text, HasSubstr(GetParam().words));
    EXPECT_THAT(event.doubts, ElementsAre("worker_lost"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SweepTrouble,
    testing::Values(
        Trouble{"crash_at_load", "crash",
                "during load (killed by signal 11 (segmentation fault)): expected a reply; its log"},
        Trouble{"crash_at_call", "crash", "ends: fake: about to crash"},
        Trouble{"exit_at_call", "crash", "ended during measure (exit code 0)"},
        Trouble{"hang_at_load", "hang", "was silent for 2 s during load"},
        Trouble{"hang_at_call", "hang", "--hang-limit"},
        Trouble{"device_lost", "device_lost", "the device is gone"},
        Trouble{"garbage_reply", "protocol", "broke the protocol during load"},
        Trouble{"wrong_order", "protocol", "found one to 1000000"},
        Trouble{"truncated_blob", "protocol", "blob"}),
    [](const auto& each) { return std::string(each.param.scenario); });

TEST_F(SweepTest, BearsWhatALibraryPrintsAndASlowStart) {
  SweepPlan plan = plan_of(fake_request({"a"}, {1, 2}, kLatency, 1));
  plan.cells[0].settings["fake.scenario"] = "garbage_log";
  plan.cells[1].settings["fake.distribution"] = "slow_start";
  EXPECT_EQ(run_well(plan).visits_done, 2);
}

TEST_F(SweepTest, TriesNoFurtherWhatTheEngineRefuses) {
  SweepPlan plan = plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 3));
  plan.cells[0].settings["no.such"] = "1";     // unsupported
  plan.cells[2].settings["fake.noise"] = "9";  // bad_request
  const SweepOutcome outcome = run_well(plan);
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "0:unsupported");
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b2"), "0 1 2");
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b4"), "0:bad_request");
  EXPECT_EQ(outcome.visits_failed, 2);
}

TEST_F(SweepTest, LosesEveryCellOfAModelThatCannotBeRead) {
  program = script_worker(
      folder / "worker",
      hello_case() +
          R"(*'"load"'*) echo "{\"id\":$n,\"ok\":false,\"error\":{\"kind\":\"bad_model\",\"message\":\"opset 99\"}}" >&4;;)");
  const SweepOutcome outcome = run_well(plan_of(fake_request({"a"}, {1, 2}, kBoth, 3)));
  EXPECT_EQ(outcome.visits_failed, 4);  // once a cell
  EXPECT_EQ(sink.events.size(), 4u);
  for (const Event& event : sink.events) EXPECT_EQ(event.failure + " " + event.text, "bad_model opset 99");
}

// Above batch 8 the fake engine has no memory. What is asked for first depends on the order, but no cell
// fails twice, no cell that fits is lost, and the smallest that does not fit is always tried.
TEST_F(SweepTest, RefusesWhatNeedsMoreThanWhatRanOutOfMemory) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    sink.events.clear();
    SweepRequest request = fake_request({"a"}, {1, 8, 16, 32, 64}, kBoth, 2, {{"fake.most_batch", "8"}});
    request.seed = seed;
    const SweepOutcome outcome = run_well(plan_of(request));
    EXPECT_EQ(outcome.visits_done, 8);
    EXPECT_EQ(outcome.visits_failed, 6);
    EXPECT_EQ(sink.of("a/fake/cpu/fp32/b8"), "0 1");
    EXPECT_EQ(sink.of("a/fake/cpu/fp32/b8/throughput"), "0 1");
    EXPECT_EQ(sink.of("a/fake/cpu/fp32/b16"), "0:out_of_memory");
    for (const char* cell : {"b16/throughput", "b32", "b32/throughput", "b64", "b64/throughput"}) {
      EXPECT_THAT(sink.of(std::string("a/fake/cpu/fp32/") + cell),
                  testing::AnyOf("0:out_of_memory", "0:refused"));
    }
    for (const Event& event : sink.events) {
      if (event.failure == "refused") {
        EXPECT_THAT(event.text, HasSubstr("ran out of memory"));
        EXPECT_THAT(event.doubts, ElementsAre("predicted_not_to_fit"));
      }
      if (event.failure == "out_of_memory") {
        EXPECT_THAT(event.doubts, ElementsAre("out_of_memory"));
      }
    }
  }
}

// Waits until no child of this process runs any more.
void wait_for_children_to_end() {
  for (;;) {
    bool running = false;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream children(task.path() / "children");
      for (std::string pid; children >> pid;) {
        std::ifstream stat("/proc/" + pid + "/stat");
        std::string text;
        std::getline(stat, text);
        running = running || (!text.empty() && text.find(") Z") == std::string::npos);
      }
    }
    if (!running) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_F(SweepTest, LosesNothingWhenAWorkerEndsBetweenCells) {
  struct Waiter final : SweepObserver {
    void visit_ended(const PlannedCell&, const Visit&, const CellFailure*) override {
      wait_for_children_to_end();
    }
  } observer;
  const SweepPlan plan =
      plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 1, {{"fake.scenario", "crash_between"}}));
  const SweepOutcome outcome = run_well(plan, &observer);
  EXPECT_EQ(outcome.visits_done, 3);
  EXPECT_EQ(outcome.visits_failed, 0);
  ASSERT_EQ(sink.events.size(), 3u);
  EXPECT_THAT(sink.events[0].doubts, testing::Not(Contains("worker_lost")));
  EXPECT_THAT(sink.events[1].doubts, Contains("worker_lost"));
  EXPECT_THAT(sink.events[2].doubts, Contains("worker_lost"));
}

TEST_F(SweepTest, EndsWhenNothingCanBeStoredAnyMore) {
  sink.room = 4;
  const Result<SweepOutcome> outcome = run(plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 3)));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind(), ErrorKind::kBadInput);
  EXPECT_EQ(outcome.error().message(), "the sweep ended after 4 visits, which are kept: the disk is full");
  EXPECT_EQ(sink.events.size(), 4u);
}

TEST_F(SweepTest, SaysWhenNoWorkerCanBeStarted) {
  program.path = "/bin/false";
  const Result<SweepOutcome> outcome = run(plan_of(fake_request({"a"}, {1, 2, 4, 8, 16}, kLatency, 3)));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind(), ErrorKind::kMissing);
  EXPECT_THAT(outcome.error().message(),
              HasSubstr("no worker could be started: worker fake ended during hello (exit code 1)"));
  EXPECT_EQ(sink.events.size(), 5u);  // three tries, and two cells that none was made for
}

}  // namespace
}  // namespace deepgap::run
