#include "store/store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "core/diagnostic.h"
#include "store/test_support.h"

namespace deepgap::store {
namespace {

Measurement full_measurement() {
  Measurement m = make_measurement(7, 2);
  m.sweep = SweepId("00000000000000aa");
  m.key.workload.dims = {{"seq", 128}, {"width", 7}};
  m.key.workload.precision = Precision::kInt8;
  m.key.workload.mode = Mode::kThroughput;
  m.origin = "import:csv";
  m.target = 0.01;
  m.device.ceilings = {
      {"bandwidth.memory", 12.5e9, Unit::kBytesPerSecond, Origin::kMeasured, "stream, 1 GiB"}};
  m.processes[1].window = Nanoseconds(6'000'000'000);
  for (ProcessRun& run : m.processes) run.completed = 5;
  m.processes[1].peak_device_memory = Bytes{5};
  m.processes[1].load_time.reset();
  m.processes[1].first_call.reset();
  m.processes[1].peak_memory.reset();
  m.processes[1].samples.enqueue_ns = {1, 2, 3, 4, 5};
  m.processes[1].samples.device_ns = {10'000'000'000, 2, 3, 4, 5};
  m.settings = {
      {"cpu.threads", "2", "2"}, {"cpu.governor", std::nullopt, "powersave"}, {"x.y", "a", std::nullopt}};
  m.diagnostics = {diagnose(diagnostics::kForeignLoad, "cell", "others used 38 % of the cores", 4),
                   diagnose(diagnostics::kTwoRegimes, "process 1", "two levels")};
  m.telemetry = {{"temperature", "hwmon:0", Unit::kCelsius, {1, 2, 3'000'000'000'000}, {50.5, 51.25, 0.1}}};
  m.accuracy = {{"openvino/cpu/fp32", "top1_agreement", 0.998, 1000}};
  // Of one process each.
  m.settings.push_back({"cpu.governor", std::nullopt, "performance", 1});
  m.diagnostics[1].process = 1;
  m.telemetry.push_back(m.telemetry[0]);
  m.telemetry[1].process = 0;
  m.accuracy.push_back({"openvino/cpu/fp32", "relative_l2", 0.25, 10, 1});
  m.reported = {{.metric = "p99", .value = 1.5e6, .unit = Unit::kNanoseconds, .n = 100, .process = 0},
                {.metric = "throughput", .value = 812.5, .unit = Unit::kSamplesPerSecond, .process = 1}};
  m.failure = CellFailure{"out_of_memory", "asked for more", Bytes{1'000'000'000'000}};
  return m;
}

Sweep make_sweep(const std::string& id, std::int64_t created) {
  Sweep sweep;
  sweep.id = SweepId(id);
  sweep.created_realtime_ns = created;
  sweep.command_line = "deepgap run resnet50";
  sweep.seed = 18'446'744'073'709'551'615U;  // the largest: it must not become negative
  sweep.plan_json = R"({"cells":[]})";
  return sweep;
}

std::vector<std::string> ids_of(Store& store, const Filter& filter) {
  std::vector<std::string> ids;
  const Result<Visited> visited = store.for_each(filter, LoadDepth::kHeader, [&ids](Measurement& m) {
    ids.push_back(m.id.str());
    return true;
  });
  EXPECT_OK(visited);
  return ids;
}

Filter matching(const std::string& selector) {
  return {.selector = Selector::parse(selector).value(), .sweep = {}};
}

TEST_F(StoreTest, EveryFieldComesBack) {
  const Measurement m = full_measurement();
  {
    Store store = open(db());
    ASSERT_OK(store.create_sweep(make_sweep(m.sweep.str(), 1)));
    ASSERT_OK(store.put_measurement(m));
  }
  Store store = open(db(), OpenMode::kRead);
  const Result<Measurement> loaded = store.load(m.id);
  ASSERT_OK(loaded);
  EXPECT_EQ(describe(*loaded), describe(m));
}

TEST_F(StoreTest, ListDepthHasHostAndStartTimesAndDiagnosticsOnly) {
  Measurement m = full_measurement();
  m.sweep = {};
  Store store = open(db());
  ASSERT_OK(store.put_measurement(m));
  Measurement expected = m;
  for (ProcessRun& run : expected.processes) {
    run.samples.enqueue_ns.clear();
    run.samples.device_ns.clear();
  }
  expected.device.facts.clear();
  expected.device.ceilings.clear();
  expected.settings.clear();
  expected.telemetry.clear();
  expected.accuracy.clear();
  expected.reported.clear();
  std::string found;
  ASSERT_OK(store.for_each({}, LoadDepth::kListColumns, [&found](Measurement& cell) {
    found = describe(cell);
    return true;
  }));
  EXPECT_EQ(found, describe(expected));
}

TEST_F(StoreTest, VisitsAppendProcesses) {
  Store store = open(db());
  Measurement m = make_measurement(1);
  m.settings = {{"cpu.threads", "2", std::nullopt}, {"cpu.governor", std::nullopt, "powersave"}};
  ASSERT_OK(store.put_measurement(m));
  for (const int index : {0, 2, 1}) {  // rounds may be resumed in any order
    CellVisit visit;
    visit.process = make_process(index);
    visit.settings = {{"cpu.threads", "2", "2"},
                      {"cpu.governor", std::nullopt, index == 2 ? "performance" : "powersave"}};
    visit.diagnostics = {diagnose(diagnostics::kStealTime, "process", std::to_string(index))};
    visit.telemetry = {{"power", "rapl", Unit::kWatts, {index}, {1.0}}};
    ASSERT_OK(store.append_visit(m.id, visit));
  }
  const Result<Measurement> loaded = store.load(m.id);
  ASSERT_OK(loaded);
  ASSERT_EQ(loaded->processes.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(loaded->processes[static_cast<std::size_t>(i)].index, i);
    EXPECT_EQ(loaded->processes[static_cast<std::size_t>(i)].samples.host_ns,
              make_process(i).samples.host_ns);
  }
  EXPECT_EQ(loaded->sample_count(), 15);
  const std::vector<Setting> settings = joined(loaded->settings);
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].effective, "2");
  EXPECT_EQ(settings[1].effective, "powersave | performance");
  ASSERT_EQ(loaded->diagnostics.size(), 3U);
  ASSERT_EQ(loaded->telemetry.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const int process = std::vector{0, 2, 1}[i];
    EXPECT_EQ(loaded->diagnostics[i].process, process);
    EXPECT_EQ(loaded->diagnostics[i].text, std::to_string(process));
    EXPECT_EQ(loaded->telemetry[i].process, process);
    EXPECT_EQ(loaded->telemetry[i].at_ns, std::vector<std::int64_t>{process});
  }
  for (const Setting& setting : loaded->settings) {
    if (setting.name != "cpu.governor") continue;
    // What the cell has, and where process 2 differs.
    EXPECT_EQ(setting.process, setting.effective == "performance" ? std::optional(2) : std::nullopt);
  }
}

TEST_F(StoreTest, RefusedVisitLeavesNothingBehind) {
  Store store = open(db());
  ASSERT_OK(store.put_measurement(make_measurement(1, 1)));
  const std::string before = describe(store.load(id_of(1)).value());
  CellVisit again;
  again.process = make_process(0);
  const Result<void> twice = store.append_visit(id_of(1), again);
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().kind(), ErrorKind::kInternal);
  EXPECT_NE(twice.error().message().find("found process 0 stored"), std::string::npos);
  CellVisit uneven;
  uneven.process = make_process(1);
  uneven.process->samples.start_ns.pop_back();
  uneven.diagnostics = {diagnose(diagnostics::kStealTime, "x", "y")};
  EXPECT_FALSE(store.append_visit(id_of(1), uneven).ok());
  EXPECT_FALSE(store.append_visit(id_of(2), again).ok());
  EXPECT_EQ(store.put_measurement(make_measurement(1)).error().message(),
            "expected a new measurement, found '0000000000000001' stored already");
  Measurement of_no_sweep = make_measurement(2);
  of_no_sweep.sweep = SweepId("00000000000000bb");
  EXPECT_FALSE(store.put_measurement(of_no_sweep).ok());
  EXPECT_EQ(describe(store.load(id_of(1)).value()), before);
  EXPECT_EQ(ids_of(store, {}).size(), 1U);
}

TEST_F(StoreTest, FailureIsSetAndTakenAway) {
  Store store = open(db());
  ASSERT_OK(store.put_measurement(make_measurement(1)));
  CellVisit crash;
  crash.failure = CellFailure{"crash", "signal 11", std::nullopt};
  ASSERT_OK(store.append_visit(id_of(1), crash));
  EXPECT_EQ(store.load(id_of(1))->failure->kind, "crash");
  ASSERT_OK(store.set_failure(id_of(1), CellFailure{"hang", "no answer", std::nullopt}));
  EXPECT_EQ(store.headers({})->front().failure->kind, "hang");
  ASSERT_OK(store.set_failure(id_of(1), std::nullopt));
  EXPECT_FALSE(store.load(id_of(1))->failure.has_value());
}

TEST_F(StoreTest, NewestFirstByTimeThenByOrderOfStoring) {
  Store store = open(db());
  for (const int number : {2, 9, 4}) ASSERT_OK(store.put_measurement(make_measurement(number)));
  Measurement same_time = make_measurement(4);
  same_time.id = id_of(5);
  ASSERT_OK(store.put_measurement(same_time));
  const std::vector<std::string> expected = {id_of(9).str(), id_of(5).str(), id_of(4).str(), id_of(2).str()};
  EXPECT_EQ(ids_of(store, {}), expected);
  EXPECT_EQ(store.newest({})->value(), id_of(9));
}

TEST_F(StoreTest, FiltersBySelectorDeviceNamesAndSweep) {
  Store store = open(db());
  ASSERT_OK(store.create_sweep(make_sweep("00000000000000aa", 1)));
  Measurement a = make_measurement(1, 1);
  a.sweep = SweepId("00000000000000aa");
  Measurement b = make_measurement(2, 2);
  b.key.workload.model = "resnet18";
  b.key.workload.batch = 16;
  Measurement c = make_measurement(3);
  c.key.workload.mode = Mode::kThroughput;
  c.device.name = "AMD EPYC";
  c.device.aliases = {"epyc"};
  for (const Measurement& m : {a, b, c}) ASSERT_OK(store.put_measurement(m));

  const auto numbers = [&store](const Filter& filter) {
    std::vector<int> found;
    for (const std::string& id : ids_of(store, filter)) found.push_back(std::stoi(id, nullptr, 16));
    return found;
  };
  EXPECT_EQ(numbers(matching("*")), (std::vector<int>{3, 2, 1}));
  EXPECT_EQ(numbers(matching("resnet50/openvino/cpu/fp32/b8")), (std::vector<int>{1}));
  EXPECT_EQ(numbers(matching("resnet*/*/*/*/*")), (std::vector<int>{2, 1}));
  EXPECT_EQ(numbers(matching("*/*/xeon/*/*")), (std::vector<int>{2, 1}));
  EXPECT_EQ(numbers(matching("*/*/epyc/*/*/throughput")), (std::vector<int>{3}));
  EXPECT_EQ(numbers(matching("*/*/*/*/16")), (std::vector<int>{2}));
  EXPECT_EQ(numbers(matching("*/torch/*/*/*")), std::vector<int>{});
  EXPECT_EQ(numbers({.selector = {}, .sweep = SweepId("00000000000000aa")}), (std::vector<int>{1}));

  const std::vector<MeasurementHeader> headers = store.headers(matching("resnet18/*/*/*/*")).value();
  ASSERT_EQ(headers.size(), 1U);
  EXPECT_EQ(headers[0].id, id_of(2));
  EXPECT_EQ(headers[0].processes, (std::vector<int>{0, 1}));
  EXPECT_EQ(headers[0].samples, 10);
  EXPECT_EQ(headers[0].device_aliases, b.device.aliases);
  EXPECT_FALSE(store.newest(matching("*/torch/*/*/*"))->has_value());
}

// The walk reads child tables in step with it; loads of single cells do not. Both must give the same, in any
// order of keys and times, with most cells passed over, and with children that few cells have.
TEST_F(StoreTest, WalkGivesWhatSingleLoadsGive) {
  Store store = open(db());
  Random random(1);
  for (int number = 1; number <= 120; ++number) {
    Measurement m = make_measurement(number);
    m.created_realtime_ns = static_cast<std::int64_t>(random.below(50));
    m.key.workload.model = random.below(20) == 0 ? "rare" : "common";
    for (std::uint64_t i = random.below(4); i > 0; --i) {
      m.processes.push_back(make_process(static_cast<int>(i), random.below(4)));
    }
    std::reverse(m.processes.begin(), m.processes.end());
    if (random.below(8) == 0) m.diagnostics.push_back(diagnose(diagnostics::kStealTime, "a", m.id.str(), 2));
    if (random.below(8) == 0)
      m.diagnostics.push_back(diagnose(diagnostics::kOutOfMemory, "b", m.id.str(), 3));
    ASSERT_OK(store.put_measurement(m));
  }
  for (const std::string selector : {"*", "rare/*/*/*/*"}) {
    std::vector<std::string> walked;
    std::vector<MeasurementId> ids;
    ASSERT_OK(store.for_each(matching(selector), LoadDepth::kAll, [&](Measurement& m) {
      ids.push_back(m.id);
      walked.push_back(describe(m));
      if (ids.size() % 3 == 0) const Measurement taken = std::move(m);  // a visitor may keep what it got
      return true;
    }));
    ASSERT_GT(ids.size(), 1U);
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(walked[i], describe(store.load(ids[i]).value()));
  }
}

TEST_F(StoreTest, VisitorStopsAndMustNotWrite) {
  Store store = open(db());
  for (int i = 1; i <= 3; ++i) ASSERT_OK(store.put_measurement(make_measurement(i)));
  const Result<Visited> visited = store.for_each({}, LoadDepth::kAll, [&store](Measurement& m) {
    EXPECT_FALSE(store.set_failure(m.id, std::nullopt).ok());
    EXPECT_OK(store.load(m.id));  // reading is fine
    return false;
  });
  ASSERT_OK(visited);
  EXPECT_EQ(visited->cells, 1);
  EXPECT_OK(store.put_measurement(make_measurement(4)));
}

TEST_F(StoreTest, ResolvesPrefixes) {
  Store store = open(db());
  for (const std::string id : {"ab00000000000000", "ab10000000000000", "cd00000000000000"}) {
    Measurement m = make_measurement(1);
    m.id = MeasurementId(id);
    ASSERT_OK(store.put_measurement(m));
  }
  EXPECT_EQ(store.resolve_prefix("C")->str(), "cd00000000000000");
  EXPECT_EQ(store.resolve_prefix("ab1")->str(), "ab10000000000000");
  EXPECT_EQ(store.resolve_prefix("cd00000000000000")->str(), "cd00000000000000");
  EXPECT_EQ(
      store.resolve_prefix("ab").error().message(),
      "expected one measurement whose id begins with 'ab', found several, give more digits: ab00000000000000 "
      "(resnet50/openvino/cpu/fp32/b8/latency), ab10000000000000 (resnet50/openvino/cpu/fp32/b8/latency)");
  EXPECT_EQ(store.resolve_prefix("ab").error().kind(), ErrorKind::kUsage);
  EXPECT_FALSE(store.resolve_prefix("ef").ok());
  EXPECT_FALSE(store.resolve_prefix("").ok());
  EXPECT_FALSE(store.resolve_prefix("a%").ok());
}

TEST_F(StoreTest, SweepsAreKeptForResume) {
  Store store = open(db());
  EXPECT_TRUE(store.sweeps()->empty());
  ASSERT_OK(store.create_sweep(make_sweep("00000000000000aa", 10)));
  ASSERT_OK(store.create_sweep(make_sweep("00000000000000bb", 30)));
  ASSERT_OK(store.create_sweep(make_sweep("00000000000000cc", 20)));
  ASSERT_OK(store.finish_sweep(SweepId("00000000000000bb"), 99));
  const std::vector<Sweep> sweeps = store.sweeps().value();  // the newest first
  ASSERT_EQ(sweeps.size(), 3U);
  EXPECT_EQ(sweeps[0].id.str(), "00000000000000bb");
  EXPECT_EQ(sweeps[0].finished_realtime_ns, 99);
  EXPECT_EQ(sweeps[1].id.str(), "00000000000000cc");
  EXPECT_FALSE(sweeps[1].finished_realtime_ns);
  const Sweep loaded = store.load_sweep(SweepId("00000000000000aa")).value();
  EXPECT_EQ(loaded.seed, 18'446'744'073'709'551'615U);
  EXPECT_EQ(loaded.plan_json, R"({"cells":[]})");
  EXPECT_EQ(loaded.command_line, "deepgap run resnet50");
  EXPECT_FALSE(store.load_sweep(SweepId("00000000000000dd")).ok());
  EXPECT_FALSE(store.finish_sweep(SweepId("00000000000000dd"), 1).ok());
}

TEST_F(StoreTest, DevicesKeepTheirCeilings) {
  Store store = open(db());
  Device device = make_measurement(1).device;
  const auto ceiling = [](double value, Origin origin) {
    return Ceiling{"flops.fp32.vector", value, Unit::kFlopsPerSecond, origin, ""};
  };
  device.ceilings = {ceiling(1e12, Origin::kProbe)};
  ASSERT_OK(store.save_device(device));
  device.ceilings = {ceiling(8e11, Origin::kMeasured)};
  device.aliases = {"new"};
  ASSERT_OK(store.save_device(device));
  device.ceilings = {ceiling(9e11, Origin::kMeasured)};
  ASSERT_OK(store.save_device(device));
  // A measurement that still knows the old value does not bring it back.
  Measurement m = make_measurement(1);
  m.device.ceilings = {ceiling(8e11, Origin::kMeasured)};
  ASSERT_OK(store.put_measurement(m));
  std::vector<Device> devices = store.devices().value();
  ASSERT_EQ(devices.size(), 1U);
  ASSERT_EQ(devices[0].ceilings.size(), 2U);
  EXPECT_EQ(devices[0].ceilings[0].value, 1e12);
  EXPECT_EQ(devices[0].ceilings[1].value, 9e11);
  EXPECT_EQ(devices[0].facts.size(), 2U);
  // But who says so now is believed.
  ASSERT_OK(store.save_device(m.device));
  EXPECT_EQ(store.devices()->front().ceilings[1].value, 8e11);
  device.facts[0].value = "4";
  ASSERT_OK(store.save_device(device));
  EXPECT_EQ(store.devices()->size(), 2U);
}

TEST_F(StoreTest, OneTransactionIsAllOrNothing) {
  Store store = open(db());
  const Result<void> failed = store.in_one_transaction([&store]() -> Result<void> {
    DEEPGAP_RETURN_IF_ERROR(store.put_measurement(make_measurement(1)));
    EXPECT_FALSE(store.put_measurement(make_measurement(1)).ok());  // a failed part does not end the whole
    DEEPGAP_RETURN_IF_ERROR(store.put_measurement(make_measurement(2)));
    EXPECT_EQ(ids_of(store, {}).size(), 2U);
    return bad_input("no");
  });
  EXPECT_EQ(failed.error().message(), "no");
  EXPECT_TRUE(ids_of(store, {}).empty());
  ASSERT_OK(store.in_one_transaction([&store] { return store.put_measurement(make_measurement(1)); }));
  EXPECT_EQ(ids_of(store, {}).size(), 1U);
}

TEST_F(StoreTest, UnknownNumbersStayUnknown) {
  Store store = open(db());
  Measurement m = make_measurement(1);
  m.accuracy = {{"a", "relative_l2", std::nan(""), 1}};
  m.telemetry = {{"power", "x", Unit::kWatts, {1}, {std::nan("")}}, {"empty", "x", Unit::kWatts, {}, {}}};
  ASSERT_OK(store.put_measurement(m));
  const Measurement loaded = store.load(m.id).value();
  EXPECT_TRUE(std::isnan(loaded.accuracy[0].value));
  EXPECT_TRUE(std::isnan(loaded.telemetry[0].values[0]));
  EXPECT_TRUE(loaded.telemetry[1].values.empty());
}

TEST_F(StoreTest, DamagedCellIsNamedAndHidesNoOther) {
  {
    Store store = open(db());
    for (int i = 1; i <= 6; ++i) ASSERT_OK(store.put_measurement(make_measurement(i, 2)));
  }
  run_sql(db(),
          "UPDATE samples SET data = x'0101' WHERE quantity = 1 AND measurement = 2 AND process = 1;"
          "DELETE FROM samples WHERE quantity = 1 AND measurement = 3 AND process = 0;"
          "UPDATE measurement SET precision = 'fp5' WHERE key = 4;"
          "UPDATE process SET stop_reason = 'x', samples = -1 WHERE measurement = 5;"
          "UPDATE process SET samples = 1000000000000 WHERE measurement = 6;");
  Store store = open(db(), OpenMode::kRead);
  std::vector<std::string> seen;
  const Result<Visited> visited = store.for_each({}, LoadDepth::kListColumns, [&seen](Measurement& m) {
    seen.push_back(m.id.str());
    return true;
  });
  ASSERT_OK(visited);
  EXPECT_EQ(seen, std::vector<std::string>{id_of(1).str()});
  EXPECT_EQ(visited->cells, 1);
  EXPECT_EQ(visited->damaged, 5);
  ASSERT_EQ(visited->problems.size(), 5U);
  const std::string where = fmt::format("of the store '{}': process 1: column host_ns is damaged: ", db());
  EXPECT_EQ(visited->problems[4], "measurement 0000000000000002 (resnet50/openvino/cpu/fp32/b8) " + where +
                                      "expected whole numbers of 4 bytes, found 1 bytes in encoding 1");
  const Result<Measurement> loaded = store.load(id_of(2));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message(), visited->problems[4]);
  EXPECT_EQ(loaded.error().kind(), ErrorKind::kBadInput);
}

