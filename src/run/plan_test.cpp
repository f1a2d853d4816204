#include "run/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "run/run_test_support.h"

namespace deepgap::run {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::vector<Mode> kLatency{Mode::kLatency};
const std::vector<Mode> kBoth{Mode::kLatency, Mode::kThroughput};

SweepRequest grid(std::uint64_t seed = 1) {
  SweepRequest request = fake_request({"a", "b", "c"}, {1, 8, 32}, kBoth, 4);
  request.precisions = {Precision::kFp32, Precision::kInt8};
  request.seed = seed;
  return request;
}

std::vector<std::pair<std::size_t, int>> order_of(const SweepPlan& plan) {
  std::vector<std::pair<std::size_t, int>> order;
  for (const ProcessPlan& process : plan.processes)
    for (const Visit& visit : process.visits) order.emplace_back(visit.cell, visit.repeat);
  return order;
}

std::string error_of(const SweepRequest& request) {
  const Result<SweepPlan> plan =
      plan_sweep(request, {{"fake", fake_engine(fake_request({}, {}, {}, 1).settings)}}, {});
  return plan.ok() ? "" : plan.error().message();
}

TEST(Plan, GivesEachCellEachRepeatOnce) {
  for (const Isolation isolation : {Isolation::kGroup, Isolation::kCell}) {
    SweepRequest request = grid();
    request.measure.isolation = isolation;
    const SweepPlan plan = plan_of(request);
    ASSERT_EQ(plan.cells.size(), 36u);  // 3 models, 2 precisions, 3 batches, 2 modes
    auto order = order_of(plan);
    EXPECT_EQ(order.size(), 36u * 4);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(std::unique(order.begin(), order.end()), order.end());
    EXPECT_EQ(plan.processes.size(), isolation == Isolation::kCell ? 36u * 4 : 6u * 4);
  }
}

TEST(Plan, PutsOneGroupAndOneRoundIntoAProcess) {
  const SweepPlan plan = plan_of(grid());
  for (const ProcessPlan& process : plan.processes) {
    std::set<std::tuple<std::size_t, Precision, int>> groups;
    for (const Visit& visit : process.visits) {
      const PlannedCell& cell = plan.cells[visit.cell];
      groups.emplace(cell.model, cell.key.workload.precision, visit.repeat);
      EXPECT_EQ(cell.key.engine, process.engine);
    }
    EXPECT_EQ(groups.size(), 1u);
  }
}

TEST(Plan, GoesRoundByRound) {
  const auto order = order_of(plan_of(grid()));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; }));
}

TEST(Plan, OrdersBySeedAlone) {
  EXPECT_EQ(order_of(plan_of(grid(7))), order_of(plan_of(grid(7))));
  std::set<std::vector<std::pair<std::size_t, int>>> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) orders.insert(order_of(plan_of(grid(seed))));
  EXPECT_EQ(orders.size(), 20u);  // 36! orders of a round and more: none comes twice by chance
}

// Each round has an order of its own, and over many seeds a cell is at every place.
TEST(Plan, InterleavesCells) {
  const auto order = order_of(plan_of(grid()));
  const auto cells_of = [&order](int repeat) {
    std::vector<std::size_t> cells;
    for (const auto& [cell, visit_repeat] : order)
      if (visit_repeat == repeat) cells.push_back(cell);
    return cells;
  };
  EXPECT_NE(cells_of(0), cells_of(1));
  std::set<std::size_t> first;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) first.insert(order_of(plan_of(grid(seed))).front().first);
  // 36 equally likely cells in 400 draws: one is missing with probability 36 (35/36)^400 < 5e-4.
  EXPECT_EQ(first.size(), 36u);
}

TEST(Plan, TakesACellThatIsNamedTwiceOnce) {
  EXPECT_EQ(plan_of(fake_request({"a"}, {8, 8, 1, 8}, kLatency, 1)).cells.size(), 2u);
}

