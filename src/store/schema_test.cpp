#include "store/schema.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "store/open.h"
#include "store/sqlite.h"
#include "store/test_support.h"

namespace deepgap::store {
namespace {

// A store of three versions, so that the machinery is tested before the real one has a second.
constexpr std::string_view kTestSchema = R"sql(
  CREATE TABLE cell (key INTEGER PRIMARY KEY, model TEXT NOT NULL, batch INTEGER NOT NULL) STRICT;
  CREATE TABLE sample (cell INTEGER NOT NULL REFERENCES cell (key), host_ns INTEGER) STRICT;
)sql";
constexpr std::string_view kVersion1 = R"sql(
  CREATE TABLE cell (key INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE sample (cell INTEGER NOT NULL REFERENCES cell (key), host_ns INTEGER) STRICT;
  INSERT INTO cell VALUES (1, 'resnet50/8'), (2, 'resnet18/16');
  INSERT INTO sample VALUES (1, 1000), (1, 1001), (2, 500);
  PRAGMA application_id = 0x44476170;
  PRAGMA user_version = 1;
)sql";
constexpr std::string_view kTo2 =
    "ALTER TABLE cell ADD COLUMN batch INTEGER NOT NULL DEFAULT 1;"
    "UPDATE cell SET batch = substr(name, instr(name, '/') + 1)";
// Rebuilds a table that others refer to, which needs foreign keys off meanwhile.
constexpr std::string_view kTo3 = R"sql(
  CREATE TABLE new_cell (key INTEGER PRIMARY KEY, model TEXT NOT NULL, batch INTEGER NOT NULL) STRICT;
  INSERT INTO new_cell SELECT key, substr(name, 1, instr(name, '/') - 1), batch FROM cell;
  DROP TABLE cell;
  ALTER TABLE new_cell RENAME TO cell;
)sql";
constexpr std::array kMigrations = {Migration{2, kTo2}, Migration{3, kTo3}};
const Schema kSchema{3, kTestSchema, kMigrations};

class SchemaTest : public StoreTest {
 protected:
  static void make(const std::string& path, std::string_view sql) { run_sql(path, std::string(sql)); }
  static std::string rows(Connection& connection, std::string_view sql) {
    Result<Statement> query = connection.statement(sql);
    EXPECT_OK(query);
    std::string text;
    while (query->step().value()) {
      for (int column = 0; column < 4; ++column) text += fmt::format("{} ", query->text(column));
      text += "\n";
    }
    return text;
  }
  // Tables, columns and indexes, whatever the words and spaces that made them.
  static std::string shape(Connection& connection) {
    return rows(connection,
                "SELECT m.type || ' ' || m.name, c.name, c.type || c.pk || c.\"notnull\", c.hidden FROM "
                "sqlite_schema m "
                "LEFT JOIN pragma_table_xinfo(m.name) c WHERE m.name NOT LIKE 'sqlite_%' ORDER BY m.name, "
                "c.cid") +
           rows(connection,
                "SELECT m.name, f.\"table\", f.\"from\" || ' ' || ifnull(f.\"to\", ''), f.on_delete FROM "
                "sqlite_schema m "
                "JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq");
  }
};

TEST_F(SchemaTest, MigratesForwardInPlaceForWriting) {
  make(db(), kVersion1);
  const auto connection = open_connection(db(), OpenMode::kWrite, kSchema);
  ASSERT_OK(connection);
  EXPECT_EQ((*connection)->query_integer("PRAGMA user_version").value(), 3);
  EXPECT_EQ(rows(**connection, "SELECT key, model, batch, '' FROM cell ORDER BY key"),
            "1 resnet50 8  \n2 resnet18 16  \n");
  EXPECT_EQ(rows(**connection, "SELECT cell, host_ns, '', '' FROM sample ORDER BY host_ns"),
            "2 500   \n1 1000   \n1 1001   \n");
  const auto fresh = open_connection(file("fresh.db"), OpenMode::kWrite, kSchema);
  ASSERT_OK(fresh);
  EXPECT_EQ(shape(**connection), shape(**fresh));
  // References hold again afterwards.
  EXPECT_FALSE((*connection)->execute("INSERT INTO sample VALUES (9, 1)").ok());
}