// What a store says that no measuring gives: the cell is damaged, and no other.
TEST_F(StoreTest, ValuesThatNoMeasuringGivesDamageTheCell) {
  {
    Store store = open(file("whole.db"));
    ASSERT_OK(store.put_measurement(make_measurement(1, 1)));
    Measurement in_flight = make_measurement(2);
    in_flight.key.workload.mode = Mode::kThroughput;
    in_flight.processes = {make_process(0, 1)};
    in_flight.processes[0].completed = 1;
    in_flight.processes[0].window = Nanoseconds(3'000'000);
    ASSERT_OK(store.put_measurement(in_flight));
  }
  const std::string whole = read(file("whole.db"));
  // How many cells can be read after the change, and what is said of the other.
  const auto read_with = [&](const std::string& change) {
    write(db(), whole);
    run_sql(db(), change);
    Store store = open(db(), OpenMode::kRead);
    const Result<Visited> visited =
        store.for_each({}, LoadDepth::kListColumns, [](Measurement&) { return true; });
    EXPECT_OK(visited);
    EXPECT_EQ(visited->cells + visited->damaged, 2) << change;
    return visited->problems.empty() ? std::string() : visited->problems.front();
  };
  struct Change {
    std::string_view table;
    std::string_view set;
    std::string_view said;
  };
  constexpr Change kChanges[] = {
      {"measurement", "batch = 0", "column batch to be from 1 to 1000000, found '0'"},
      {"measurement", "batch = -8", "column batch to be from 1 to 1000000, found '-8'"},
      {"measurement", "batch = 1000001", "column batch to be from 1 to 1000000, found '1000001'"},
      {"measurement", "planned_processes = -1", "column planned_processes to be from 0 to 2147483647"},
      {"process", "load_ns = -1", "column load_ns to be at least 0, found '-1'"},
      {"process", "first_call_ns = 0", "column first_call_ns to be at least 1, found '0'"},
      {"process", "warmup_calls = -1", "column warmup_calls to be at least 0"},
      {"process", "warmup_ns = -1", "column warmup_ns to be at least 0"},
      {"process", "window_ns = 0", "column window_ns to be at least 1, found '0'"},
      {"process", "window_ns = -9", "column window_ns to be at least 1, found '-9'"},
      {"process", "completed = -1", "column completed to be at least 0"},
      {"process", "completed = 2",
       "column completed to be the number of samples, 1, in throughput mode, found '2'"},
      {"process", "peak_memory = -1", "column peak_memory to be at least 0"},
      {"process", "peak_device_memory = -1", "column peak_device_memory to be at least 0"},
      {"samples", "data = x'0100000000'", "times above 0 in column host_ns, found '0'"},
      {"samples", "data = x'02ffffffffffffffff'", "times above 0 in column host_ns, found '-1'"},
  };
  for (const Change& change : kChanges) {
    const std::string where = change.table == "measurement" ? "key = 2"
                              : change.table == "process"   ? "measurement = 2"
                                                            : "measurement = 2 AND quantity = 1";
    const std::string said =
        read_with(fmt::format("UPDATE {} SET {} WHERE {}", change.table, change.set, where));
    EXPECT_NE(said.find(change.said), std::string::npos) << change.set << ": " << said;
    EXPECT_NE(said.find(id_of(2).str()), std::string::npos) << said;
  }
  // The ends of what is possible.
  EXPECT_EQ(read_with("UPDATE measurement SET batch = 1000000 WHERE key = 2; UPDATE process SET load_ns = 0, "
                      "first_call_ns = 1, warmup_calls = 0, warmup_ns = 0, window_ns = 1, peak_memory = 0"),
            "");
  EXPECT_EQ(read_with("UPDATE process SET load_ns = NULL, first_call_ns = NULL, peak_memory = NULL"), "");
}

}  // namespace
}  // namespace deepgap::store