TEST(Plan, SaysWhatThereIs) {
  SweepRequest request = fake_request({"a"}, {1}, kLatency, 1);
  request.devices = {"cuda:0"};
  EXPECT_THAT(error_of(request), AllOf(HasSubstr("engine fake"), HasSubstr("cuda:0"), HasSubstr("cpu")));
  request = fake_request({"a"}, {1}, kLatency, 1);
  request.precisions = {Precision::kFp16};
  EXPECT_EQ(error_of(request), "engine fake does not run fp16 here: expected one of fp32, int8");
  request = fake_request({"a"}, {1}, kLatency, 1, {{"fake.nois", "1"}});
  EXPECT_THAT(error_of(request), HasSubstr("did you mean 'fake.noise'?"));
  request = fake_request({"a"}, {1}, kLatency, 1);
  request.models[0].format = "torchscript";
  EXPECT_THAT(error_of(request), AllOf(HasSubstr("torchscript"), HasSubstr("expected one of onnx")));
  request = fake_request({"a"}, {1, 8}, kLatency, 1);
  request.models[0].fixed_batch = 1;
  EXPECT_THAT(error_of(request), AllOf(HasSubstr("batch 1 only"), HasSubstr("found batch 8")));
  request.engines = {"other"};
  request.models[0].fixed_batch.reset();
  EXPECT_THAT(error_of(request), HasSubstr("'other'"));
}

// Not an advice that is refused when it is followed.
TEST(Plan, ABatchThatNobodyCanAskForIsTheModelsFault) {
  SweepRequest request = fake_request({"a"}, {1}, kLatency, 1);
  for (const std::int64_t batch : {std::int64_t{0}, kLargestBatch + 1, std::int64_t{1} << 40}) {
    request.models[0].fixed_batch = batch;
    const Result<SweepPlan> plan = plan_sweep(request, {{"fake", fake_engine(request.settings)}}, {});
    ASSERT_FALSE(plan.ok()) << batch;
    EXPECT_EQ(plan.error().kind(), ErrorKind::kBadInput);
    EXPECT_EQ(plan.error().message(),
              "model a: it was exported for batch " + std::to_string(batch) +
                  " only, and batches of 1 to 1000000 can be measured: export it with a dynamic batch");
  }
  request.models[0].fixed_batch = kLargestBatch;
  EXPECT_THAT(error_of(request), HasSubstr("measure --batch 1000000"));
}