TEST_F(SchemaTest, ReadingMigratesACopyAndLeavesTheFile) {
  make(db(), kVersion1);
  const std::string before = read(db());
  {
    const auto connection = open_connection(db(), OpenMode::kRead, kSchema);
    ASSERT_OK(connection);
    EXPECT_EQ((*connection)->query_integer("SELECT batch FROM cell WHERE model = 'resnet18'").value(), 16);
    EXPECT_FALSE((*connection)->execute("DELETE FROM sample").ok());
  }
  EXPECT_EQ(read(db()), before);
}

TEST_F(SchemaTest, FailedMigrationLeavesTheOldVersion) {
  make(db(), kVersion1);
  const std::array broken = {Migration{2, kTo2}, Migration{3, "DROP TABLE cell; DROP TABLE no_such_table"}};
  EXPECT_FALSE(open_connection(db(), OpenMode::kWrite, {3, kTestSchema, broken}).ok());
  // One that leaves rows without what they refer to is as bad.
  const std::array orphans = {Migration{2, "DELETE FROM cell WHERE key = 1"}};
  const auto refused = open_connection(db(), OpenMode::kWrite, {2, kTestSchema, orphans});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(),
            "bringing the store from version 1 to 2: expected rows of table 'sample' to refer to rows that "
            "exist, found "
            "one that does not");
  const auto incomplete =
      open_connection(db(), OpenMode::kWrite, {3, kTestSchema, std::span(kMigrations).first(1)});
  ASSERT_FALSE(incomplete.ok());
  EXPECT_EQ(incomplete.error().kind(), ErrorKind::kInternal);
  const auto connection = open_connection(db(), OpenMode::kRead, {1, kVersion1, {}});
  ASSERT_OK(connection);
  EXPECT_EQ(rows(**connection, "SELECT key, name, '', '' FROM cell ORDER BY key"),
            "1 resnet50/8   \n2 resnet18/16   \n");
}

TEST_F(SchemaTest, NewerVersionIsRefused) {
  make(db(), kVersion1);
  make(db(), "PRAGMA user_version = 4");
  const std::string before = read(db());
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
    const auto refused = open_connection(db(), mode, kSchema);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kBadInput);
    EXPECT_EQ(refused.error().message(),
              fmt::format(
                  "expected a store of version 3 or older in '{}', found version 4, made by a newer deepgap: "
                  "update deepgap, or name another store with --db",
                  db()));
  }
  EXPECT_EQ(read(db()), before);
}

TEST_F(SchemaTest, TwoProcessesMayMigrateOrMakeTheSameFile) {
  make(file("old.db"), kVersion1);
  for (const std::string name : {"old.db", "new.db"}) {
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      children.push_back(
          fork_child([&] { return open_connection(file(name), OpenMode::kWrite, kSchema).ok() ? 0 : 1; }));
    }
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0) << name;
    const auto connection = open_connection(file(name), OpenMode::kRead, kSchema);
    ASSERT_OK(connection);
    EXPECT_EQ((*connection)->query_integer("SELECT count(*) FROM cell").value(), name == "old.db" ? 2 : 0);
  }
}

// The file is the frozen first version with one cell in it, written by hand: it must be readable for ever,
// and the migrations must lead it to the tables of schema.sql. A change of schema.sql without a migration
// fails here.
TEST_F(SchemaTest, FirstVersionCanStillBeReadAndLeadsToTheCurrentTables) {
  const std::string sql = read(DEEPGAP_SOURCE_FOLDER "/src/store/testdata/version_1.sql");
  ASSERT_FALSE(sql.empty());
  make(db(), sql);
  {
    Store store = open(db(), OpenMode::kRead);
    const Result<Measurement> loaded = store.load(MeasurementId("00000000000000c1"));
    ASSERT_OK(loaded);
    EXPECT_EQ(loaded->key.selector(), "resnet50/openvino/cpu/int8/b8");
    EXPECT_EQ(loaded->key.workload.dims.at("seq"), 128);
    ASSERT_EQ(loaded->processes.size(), 1U);
    const SampleColumns& samples = loaded->processes[0].samples;
    EXPECT_EQ(samples.host_ns, (std::vector<std::int64_t>{1'000'000, 1'000'001}));
    EXPECT_EQ(samples.start_ns, (std::vector<std::int64_t>{4'294'967'296, 4'294'967'297}));
    EXPECT_EQ(samples.device_ns, (std::vector<std::int64_t>{-1, -2}));
    ASSERT_EQ(loaded->settings.size(), 1U);
    EXPECT_EQ(loaded->settings[0].effective, "2");
    ASSERT_EQ(loaded->telemetry.size(), 1U);
    EXPECT_EQ(loaded->telemetry[0].values, (std::vector<double>{0.5, -2.0}));
    EXPECT_EQ(store.sweeps()->at(0).seed, 42U);
    EXPECT_EQ(store.op_records(TraceId("00000000000000e1"))->at(0).name, "aten::conv2d");
    EXPECT_EQ(loaded->device.ceilings.at(0).value, 12.5e9);
  }
  const auto migrated = open_connection(db(), OpenMode::kWrite, current_schema());
  ASSERT_OK(migrated);
  const auto fresh = open_connection(file("fresh.db"), OpenMode::kWrite, current_schema());
  ASSERT_OK(fresh);
  EXPECT_EQ(shape(**migrated), shape(**fresh));
  EXPECT_GT(shape(**fresh).size(), 1000U);
}

