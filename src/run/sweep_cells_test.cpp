#include "run/sweep_cells.h"

#include <gmock/gmock.h>

#include "run/run_test_support.h"

namespace deepgap::run {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// 200 calls of `call`, and a warm-up; in throughput mode two in flight, so that they take half as long.
ProcessRun process_of(Nanoseconds call, Nanoseconds warmup, Mode mode = Mode::kLatency) {
  ProcessRun process{.warmup_time = warmup};
  const std::int64_t step = mode == Mode::kLatency ? call.count() : call.count() / 2;
  for (std::int64_t i = 0; i < 200; ++i) {
    process.samples.start_ns.push_back(1'000 + i * step);
    process.samples.host_ns.push_back(call.count() + i % 3);
  }
  if (mode == Mode::kThroughput) {
    process.window = Nanoseconds{200 * step};
    process.completed = 200;
  }
  return process;
}

SweepPlan plan_with(int repeats, int most_repeats, Mode mode = Mode::kLatency) {
  SweepRequest request = fake_request({"a"}, {1}, {mode}, repeats);
  request.measure.most_repeats = most_repeats;
  request.measure.time_limit = 12s;
  return plan_of(request);
}

TEST(SweepCells, AsksForMoreProcessesUntilTheyAgree) {
  for (const Mode mode : {Mode::kLatency, Mode::kThroughput}) {
    const SweepPlan plan = plan_with(2, 5, mode);
    SweepCells cells(plan);
    EXPECT_THAT(cells.beyond_target(), IsEmpty());  // nothing is known of it yet
    cells.begin_visit(0);
    cells.add_process(0, process_of(1ms, 0ms, mode));
    EXPECT_THAT(cells.beyond_target(), ElementsAre(0));  // nor how much processes differ
    cells.begin_visit(0);
    cells.add_process(0, process_of(1010us, 0ms, mode));
    EXPECT_THAT(cells.beyond_target(), ElementsAre(0));
    SweepCells alike(plan);
    for (int i = 0; i < 4; ++i) {
      if (i > 0) {
        EXPECT_THAT(alike.beyond_target(), ElementsAre(0)) << i;  // three agree by chance too often
      }
      alike.begin_visit(0);
      alike.add_process(0, process_of(1ms, 0ms, mode));
    }
    EXPECT_THAT(alike.beyond_target(), IsEmpty());
  }
}

TEST(SweepCells, AsksForNoMoreThanTheMost) {
  const SweepPlan plan = plan_with(2, 3);
  SweepCells cells(plan);
  for (const Nanoseconds call : {1000us, 1003us}) {
    cells.begin_visit(0);
    cells.add_process(0, process_of(call, 0ms));
  }
  EXPECT_THAT(cells.beyond_target(), ElementsAre(0));
  cells.expect_visit(0);
  cells.begin_visit(0);  // without samples, and a try all the same
  EXPECT_THAT(cells.beyond_target(), IsEmpty());
}

TEST(SweepCells, AsksForNoneOfACellThatIsGivenUp) {
  const SweepPlan plan = plan_with(3, 9);
  SweepCells cells(plan);
  cells.begin_visit(0);
  cells.add_process(0, process_of(1ms, 0ms));
  EXPECT_EQ(cells.visits_to_come(), 2u);
  cells.give_up(0);
  EXPECT_EQ(cells.visits_to_come(), 0u);
  EXPECT_THAT(cells.beyond_target(), IsEmpty());
}

// 12 s for two processes: 6 s each, and what they leave for further ones.
TEST(SweepCells, KeepsToTheTimeLimitOfTheCell) {
  const SweepPlan plan = plan_with(2, 9);
  SweepCells cells(plan);
  for (const Nanoseconds call : {14'000us, 14'050us}) {  // 2.80 s, 2.81 s, and 1.2 s of warm-up each: 8 s
    cells.begin_visit(0);
    EXPECT_EQ(cells.visit_time_limit(0), 6s);
    cells.add_process(0, process_of(call, 1'200ms));
  }
  EXPECT_THAT(cells.beyond_target(), ElementsAre(0));
  cells.expect_visit(0);
  cells.begin_visit(0);
  EXPECT_NEAR(static_cast<double>(cells.visit_time_limit(0).count()), 3.99e9, 1e3);
  cells.add_process(0, process_of(10ms, 600ms));  // 10.61 s: what is left is less than a quarter of 6 s
  EXPECT_THAT(cells.beyond_target(), IsEmpty());
}

TEST(SweepCells, CountsEarlierProcesses) {
  const SweepPlan plan = plan_with(2, 4);
  SweepCells cells(plan);
  for (const Nanoseconds call : {1000us, 1010us, 1015us}) cells.add_process(0, process_of(call, 0ms));
  EXPECT_EQ(cells.tries(0), 3);
  EXPECT_THAT(cells.beyond_target(), ElementsAre(0));
  cells.add_process(0, process_of(1ms, 0ms));
  EXPECT_THAT(cells.beyond_target(), IsEmpty());
}

// Three processes whose medians are apart by a tenth: twelve would leave some 5 %.
TEST(SweepCells, EndsWhereMoreProcessesCannotHelp) {
  const SweepPlan plan = plan_with(3, 12);
  SweepCells cells(plan);
  for (const Nanoseconds call : {1000us, 1100us, 1200us}) {
    cells.begin_visit(0);
    cells.add_process(0, process_of(call, 0ms));
  }
  EXPECT_THAT(cells.beyond_target(), IsEmpty());
}

TEST(SweepCells, MeasuresAProcessAsItsPartOfAll) {
  EXPECT_DOUBLE_EQ(SweepCells(plan_with(3, 3)).visit_target(), 0.01);
  EXPECT_DOUBLE_EQ(SweepCells(plan_with(3, 16)).visit_target(), 0.04);
}

// Instead of 30 processes of 120 calls: a fifth of 30 loads of 1 s and 3600 calls of 10 ms is 13.2 s.
TEST(SweepCells, TakesAFifthOfTheProtocolThatItStandsFor) {
  SweepRequest request = fake_request({"a"}, {1}, {Mode::kLatency}, 3);
  request.measure.most_repeats = 12;
  request.measure.instead_of = FixedProtocol{.warmup_calls = 20, .timed_calls = 100, .processes = 30};
  const SweepPlan plan = plan_of(request);
  const auto with_load = [](Nanoseconds call, Nanoseconds warmup) {
    ProcessRun process = process_of(call, warmup);
    process.load_time = 1s;
    return process;
  };
  SweepCells cells(plan);
  const auto limit = [&cells] { return static_cast<double>(cells.visit_time_limit(0).count()) / 1e9; };
  cells.begin_visit(0);
  EXPECT_NEAR(limit(), 20.0 / 6, 1e-6);  // nothing is known of it yet
  cells.add_process(0, with_load(10ms, 1s), 200ms);
  cells.begin_visit(0);
  // 0.2 + 1 + 1 + 2 s are gone; the rest is for five processes, a load each.
  EXPECT_NEAR(limit(), (13.2 - 4.2 - 5 * 1) / 5, 1e-3);
  cells.add_process(0, with_load(10'100us, 1s));
  cells.begin_visit(0);
  // The call is 10.05 ms now: of 13.236 s 0.2 + 2 x 2 + 2 + 2.02 s are gone. Four would have 0.25 s each; a
  // planned one is long enough to be of use.
  EXPECT_NEAR(limit(), 0.7, 1e-6);
  cells.add_process(0, with_load(10ms, 1s));
  // 12.22 s of 13.224 s, and what is left is the load of another.
  EXPECT_THAT(cells.beyond_target(), IsEmpty());
}

// A planned process has 60 calls, whatever the first one took.
TEST(SweepCells, LeavesAPlannedProcessEnoughToBeOfUse) {
  SweepRequest request = fake_request({"a"}, {1}, {Mode::kLatency}, 3);
  request.measure.most_repeats = 12;
  request.measure.time_limit = 1s;
  request.measure.instead_of = FixedProtocol{.warmup_calls = 20, .timed_calls = 100, .processes = 30};
  const SweepPlan plan = plan_of(request);
  SweepCells cells(plan);
  cells.begin_visit(0);
  cells.add_process(0, process_of(10ms, 0ms));  // 2 s
  cells.begin_visit(0);
  EXPECT_NEAR(static_cast<double>(cells.visit_time_limit(0).count()), 60 * 10e6, 1e4);
}

}  // namespace
}  // namespace deepgap::run
