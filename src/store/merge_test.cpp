#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/diagnostic.h"
#include "store/store.h"
#include "store/test_support.h"

namespace deepgap::store {
namespace {

std::vector<std::string> all_cells(Store& store) {
  std::vector<std::string> cells;
  EXPECT_OK(store.for_each({}, LoadDepth::kAll, [&cells](Measurement& m) {
    cells.push_back(describe(m));
    return true;
  }));
  return cells;
}

Measurement rich(int number) {
  Measurement m = make_measurement(number, 2);
  m.processes[0].samples.device_ns = {1, 2, 3, 4, 5};
  m.settings = {{"cpu.threads", "2", "2"}, {"cpu.threads", "2", "1", 1}};
  m.diagnostics = {diagnose(diagnostics::kForeignLoad, "cell", "text", 3),
                   diagnose(diagnostics::kStealTime, "cell", "text", 3)};
  m.diagnostics[1].process = 0;
  m.telemetry = {{"power", "rapl", Unit::kWatts, {1, 2}, {0.5, 0.1}},
                 {"power", "rapl", Unit::kWatts, {1, 2}, {0.5, 0.1}, 0},
                 {"power", "rapl", Unit::kWatts, {1, 2}, {0.5, 0.1}, 1}};
  m.accuracy = {{"openvino/cpu/fp32", "relative_l2", 0.25, 10},
                {"openvino/cpu/fp32", "relative_l2", 0.5, 10, 1}};
  m.reported = {{.metric = "throughput", .value = 12.5, .unit = Unit::kSamplesPerSecond, .process = 1}};
  m.failure = CellFailure{"hang", "third process", std::nullopt};
  return m;
}

TEST_F(StoreTest, MergeAddsAndIsIdempotent) {
  Sweep sweep;
  sweep.id = SweepId("00000000000000aa");
  {
    Store other = open(file("other.db"));
    ASSERT_OK(other.create_sweep(sweep));
    Measurement a = rich(1);
    a.sweep = sweep.id;
    ASSERT_OK(other.put_measurement(a));
    ASSERT_OK(other.put_measurement(rich(3)));
  }
  const std::string before = read(file("other.db"));
  Store store = open(db());
  ASSERT_OK(store.put_measurement(make_measurement(2, 1)));
  const Result<MergeCount> first = store.merge(file("other.db"));
  ASSERT_OK(first);
  EXPECT_EQ(first->measurements_added, 2);
  EXPECT_EQ(first->processes_added, 4);
  EXPECT_EQ(first->sweeps_added, 1);
  Measurement a = rich(1);
  a.sweep = sweep.id;
  EXPECT_EQ(describe(store.load(id_of(1)).value()), describe(a));
  EXPECT_EQ(describe(store.load(id_of(3)).value()), describe(rich(3)));

  const std::vector<std::string> cells = all_cells(store);
  EXPECT_EQ(cells.size(), 3U);
  const Result<MergeCount> second = store.merge(file("other.db"));
  ASSERT_OK(second);
  EXPECT_EQ(second->measurements_added + second->measurements_extended + second->sweeps_added, 0);
  EXPECT_EQ(second->measurements_skipped, 2);
  EXPECT_EQ(all_cells(store), cells);
  EXPECT_EQ(read(file("other.db")), before);  // the other file is not changed
}

TEST_F(StoreTest, MergeUnitesTheProcessesOfOneMeasurement) {
  const auto visit = [](int index, std::int64_t started) {
    CellVisit v;
    v.process = make_process(index);
    v.process->started.realtime_at = Nanoseconds(started);
    v.diagnostics = {diagnose(diagnostics::kStealTime, "process", std::to_string(started))};
    v.telemetry = {{"power", "rapl", Unit::kWatts, {started}, {1.0}}};
    v.settings = {{"cpu.affinity", std::nullopt, std::to_string(started)}};
    return v;
  };
  {
    Store store = open(db());
    ASSERT_OK(store.put_measurement(make_measurement(1)));
    ASSERT_OK(store.append_visit(id_of(1), visit(0, 100)));
  }
  std::filesystem::copy_file(db(), file("other.db"));
  Store store = open(db());
  {
    // The sweep was resumed on both copies: here process 1, there another process 1, and 2.
    ASSERT_OK(store.append_visit(id_of(1), visit(1, 200)));
    Store other = open(file("other.db"));
    ASSERT_OK(other.append_visit(id_of(1), visit(1, 300)));
    ASSERT_OK(other.append_visit(id_of(1), visit(2, 400)));
  }
  const Result<MergeCount> count = store.merge(file("other.db"));
  ASSERT_OK(count);
  EXPECT_EQ(count->measurements_extended, 1);
  EXPECT_EQ(count->processes_added, 2);
  const Measurement merged = store.load(id_of(1)).value();
  std::vector<std::pair<int, std::int64_t>> found;
  for (const ProcessRun& run : merged.processes)
    found.emplace_back(run.index, run.started.realtime_at.count());
  EXPECT_EQ(found, (std::vector<std::pair<int, std::int64_t>>{{0, 100}, {1, 200}, {2, 300}, {3, 400}}));
  // What came with a process goes with it under its new index.
  ASSERT_EQ(merged.diagnostics.size(), 4U);
  ASSERT_EQ(merged.telemetry.size(), 4U);
  ASSERT_EQ(merged.settings.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string started = std::to_string(found[i].second);
    EXPECT_EQ(merged.diagnostics[i].text, started);
    EXPECT_EQ(merged.diagnostics[i].process, found[i].first);
    EXPECT_EQ(std::to_string(merged.telemetry[i].at_ns[0]), started);
    EXPECT_EQ(merged.telemetry[i].process, found[i].first);
    EXPECT_EQ(merged.settings[i].effective, started);
    EXPECT_EQ(merged.settings[i].process, found[i].first);
  }

  EXPECT_EQ(store.merge(file("other.db"))->measurements_skipped, 1);
  EXPECT_EQ(store.load(id_of(1))->processes.size(), 4U);
}

TEST_F(StoreTest, MergeBothWaysGivesTheSameCells) {
  {
    Store a = open(file("a.db"));
    Store b = open(file("b.db"));
    for (const int number : {1, 2, 3}) ASSERT_OK(a.put_measurement(rich(number)));
    for (const int number : {3, 4}) ASSERT_OK(b.put_measurement(rich(number)));
    Measurement elsewhere = rich(5);
    elsewhere.device.facts[0].value = "64";
    ASSERT_OK(b.put_measurement(elsewhere));
  }
  Store ab = open(file("ab.db"));
  Store ba = open(file("ba.db"));
  for (const std::string name : {"a.db", "b.db"}) ASSERT_OK(ab.merge(file(name)));
  for (const std::string name : {"b.db", "a.db"}) ASSERT_OK(ba.merge(file(name)));
  EXPECT_EQ(all_cells(ab).size(), 5U);
  EXPECT_EQ(all_cells(ab), all_cells(ba));
  EXPECT_EQ(ab.devices()->size(), 2U);
}

TEST_F(StoreTest, MergeWithItselfAddsNothing) {
  Store store = open(db());
  ASSERT_OK(store.put_measurement(rich(1)));
  const Result<MergeCount> count = store.merge(db());
  ASSERT_OK(count);
  EXPECT_EQ(count->measurements_skipped, 1);
}

TEST_F(StoreTest, MergeOfWhatIsNoStoreChangesNothing) {
  Store store = open(db());
  ASSERT_OK(store.put_measurement(rich(1)));
  write(file("page.html"), "<!DOCTYPE html><html></html>");
  EXPECT_FALSE(store.merge(file("page.html")).ok());
  EXPECT_FALSE(store.merge(file("absent.db")).ok());
  EXPECT_EQ(all_cells(store).size(), 1U);
}

TEST_F(StoreTest, MergeLeavesOutDamagedCells) {
  {
    Store other = open(file("other.db"));
    for (const int number : {1, 2, 3, 4}) ASSERT_OK(other.put_measurement(rich(number)));
    Trace trace;
    trace.id = TraceId("00000000000000f1");
    trace.measurement = id_of(2);
    trace.format = "chrome";
    ASSERT_OK(other.put_trace(trace, {}));
  }
  run_sql(file("other.db"),
          "UPDATE process SET warmup_ns = -1 WHERE measurement = 2 AND process = 1;"
          "UPDATE samples SET data = x'0101' WHERE measurement = 3 AND process = 0 AND quantity = 4;");
  Store store = open(db());
  const Result<MergeCount> count = store.merge(file("other.db"));
  ASSERT_OK(count);
  EXPECT_EQ(count->measurements_added, 2);
  EXPECT_EQ(count->measurements_damaged, 2);
  EXPECT_EQ(count->traces_added, 0);
  ASSERT_EQ(count->problems.size(), 2U);  // newest first
  EXPECT_NE(count->problems[0].find(id_of(3).str()), std::string::npos) << count->problems[0];
  EXPECT_NE(count->problems[1].find("column warmup_ns to be at least 0"), std::string::npos)
      << count->problems[1];
  EXPECT_EQ(all_cells(store), (std::vector<std::string>{describe(rich(4)), describe(rich(1))}));

  const Result<MergeCount> again = store.merge(file("other.db"));
  ASSERT_OK(again);
  EXPECT_EQ(again->measurements_skipped, 2);
  EXPECT_EQ(again->measurements_damaged, 2);
}

TEST_F(StoreTest, MergeRefusesAStoreWhoseSweepIsGone) {
  {
    Store other = open(file("other.db"));
    Sweep sweep;
    sweep.id = SweepId("00000000000000aa");
    ASSERT_OK(other.create_sweep(sweep));
    Measurement m = rich(1);
    m.sweep = sweep.id;
    ASSERT_OK(other.put_measurement(m));
    ASSERT_OK(other.put_measurement(rich(2)));
  }
  run_sql(file("other.db"), "PRAGMA foreign_keys = OFF; DELETE FROM sweep");
  Store store = open(db());
  const Result<MergeCount> count = store.merge(file("other.db"));
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().kind(), ErrorKind::kBadInput);
  EXPECT_EQ(count.error().message(),
            "merging '" + file("other.db") +
                "': expected sweep '00000000000000aa' of measurement 0000000000000001, found no such sweep: "
                "the store is damaged, and none of it was merged; restore it from a copy");
  EXPECT_TRUE(all_cells(store).empty());
}

// Rows that no store takes, since they are there twice: the other store's fault, and not a bug of ours.
TEST_F(StoreTest, MergeRefusesAStoreWhoseRowsContradictEachOther) {
  {
    Store other = open(file("other.db"));
    ASSERT_OK(other.put_measurement(rich(1)));
  }
  run_sql(
      file("other.db"),
      "CREATE TABLE twice AS SELECT * FROM setting; INSERT INTO twice SELECT * FROM setting;"
      "DROP TABLE setting; ALTER TABLE twice RENAME TO setting;"
      "CREATE TABLE samples_twice AS SELECT * FROM samples; INSERT INTO samples_twice SELECT * FROM samples;"
      "DROP TABLE samples; ALTER TABLE samples_twice RENAME TO samples");
  Store store = open(db());
  const Result<MergeCount> count = store.merge(file("other.db"));
  ASSERT_FALSE(count.ok());
  EXPECT_EQ(count.error().kind(), ErrorKind::kBadInput);
  EXPECT_NE(
      count.error().message().find("merging '" + file("other.db") + "': expected rows that a store takes"),
      std::string::npos)
      << count.error().message();
  EXPECT_TRUE(all_cells(store).empty());
}

}  // namespace
}  // namespace deepgap::store