// Of version 2: the target becomes the cell's, and what was said of it a process at a time goes.
TEST_F(SchemaTest, TargetOfAnOlderStoreIsThatOfItsSettings) {
  make(db(), read(DEEPGAP_SOURCE_FOLDER "/src/store/testdata/version_1.sql"));
  make(db(), R"sql(
    INSERT INTO diagnostic (measurement, process, id, severity, place, text, count)
      SELECT key, 0, 'precision_not_reached', 'warning', 'cell', 'stopped at the time limit', 1 FROM measurement;
  )sql");
  make(file("unknown.db"), read(DEEPGAP_SOURCE_FOLDER "/src/store/testdata/version_1.sql"));
  make(db(), R"sql(
    INSERT INTO setting (measurement, process, name, requested, effective)
      SELECT key, NULL, 'run.target', NULL, '0.02' FROM measurement;
  )sql");
  const MeasurementId id("00000000000000c1");
  const auto count_of_doubts = [](const Measurement& cell) {
    return std::count_if(cell.diagnostics.begin(), cell.diagnostics.end(),
                         [](const Diagnostic& one) { return one.id == "precision_not_reached"; });
  };
  const Result<Measurement> known = open(db(), OpenMode::kRead).load(id);
  ASSERT_OK(known);
  EXPECT_EQ(known->target, 0.02);
  EXPECT_EQ(count_of_doubts(*known), 0);
  const Result<Measurement> unknown = open(file("unknown.db"), OpenMode::kRead).load(id);
  ASSERT_OK(unknown);
  EXPECT_EQ(unknown->target, std::nullopt);
}

// Of version 2: devices that differed only in what changes from moment to moment become one.
TEST_F(SchemaTest, DevicesOfAnOlderStoreThatWereTheSameBecomeOne) {
  make(db(), read(DEEPGAP_SOURCE_FOLDER "/src/store/testdata/version_1.sql"));
  make(db(), R"sql(
    INSERT INTO device_fact VALUES (1, 1, 'memory.available', '100', 'B');
    INSERT INTO device VALUES (2, 'aa', 'cpu', 'cpu', 'A CPU', NULL), (3, 'bb', 'cpu', 'cpu', 'A CPU', NULL);
    INSERT INTO device_fact VALUES (2, 0, 'cores.physical', '2', ''), (2, 1, 'memory.available', '200', 'B');
    INSERT INTO device_fact VALUES (3, 0, 'cores.physical', '4', '');
    INSERT INTO ceiling VALUES (2, 2, 'bandwidth.memory', 12.5e9, 'B/s', 'measured', 'stream');
  )sql");
  Store store = open(db(), OpenMode::kWrite);
  const Result<Measurement> cell = store.load(MeasurementId("00000000000000c1"));
  ASSERT_OK(cell);
  EXPECT_EQ(cell->device.fact("memory.available"), std::nullopt);
  EXPECT_EQ(cell->device.ceilings.size(), 1U);
  const Result<std::vector<Device>> devices = store.devices();
  ASSERT_OK(devices);
  ASSERT_EQ(devices->size(), 2U) << "two of them were the same";
  // Stored again, it is known by its facts although its fingerprint was made of more.
  EXPECT_OK(store.save_device(cell->device));
  EXPECT_EQ(store.devices()->size(), 2U);
}

TEST_F(SchemaTest, MigrationsLeadStepByStepToTheCurrentVersion) {
  int version = 1;
  for (const Migration& migration : current_schema().migrations) EXPECT_EQ(migration.version, ++version);
  EXPECT_EQ(version, current_schema().version);
}

}  // namespace
}  // namespace deepgap::store
