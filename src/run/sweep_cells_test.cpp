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
    cells.add_process(0, process_of(2ms, 0ms, mode));
    EXPECT_THAT(cells.beyond_target(), ElementsAre(0));
    SweepCells alike(plan);
    for (int i = 0; i < 2; ++i) {
      alike.begin_visit(0);
      alike.add_process(0, process_of(1ms, 0ms, mode));
    }
    EXPECT_THAT(alike.beyond_target(), IsEmpty());
  }
}

TEST(SweepCells, AsksForNoMoreThanTheMost) {
  const SweepPlan plan = plan_with(2, 3);
  SweepCells cells(plan);
  for (const Nanoseconds call : {1ms, 2ms}) {
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
  for (const Nanoseconds call : {10ms, 20ms}) {  // 2 s and 4 s, and 1 s of warm-up each: 8 s
    cells.begin_visit(0);
    EXPECT_EQ(cells.visit_time_limit(0), 6s);
    cells.add_process(0, process_of(call, 1s));
  }
  EXPECT_THAT(cells.beyond_target(), ElementsAre(0));
  cells.expect_visit(0);
  cells.begin_visit(0);
  EXPECT_NEAR(static_cast<double>(cells.visit_time_limit(0).count()), 4e9, 1e3);
  cells.add_process(0, process_of(10ms, 600ms));  // 10.6 s: what is left is less than a quarter of 6 s
  EXPECT_THAT(cells.beyond_target(), IsEmpty());
}

TEST(SweepCells, CountsEarlierProcesses) {
  const SweepPlan plan = plan_with(2, 4);
  SweepCells cells(plan);
  for (const Nanoseconds call : {1ms, 2ms, 3ms}) cells.add_process(0, process_of(call, 0ms));
  EXPECT_EQ(cells.tries(0), 3);
  EXPECT_THAT(cells.beyond_target(), ElementsAre(0));
  cells.add_process(0, process_of(1ms, 0ms));
  EXPECT_THAT(cells.beyond_target(), IsEmpty());
}

}  // namespace
}  // namespace deepgap::run
