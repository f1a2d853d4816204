#include "run/sweep.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "base/temporary_folder.h"
#include "base/text.h"
#include "run/run_test_support.h"

namespace deepgap::run {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<Mode> kLatency{Mode::kLatency};
const std::vector<Mode> kBoth{Mode::kLatency, Mode::kThroughput};

struct Event {
  std::string cell;
  int repeat = 0;
  std::string failure;  // its kind; "" for samples
  std::string text;
  std::vector<std::string> doubts;  // ids
};

class RecordingSink final : public SweepSink {
 public:
  std::vector<Event> events;
  std::map<std::string, std::vector<ProcessRun>> processes;
  std::map<std::string, std::vector<Setting>> settings;
  std::map<CellKey, std::vector<ProcessRun>> held;
  std::size_t room = 1'000'000;  // events until the disk is full

  Result<std::vector<ProcessRun>> earlier(const PlannedCell& cell) override {
    const auto found = held.find(cell.key);
    return found == held.end() ? std::vector<ProcessRun>() : found->second;
  }
  Result<void> visit_done(const PlannedCell& cell, const ProcessRun& process,
                          const std::vector<Setting>& rows, const std::vector<Diagnostic>& diagnostics,
                          const std::vector<TelemetrySeries>&) override {
    processes[cell.key.selector()].push_back(process);
    settings[cell.key.selector()] = rows;
    return add({cell.key.selector(), process.index, "", ""}, diagnostics);
  }
  Result<void> visit_failed(const PlannedCell& cell, int repeat, const CellFailure& failure,
                            const std::vector<Diagnostic>& diagnostics) override {
    return add({cell.key.selector(), repeat, failure.kind, failure.text}, diagnostics);
  }

  // "0 1 2", with the failures' kinds behind the repeats that failed: "0 1:crash 2".
  std::string of(const std::string& cell) const {
    std::vector<std::string> all;
    for (const Event& event : events) {
      if (event.cell == cell)
        all.push_back(std::to_string(event.repeat) + (event.failure.empty() ? "" : ":" + event.failure));
    }
    return join(all, " ");
  }

 private:
  Result<void> add(Event event, const std::vector<Diagnostic>& diagnostics) {
    if (events.size() >= room) return bad_input("the disk is full");
    for (const Diagnostic& diagnostic : diagnostics) event.doubts.push_back(diagnostic.id);
    events.push_back(std::move(event));
    return {};
  }
};

class Sweep : public testing::Test {
 protected:
  Result<SweepOutcome> run(const SweepPlan& plan, SweepObserver* observer = nullptr) {
    return run_sweep(plan, {.workers = {{"fake", program}},
                            .log_folder = folder.path(),
                            .files = files,
                            .sink = &sink,
                            .observer = observer,
                            .stop = &stop});
  }
  SweepOutcome run_well(const SweepPlan& plan, SweepObserver* observer = nullptr) {
    const Result<SweepOutcome> outcome = run(plan, observer);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message();
    return outcome.ok() ? *outcome : SweepOutcome{};
  }
  std::vector<std::string> logs() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      names.push_back(entry.path().filename());
    return names;
  }

  TemporaryFolder folder;
  WorkerProgram program = fake_worker();
  RootedFileSystem machine;
  const FileSystem* files = nullptr;  // the watch is looked at where a test sets it
  RecordingSink sink;
  StopRequest stop;
};

TEST_F(Sweep, GivesEachCellAllItsProcesses) {
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

TEST_F(Sweep, RecordsTheSettingsInForce) {
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

TEST_F(Sweep, MakesTheCallsOfAPublishedProtocol) {
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

struct Trouble {
  const char* scenario;
  const char* kind;
  const char* words;  // of the failure's text
};
void PrintTo(const Trouble& trouble, std::ostream* out) {
  *out << trouble.scenario;
}

class SweepTrouble : public Sweep, public testing::WithParamInterface<Trouble> {};

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

TEST_F(Sweep, BearsWhatALibraryPrintsAndASlowStart) {
  SweepPlan plan = plan_of(fake_request({"a"}, {1, 2}, kLatency, 1));
  plan.cells[0].settings["fake.scenario"] = "garbage_log";
  plan.cells[1].settings["fake.distribution"] = "slow_start";
  EXPECT_EQ(run_well(plan).visits_done, 2);
}

TEST_F(Sweep, TriesNoFurtherWhatTheEngineRefuses) {
  SweepPlan plan = plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 3));
  plan.cells[0].settings["no.such"] = "1";     // unsupported
  plan.cells[2].settings["fake.noise"] = "9";  // bad_request
  const SweepOutcome outcome = run_well(plan);
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "0:unsupported");
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b2"), "0 1 2");
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b4"), "0:bad_request");
  EXPECT_EQ(outcome.visits_failed, 2);
}

TEST_F(Sweep, LosesEveryCellOfAModelThatCannotBeRead) {
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
TEST_F(Sweep, RefusesWhatNeedsMoreThanWhatRanOutOfMemory) {
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

TEST_F(Sweep, LosesNothingWhenAWorkerEndsBetweenCells) {
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

TEST_F(Sweep, EndsWhenNothingCanBeStoredAnyMore) {
  sink.room = 4;
  const Result<SweepOutcome> outcome = run(plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 3)));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind(), ErrorKind::kBadInput);
  EXPECT_EQ(outcome.error().message(), "the sweep ended after 4 visits, which are kept: the disk is full");
  EXPECT_EQ(sink.events.size(), 4u);
}

