#include "run/sweep.h"

#include <gmock/gmock.h>

#include <thread>

#include "run/sweep_test_support.h"

namespace deepgap::run {
namespace {

using testing::Contains;
using testing::ElementsAre;

using testing::IsEmpty;

TEST_F(SweepTest, GivesEachCellAllItsProcesses) {
  files = &machine;
  const SweepPlan plan = plan_of(fake_request({"a", "b"}, {1, 8, 32}, kBoth, 3));
  const SweepOutcome outcome = run_well(plan);
  EXPECT_EQ(outcome.visits_done, 36);
  EXPECT_EQ(outcome.visits_failed, 0);
  EXPECT_FALSE(outcome.cancelled);
  ASSERT_EQ(sink.processes.size(), 12u);
  for (const PlannedCell& cell : plan.cells) {
    const std::string selector = cell.key.selector();
    EXPECT_EQ(sink.of(selector), "0 1 2");
    for (const ProcessRun& process : sink.processes[selector]) {
      EXPECT_GT(process.samples.size(), 0u);
      EXPECT_TRUE(process.load_time.has_value());
      EXPECT_TRUE(process.first_call.has_value());
      EXPECT_EQ(process.stop_reason, StopReason::kPrecisionReached);
      EXPECT_EQ(process.window.has_value(), cell.key.workload.mode == Mode::kThroughput);
    }
  }
  EXPECT_THAT(logs(), IsEmpty());  // all workers ended well
}

TEST_F(SweepTest, RecordsTheSettingsInForce) {
  SweepRequest request = fake_request({"a"}, {1}, kBoth, 1);
  request.measure.in_flight = 3;
  request.measure.time_limit = std::chrono::seconds(8);
  run_well(plan_of(request));
  const auto value = [this](const std::string& cell, std::string_view name) {
    for (const Setting& row : sink.settings[cell])
      if (row.name == name) return row.requested.value_or("-") + ">" + row.effective.value_or("-");
    return std::string("absent");
  };
  EXPECT_EQ(value("a/fake/cpu/fp32/b1", "run.in_flight"), "->1");
  EXPECT_EQ(value("a/fake/cpu/fp32/b1/throughput", "run.in_flight"), "3>3");
  EXPECT_EQ(value("a/fake/cpu/fp32/b1", "run.protocol"), "->adaptive");
  EXPECT_EQ(value("a/fake/cpu/fp32/b1", "run.time_limit"), "->8 s");
  EXPECT_EQ(value("a/fake/cpu/fp32/b1", "run.target"), "->0.01");
  EXPECT_EQ(value("a/fake/cpu/fp32/b1", "run.transfers"), "->included");
  EXPECT_EQ(value("a/fake/cpu/fp32/b1", "fake.time"), "virtual>virtual");
}

TEST_F(SweepTest, MakesTheCallsOfAPublishedProtocol) {
  SweepRequest request = fake_request({"a"}, {1}, kLatency, 2);
  request.measure.fixed_warmup = 20;
  request.measure.fixed_calls = 100;
  run_well(plan_of(request));
  ASSERT_EQ(sink.processes["a/fake/cpu/fp32/b1"].size(), 2u);
  for (const ProcessRun& process : sink.processes["a/fake/cpu/fp32/b1"]) {
    EXPECT_EQ(process.warmup_calls, 20);
    EXPECT_EQ(process.samples.size(), 100u);
    EXPECT_EQ(process.stop_reason, StopReason::kFixedCount);
  }
}

// Asks to stop when a visit begins.
// Stops once in a visit, when its worker has started or (`early`) before.
struct Stopper final : SweepObserver {
  StopRequest* stop = nullptr;
  std::size_t at = 0;
  bool early = false;
  std::size_t number = 0;
  void visit_started(const PlannedCell&, const Visit&, std::size_t begun, std::size_t) override {
    number = begun;
    if (early && number == at) stop->request();
  }
  void progress(const PlannedCell&, const Progress& progress) override {
    if (!early && number == at && progress.phase == "load") stop->request();
  }
};

TEST_F(SweepTest, FinishesTheVisitInFlightAtTheFirstCtrlC) {
  Stopper observer;
  observer.stop = &stop;
  observer.at = 2;
  const SweepOutcome outcome = run_well(plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 1)), &observer);
  EXPECT_EQ(outcome.visits_done, 2);
  EXPECT_TRUE(outcome.cancelled);
  EXPECT_EQ(sink.events.size(), 2u);
}