TEST(Plan, RefusesNumbersOutOfRange) {
  const auto with = [](const auto& change) {
    SweepRequest request = fake_request({"a"}, {1}, kLatency, 1);
    change(request);
    return error_of(request);
  };
  EXPECT_EQ(with([](SweepRequest& r) { r.batches = {0}; }), "batch: expected 1 to 1000000, found 0");
  EXPECT_EQ(with([](SweepRequest& r) { r.batches = {1'000'001}; }),
            "batch: expected 1 to 1000000, found 1000001");
  EXPECT_EQ(with([](SweepRequest& r) { r.batches = {1'000'000}; }), "");
  EXPECT_EQ(with([](SweepRequest& r) { r.measure.repeats = 0; }), "repeats: expected 1 to 1000000, found 0");
  EXPECT_THAT(with([](SweepRequest& r) { r.measure.input_buffers = 0; }), HasSubstr("input buffers"));
  EXPECT_THAT(with([](SweepRequest& r) { r.measure.in_flight = 0; }), HasSubstr("calls in flight"));
  EXPECT_EQ(with([](SweepRequest& r) { r.measure.in_flight = 4096; }), "");
  EXPECT_EQ(with([](SweepRequest& r) { r.measure.in_flight = 20'000; }),
            "calls in flight: expected 1 to 4096, found 20000");
  EXPECT_THAT(with([](SweepRequest& r) { r.measure.fixed_calls = 0; }), HasSubstr("timed calls"));
  EXPECT_THAT(with([](SweepRequest& r) { r.measure.fixed_warmup = -1; }), HasSubstr("warm-up calls"));
  EXPECT_THAT(with([](SweepRequest& r) { r.measure.target = 0; }), HasSubstr("target"));
  EXPECT_THAT(with([](SweepRequest& r) { r.measure.time_limit = Nanoseconds{0}; }), HasSubstr("time limit"));
  EXPECT_THAT(with([](SweepRequest& r) { r.measure.hang_limit = Nanoseconds{-1}; }), HasSubstr("hang limit"));
}

// Settings that any engine shares; what they may be is in the catalogue (docs/metrics.md, core/setting.cpp).
TEST(Plan, RefusesValuesOfSharedSettingsThatAreNone) {
  const auto with = [](const std::string& name, const std::string& value,
                       std::vector<int> cpus = {0, 1, 2, 5}) {
    const SweepRequest request = fake_request({"a"}, {1}, kLatency, 1, {{name, value}});
    const Result<SweepPlan> plan =
        plan_sweep(request, {{"fake", fake_engine(request.settings)}}, {.cpus = std::move(cpus)});
    if (plan.ok()) return std::string();
    EXPECT_EQ(plan.error().kind(), ErrorKind::kUsage);
    return plan.error().message();
  };
  for (const std::string name : {"cpu.threads", "cpu.streams"}) {
    for (const std::string value : {"1", "64", "auto"}) EXPECT_EQ(with(name, value), "") << value;
    for (const std::string value : {"0", "-1", "abc", "", "1.5", "2 ", "99999999999"})
      EXPECT_THAT(with(name, value), AllOf(HasSubstr(name + ": expected a whole number from 1"),
                                           HasSubstr("found '" + value + "'")));
  }
  for (const std::string value : {"0", "0-2", "1,5", "none"}) EXPECT_EQ(with("cpu.affinity", value), "");
  EXPECT_THAT(with("cpu.affinity", "77"), HasSubstr("CPUs that deepgap may use here (0-2,5), found '77'"));
  EXPECT_THAT(with("cpu.affinity", "0-3"), HasSubstr("(0-2,5), found '0-3'"));
  for (const std::string value : {"", "all", "3-1"})
    EXPECT_THAT(with("cpu.affinity", value), HasSubstr("expected a list of CPUs such as 0-3,8, or none"));
  EXPECT_EQ(with("cpu.affinity", "77", {}), "");  // nothing is known of the CPUs
  for (const std::string value : {"always", "madvise", "never"})
    EXPECT_EQ(with("memory.huge_pages", value), "");
  EXPECT_EQ(with("memory.huge_pages", "foo"),
            "memory.huge_pages: expected always, madvise or never, found 'foo'");
  EXPECT_EQ(with("engines.own", "foo"), "");
}

// 100 MB of weights, 10 MB of activations and 1 MB of input a sample.
SweepRequest heavy(std::vector<std::int64_t> batches) {
  SweepRequest request = fake_request({"a"}, std::move(batches), kLatency, 2);
  request.models[0].weight_bytes = 100e6;
  request.models[0].activation_bytes_per_sample = 10e6;
  request.models[0].flops_per_sample = 1e9;
  request.models[0].inputs[0].shape = {PlannedModel::kBatch, 250'000};
  return request;
}

TEST(Plan, ForecastsMemoryAndRefusesOnlyWhatCannotFit) {
  const MachineLimits limits{.available_memory = Bytes{308'000'000}};
  const SweepPlan plan = plan_of(heavy({1, 16, 17}), limits);
  // 150 MB process + 2 x 100 MB + 4 buffers of 1 MB + 10 MB
  EXPECT_EQ(plan.cells[0].forecast_memory, Bytes{364'000'000});
  EXPECT_FALSE(plan.cells[0].refusal.has_value());  // likely too much, yet not surely
  EXPECT_FALSE(plan.cells[1].refusal.has_value());  // 100 + 160 MB, 3 buffers of 16 MB: just
  ASSERT_TRUE(plan.cells[2].refusal.has_value());
  EXPECT_EQ(plan.cells[2].refusal->kind, "refused");
  EXPECT_THAT(plan.cells[2].refusal->text,
              AllOf(HasSubstr("batch 17 needs at least 321 MB"), HasSubstr("308 MB are available"),
                    HasSubstr("4 input buffers of 17 MB"), HasSubstr("--input-buffers")));
  for (const auto& [cell, repeat] : order_of(plan)) EXPECT_NE(cell, 2u);
  EXPECT_EQ(order_of(plan).size(), 4u);
}

TEST(Plan, CountsTheInputBuffersThatWereAskedFor) {
  SweepRequest request = heavy({1});
  const MachineLimits limits{.available_memory = Bytes{1'000'000'000}};
  request.measure.input_buffers = 891;  // 100 + 10 + 890 MB: the first one is among the activations
  EXPECT_FALSE(plan_of(request, limits).cells[0].refusal.has_value());
  request.measure.input_buffers = 1'000'000;
  const SweepPlan plan = plan_of(request, limits);
  ASSERT_TRUE(plan.cells[0].refusal.has_value());
  EXPECT_THAT(plan.cells[0].refusal->text,
              AllOf(HasSubstr("at least 1 TB"), HasSubstr("1000000 input buffers")));
  EXPECT_TRUE(plan.processes.empty());
}

TEST(Plan, KnowsThatANarrowPrecisionNeedsLess) {
  SweepRequest request = heavy({40});
  request.precisions = {Precision::kFp32, Precision::kInt8};
  const SweepPlan plan = plan_of(request, {.available_memory = Bytes{260'000'000}});
  EXPECT_TRUE(plan.cells[0].refusal.has_value());   // 500 MB and 3 buffers of 40 MB
  EXPECT_FALSE(plan.cells[1].refusal.has_value());  // 125 MB and the buffers
}

// Of a preset: the cells of a precision that the engine does not run are there, refused.
TEST(Plan, RefusesAPrecisionThatTheEngineDoesNotRunWhereAsked) {
  SweepRequest request = fake_request({"a"}, {1, 8}, kLatency, 3);
  request.precisions = {Precision::kFp16, Precision::kInt8};
  EXPECT_THAT(error_of(request), HasSubstr("engine fake does not run fp16 here: expected one of fp32, int8"));
  request.refuse_precisions = true;
  const SweepPlan plan = plan_of(request);
  ASSERT_EQ(plan.cells.size(), 4u);
  for (const std::size_t cell : {0u, 1u}) {
    ASSERT_TRUE(plan.cells[cell].refusal.has_value());
    EXPECT_EQ(plan.cells[cell].refusal->kind, "unsupported");
    EXPECT_EQ(plan.cells[cell].refusal->doubt, &diagnostics::kUnsupportedPrecision);
    EXPECT_THAT(plan.cells[cell].refusal->text, HasSubstr("expected one of fp32, int8"));
    EXPECT_FALSE(plan.cells[cell + 2].refusal.has_value());
  }
  for (const auto& [cell, repeat] : order_of(plan)) EXPECT_GE(cell, 2u);
}

TEST(Plan, ForecastsNothingThatItDoesNotKnow) {
  const SweepPlan plan = plan_of(fake_request({"a"}, {1}, kLatency, 1), {.available_memory = Bytes{1}});
  EXPECT_FALSE(plan.cells[0].forecast_memory.has_value());
  EXPECT_FALSE(plan.cells[0].forecast_time.has_value());
  EXPECT_FALSE(plan.forecast_time.has_value());
  EXPECT_FALSE(plan.cells[0].refusal.has_value());
}

TEST(Plan, ForecastsTheTimeOfAdaptiveCells) {
  SweepRequest request = heavy({1, 100, 100'000});
  request.measure.time_limit = std::chrono::seconds(10);
  const SweepPlan plan = plan_of(request, {.flops_per_second = 100e9});
  using std::chrono::milliseconds;
  // A call takes 10 ms: 110 of them in each of two processes, and a second for each load.
  EXPECT_EQ(plan.cells[0].forecast_time, milliseconds(2 * (1'100 + 1'000)));
  // 1 s: the limit of 5 s a process holds.
  EXPECT_EQ(plan.cells[1].forecast_time, milliseconds(2 * (5'000 + 1'000)));
  // 1000 s: three calls at least, and beyond the hang limit.
  EXPECT_EQ(plan.cells[2].forecast_time, milliseconds(2 * (3'000'000 + 1'000)));
  EXPECT_THAT(plan.cells[2].note, HasSubstr("--hang-limit"));
  EXPECT_EQ(plan.cells[1].note, "");
  EXPECT_EQ(plan.forecast_time, milliseconds(4'200 + 12'000 + 6'002'000));
  // At most the whole limit; the third cell has one forecast only.
  EXPECT_EQ(plan.cells[0].forecast_most, milliseconds(10'000 + 2'000));
  EXPECT_EQ(plan.cells[1].forecast_most, milliseconds(10'000 + 2'000));
  EXPECT_EQ(plan.forecast_most, milliseconds(12'000 + 12'000 + 6'002'000));
  for (const PlannedCell& cell : plan.cells) EXPECT_EQ(cell.time_limit, std::chrono::seconds(10));
}

TEST(Plan, ForecastsFurtherRounds) {
  SweepRequest request = heavy({1});
  request.measure.most_repeats = 12;
  const SweepPlan plan = plan_of(request, {.flops_per_second = 100e9});
  using std::chrono::milliseconds;
  // A call takes 10 ms: 65 of them and a load of 1 s, twice; or 20 s and twelve loads.
  EXPECT_EQ(plan.cells[0].forecast_time, milliseconds(2 * (650 + 1'000)));
  EXPECT_EQ(plan.cells[0].forecast_most, milliseconds(20'000 + 12'000));
}

// A fifth of 30 loads and 3600 calls: of 1 s and 10 ms, and of 1 s and 60 s.
TEST(Plan, GivesACellAFifthOfTheProtocolThatItStandsFor) {
  SweepRequest request = heavy({1, 6'000});
  request.measure.repeats = 3;
  request.measure.most_repeats = 12;
  request.measure.instead_of = FixedProtocol{.warmup_calls = 20, .timed_calls = 100, .processes = 30};
  const SweepPlan plan = plan_of(request, {.flops_per_second = 100e9});
  using std::chrono::milliseconds;
  EXPECT_EQ(plan.cells[0].time_limit, milliseconds(20'000));
  EXPECT_EQ(plan.cells[0].forecast_most, milliseconds(6'000 + 7'200));
  // The forecast may be half of what a call takes.
  EXPECT_EQ(plan.cells[1].time_limit, milliseconds(2 * 720 * 60'000));
  EXPECT_EQ(plan.cells[1].forecast_time, milliseconds(3 * (65 * 60'000 + 1'000)));
  EXPECT_EQ(plan.cells[1].forecast_most, milliseconds(6'000 + 720 * 60'000));
}

TEST(Plan, NamesAFixedProtocolBeyondPatience) {
  SweepRequest request = heavy({1, 100});
  request.measure.repeats = request.measure.most_repeats = 30;
  request.measure.fixed_warmup = 20;
  request.measure.fixed_calls = 100;
  const SweepPlan plan = plan_of(request, {.flops_per_second = 100e9});
  // 30 processes of 120 calls of 10 ms, and of 1 s.
  EXPECT_EQ(plan.cells[0].forecast_time, std::chrono::milliseconds(30 * (1'200 + 1'000)));
  EXPECT_EQ(plan.cells[1].forecast_time, std::chrono::milliseconds(30 * (120'000 + 1'000)));
  EXPECT_EQ(plan.cells[0].note, "");
  EXPECT_THAT(plan.cells[1].note, HasSubstr("longer than 1 h"));
  EXPECT_FALSE(plan.cells[1].refusal.has_value());  // named, and run all the same
  EXPECT_EQ(order_of(plan).size(), 60u);
}

TEST(Remaining, LeavesOutWhatIsDone) {
  SweepRequest request = heavy({1, 2, 4});
  request.measure.repeats = request.measure.most_repeats = 3;
  const SweepPlan plan = plan_of(request, {.flops_per_second = 100e9});
  const SweepPlan left =
      remaining(plan, {{plan.cells[0].key, 3}, {plan.cells[1].key, 2}, {plan.cells[2].key, 0}});
  auto order = order_of(left);
  EXPECT_EQ(left.cells.size(), 3u);
  // In the order that the whole plan had.
  std::vector<std::pair<std::size_t, int>> expected;
  for (const auto& visit : order_of(plan))
    if (visit.first == 2 || visit == std::pair<std::size_t, int>(1, 2)) expected.push_back(visit);
  EXPECT_EQ(order, expected);
  EXPECT_EQ(*left.forecast_time, *plan.cells[1].forecast_time / 3 + *plan.cells[2].forecast_time);
  EXPECT_TRUE(remaining(plan, {{plan.cells[0].key, 9}, {plan.cells[1].key, 9}, {plan.cells[2].key, 9}})
                  .processes.empty());
}

}  // namespace
}  // namespace deepgap::run