TEST_F(Sweep, SaysWhenNoWorkerCanBeStarted) {
  program.path = "/bin/false";
  const Result<SweepOutcome> outcome = run(plan_of(fake_request({"a"}, {1, 2, 4, 8, 16}, kLatency, 3)));
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind(), ErrorKind::kMissing);
  EXPECT_THAT(outcome.error().message(),
              HasSubstr("no worker could be started: worker fake ended during hello (exit code 1)"));
  EXPECT_EQ(sink.events.size(), 5u);  // three tries, and two cells that none was made for
}

// Asks to stop when a visit begins.
struct Stopper final : SweepObserver {
  StopRequest* stop = nullptr;
  std::size_t at = 0;
  void visit_started(const PlannedCell&, const Visit&, std::size_t number, std::size_t) override {
    if (number == at) stop->request();
  }
};

TEST_F(Sweep, FinishesTheVisitInFlightAtTheFirstCtrlC) {
  Stopper observer;
  observer.stop = &stop;
  observer.at = 2;
  const SweepOutcome outcome = run_well(plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 1)), &observer);
  EXPECT_EQ(outcome.visits_done, 2);
  EXPECT_TRUE(outcome.cancelled);
  EXPECT_EQ(sink.events.size(), 2u);
}

TEST_F(Sweep, IsNotCancelledWhenNothingWasLeftToDo) {
  Stopper observer;
  observer.stop = &stop;
  observer.at = 3;
  const SweepOutcome outcome = run_well(plan_of(fake_request({"a"}, {1, 2, 4}, kLatency, 1)), &observer);
  EXPECT_EQ(outcome.visits_done, 3);
  EXPECT_FALSE(outcome.cancelled);
}

TEST_F(Sweep, DropsTheVisitInFlightAtTheSecondCtrlC) {
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
TEST_F(Sweep, CountsVisitsToComeAsTheyAreLeftOut) {
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

TEST_F(Sweep, TakesMoreProcessesWhereTheyDiffer) {
  SweepRequest request = fake_request({"a"}, {1, 2}, kLatency, 2, {{"fake.process_noise", "0.2"}});
  request.measure.most_repeats = 4;
  request.measure.time_limit = std::chrono::hours(1);
  run_well(plan_of(request));
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "0 1 2 3");
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b2"), "0 1 2 3");
}

TEST_F(Sweep, TakesNoMoreProcessesWhereTheyAgree) {
  SweepRequest request = fake_request({"a"}, {1}, kBoth, 3, {{"fake.noise", "0"}});
  request.measure.most_repeats = 9;
  run_well(plan_of(request));
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "0 1 2");
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1/throughput"), "0 1 2");
}

// A further process of a resumed sweep counts those of before: one here, not two, makes four.
TEST_F(Sweep, CountsEarlierProcessesWhenResumed) {
  SweepRequest request = fake_request({"a"}, {1}, kLatency, 2, {{"fake.process_noise", "0.2"}});
  request.measure.most_repeats = 4;
  request.measure.time_limit = std::chrono::hours(1);
  const SweepPlan plan = plan_of(request);
  const CellKey key = plan.cells[0].key;
  for (int index = 0; index < 3; ++index) {
    ProcessRun process{.index = index};
    for (std::int64_t call = 0; call < 200; ++call) {
      process.samples.start_ns.push_back(call * 2'000'000);
      process.samples.host_ns.push_back(1'000'000 + 300'000 * index);
    }
    sink.held[key].push_back(std::move(process));
  }
  const SweepOutcome outcome = run_well(remaining(plan, {{key, 3}}));
  EXPECT_EQ(outcome.visits_done, 1);
  EXPECT_EQ(sink.of("a/fake/cpu/fp32/b1"), "3");
}

TEST_F(Sweep, DoesOnlyWhatRemainsWhenResumed) {
  const SweepPlan plan = plan_of(fake_request({"a", "b"}, {1, 2}, kLatency, 3));
  std::map<CellKey, int> done{{plan.cells[0].key, 3}, {plan.cells[1].key, 1}};
  const SweepOutcome outcome = run_well(remaining(plan, done));
  EXPECT_EQ(outcome.visits_done, 8);
  EXPECT_EQ(sink.of(plan.cells[0].key.selector()), "");
  EXPECT_EQ(sink.of(plan.cells[1].key.selector()), "1 2");
  EXPECT_EQ(sink.of(plan.cells[3].key.selector()), "0 1 2");
}

TEST_F(Sweep, GivesEachVisitAProcessOfItsOwnWhereAsked) {
  SweepRequest request = fake_request({"a"}, {1, 2, 4}, kLatency, 1, {{"fake.scenario", "crash_between"}});
  request.measure.isolation = Isolation::kCell;
  run_well(plan_of(request));
  EXPECT_EQ(sink.events.size(), 3u);
  for (const Event& event : sink.events) EXPECT_THAT(event.doubts, testing::Not(Contains("worker_lost")));
}

TEST_F(Sweep, RunsBesideAnotherThatLogsToTheSameFolder) {
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