// Of a visit whose worker still has to start nothing is measured: the first Ctrl-C drops it.
TEST_F(SweepTest, DropsAVisitWhoseWorkerStartsAtTheFirstCtrlC) {
  Stopper observer;
  observer.stop = &stop;
  observer.at = 3;  // of two rounds of two cells, the first in the second process
  observer.early = true;
  const SweepOutcome outcome = run_well(plan_of(fake_request({"a"}, {1, 2}, kLatency, 2)), &observer);
  EXPECT_EQ(outcome.visits_done, 2);
  EXPECT_EQ(outcome.visits_failed, 0);
  EXPECT_TRUE(outcome.cancelled);
}

// Two rounds of two cells, stopped in the third visit: one cell has all its processes, the other one of two.
TEST_F(SweepTest, SaysWhichCellsTheUserLeftUnfinished) {
  Stopper observer;
  observer.stop = &stop;
  observer.at = 3;
  const SweepPlan plan = plan_of(fake_request({"a"}, {1, 2}, kLatency, 2));
  EXPECT_TRUE(run_well(plan, &observer).cancelled);
  ASSERT_EQ(sink.ended.size(), 1u);
  const auto& [cell, text] = *sink.ended.begin();
  EXPECT_EQ(sink.of(cell), "0");
  EXPECT_EQ(text, "cancelled: the user stopped the run when 1 of 2 processes were measured");
}

TEST_F(SweepTest, IsNotCancelledWhenNothingWasLeftToDo) {
  Stopper observer;
  observer.stop = &stop;
  observer.at = 3;
  const SweepOutcome outcome = run_well(plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 1)), &observer);
  EXPECT_EQ(outcome.visits_done, 3);
  EXPECT_FALSE(outcome.cancelled);
  EXPECT_THAT(sink.ended, IsEmpty());
}

TEST_F(SweepTest, DropsTheVisitInFlightAtTheSecondCtrlC) {
  struct Interrupter final : SweepObserver {
    StopRequest* stop = nullptr;
    std::vector<std::string> ended;
    void progress(const PlannedCell&, const Progress& progress) override {
      if (progress.phase == "load") return;
      stop->request();
      stop->request();
    }
    void visit_ended(const PlannedCell&, const Visit&, const CellFailure* failure) override {
      ended.push_back(failure == nullptr ? "" : failure->kind);
    }
  } observer;
  observer.stop = &stop;
  SweepRequest request =
      fake_request({"a"}, {1, 2, 4}, kLatency, 1, {{"fake.time", "real"}, {"fake.median", "20ms"}});
  request.measure.time_limit = std::chrono::seconds(60);
  request.measure.target = 1e-9;
  const SweepOutcome outcome = run_well(plan_of(request), &observer);
  EXPECT_TRUE(outcome.cancelled);
  EXPECT_EQ(outcome.visits_done + outcome.visits_failed, 0);
  EXPECT_THAT(sink.events, IsEmpty());
  EXPECT_THAT(observer.ended, ElementsAre("cancelled"));
  EXPECT_THAT(logs(), IsEmpty());
}

// What is counted for the estimate of the time that is left.
TEST_F(SweepTest, CountsVisitsToComeAsTheyAreLeftOut) {
  struct Counter final : SweepObserver {
    std::vector<std::string> counts;
    void visit_started(const PlannedCell&, const Visit&, std::size_t number, std::size_t of) override {
      counts.push_back(std::to_string(number) + "/" + std::to_string(of));
    }
  } observer;
  SweepPlan plan = plan_of(fake_request({"a"}, {1}, kLatency, 3));
  run_well(plan, &observer);
  EXPECT_THAT(observer.counts, ElementsAre("1/3", "2/3", "3/3"));
  observer.counts.clear();
  plan.cells[0].settings["no.such"] = "1";
  run_well(plan, &observer);
  EXPECT_THAT(observer.counts, ElementsAre("1/3"));
}

// 200 calls of each of the times, as an earlier run left them.
std::vector<ProcessRun> processes_of(const std::vector<std::int64_t>& times_ns) {
  std::vector<ProcessRun> processes;
  for (const std::int64_t time : times_ns) {
    ProcessRun process{.index = static_cast<int>(processes.size())};
    for (std::int64_t call = 0; call < 200; ++call) {
      process.samples.start_ns.push_back(call * 2'000'000);
      process.samples.host_ns.push_back(time);
    }
    processes.push_back(std::move(process));
  }
  return processes;
}

SweepRequest rounds_of(int repeats, int most_repeats) {
  SweepRequest request =
      fake_request({"a"}, {1}, kLatency, repeats, {{"fake.median", "1.005ms"}, {"fake.noise", "0"}});
  request.measure.most_repeats = most_repeats;
  request.measure.time_limit = std::chrono::hours(1);
  return request;
}

// 1 % apart: a third in the middle is not enough (t of 2 degrees of freedom is 4.3), a fourth is.
TEST_F(SweepTest, TakesMoreProcessesWhereTheyDiffer) {
  const SweepPlan plan = plan_of(rounds_of(2, 9));
  const CellKey key = plan.cells[0].key;
  sink.held[key] = processes_of({1'000'000, 1'010'000});
  const SweepOutcome outcome = run_well(remaining(plan, {{key, 2}}));
  EXPECT_EQ(outcome.visits_done, 2);
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "2 3");
}

TEST_F(SweepTest, TakesNoMoreProcessesWhereTheyAgree) {
  SweepRequest request = fake_request({"a"}, {1}, kBoth, 3, {{"fake.noise", "0"}});
  request.measure.most_repeats = 9;
  run_well(plan_of(request));
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "0 1 2 3");
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1/throughput"), "0 1 2 3");
}

// A further process of a resumed sweep counts those of before: one here, not two, makes the most.
TEST_F(SweepTest, CountsEarlierProcessesWhenResumed) {
  const SweepPlan plan = plan_of(rounds_of(2, 4));
  const CellKey key = plan.cells[0].key;
  sink.held[key] = processes_of({1'000'000, 1'005'000, 1'012'000});
  const SweepOutcome outcome = run_well(remaining(plan, {{key, 3}}));
  EXPECT_EQ(outcome.visits_done, 1);
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "3");
}

TEST_F(SweepTest, DoesOnlyWhatRemainsWhenResumed) {
  const SweepPlan plan = plan_of(fake_request({"a", "b"}, {1, 2}, kLatency, 3));
  std::map<CellKey, int> done{{plan.cells[0].key, 3}, {plan.cells[1].key, 1}};
  const SweepOutcome outcome = run_well(remaining(plan, done));
  EXPECT_EQ(outcome.visits_done, 8);
  EXPECT_EQ(sink.of(plan.cells[0].key.selector()), "");
  EXPECT_EQ(sink.of(plan.cells[1].key.selector()), "1 2");
  EXPECT_EQ(sink.of(plan.cells[3].key.selector()), "0 1 2");
}

TEST_F(SweepTest, GivesEachVisitAProcessOfItsOwnWhereAsked) {
  SweepRequest request = fake_request({"a"}, {1, 2, 4}, kLatency, 1, {{"fake.scenario", "crash_between"}});
  request.measure.isolation = Isolation::kCell;
  run_well(plan_of(request));
  EXPECT_EQ(sink.events.size(), 3u);
  for (const Event& event : sink.events) EXPECT_THAT(event.doubts, testing::Not(Contains("worker_lost")));
}

TEST_F(SweepTest, RunsBesideAnotherThatLogsToTheSameFolder) {
  const SweepPlan plan =
      plan_of(fake_request({"a"}, {1, 2}, kLatency, 2, {{"fake.scenario", "garbage_log"}}));
  SweepPlan crashing = plan;
  for (PlannedCell& cell : crashing.cells) cell.settings["fake.scenario"] = "crash_at_load";
  RecordingSink other;
  std::thread second([&] {
    const Result<SweepOutcome> outcome = run_sweep(
        crashing,
        {.workers = {{"fake", program}}, .log_folder = folder.path(), .files = &machine, .sink = &other});
    EXPECT_TRUE(outcome.ok());
  });
  files = &machine;
  EXPECT_EQ(run_well(plan).visits_done, 4);
  second.join();
  EXPECT_EQ(other.events.size(), 4u);
  EXPECT_EQ(logs().size(), 4u);  // one for each worker that was lost
}

}  // namespace
}  // namespace deepgap::run
