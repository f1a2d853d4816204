#include "store/open.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/random.h"
#include "base/text.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store/test_support.h"

namespace deepgap::store {
namespace {

constexpr int kNobody = 65534;

std::int64_t count_cells(Store& store) {
  const Result<Visited> visited = store.for_each({}, LoadDepth::kAll, [](Measurement&) { return true; });
  return visited.ok() ? visited->cells : -1;
}

// The error of opening, for reading and for writing alike; "" where it works.
std::string error_of_both(const std::string& path) {
  std::string message;
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite}) {
    const Result<Store> store = Store::open(path, mode);
    if (store.ok()) return "";
    EXPECT_EQ(store.error().kind(), ErrorKind::kBadInput);
    if (!message.empty()) {
      EXPECT_EQ(store.error().message(), message);
    }
    message = store.error().message();
  }
  return message;
}

std::string expected_error(const std::string& path, const std::string& found) {
  return fmt::format("expected a deepgap store in '{}', found {}: name another file with --db", path, found);
}

TEST_F(StoreTest, AbsentFileIsMadeForWritingOnly) {
  const Result<Store> absent = Store::open(db(), OpenMode::kRead);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind(), ErrorKind::kBadInput);
  EXPECT_EQ(absent.error().message(),
            fmt::format(
                "expected a deepgap store in '{}', found no such file: measure something with `deepgap run`, "
                "or name another store with --db",
                db()));
  EXPECT_FALSE(std::filesystem::exists(db()));
  { const Store made = open(db()); }
  Store store = open(db(), OpenMode::kRead);
  EXPECT_EQ(count_cells(store), 0);
  EXPECT_FALSE(Store::open("", OpenMode::kRead).ok());
  EXPECT_FALSE(Store::open(file("no/such/folder.db"), OpenMode::kWrite).ok());
}

TEST_F(StoreTest, EmptyFileIsANewStore) {
  write(db(), "");
  {
    Store reading = open(db(), OpenMode::kRead);
    EXPECT_EQ(count_cells(reading), 0);
    EXPECT_FALSE(reading.put_measurement(make_measurement(1)).ok());
  }
  EXPECT_EQ(std::filesystem::file_size(db()), 0U);
  Store writing = open(db());
  EXPECT_OK(writing.put_measurement(make_measurement(1)));
}

TEST_F(StoreTest, WhatIsNoStoreIsSaid) {
  const std::string path = file("thing");
  write(path, "\n <!DOCTYPE html><html><body>404</body></html>");
  EXPECT_EQ(error_of_both(path), expected_error(path, "an HTML or XML page"));
  write(path, R"({"traceEvents": []})");
  EXPECT_EQ(error_of_both(path), expected_error(path, "JSON text"));
  write(path, "\x1f\x8b\x08 and so on");
  EXPECT_EQ(error_of_both(path), expected_error(path, "a compressed file"));
  write(path, "just some words");
  EXPECT_EQ(error_of_both(path), expected_error(path, "15 bytes that do not begin as an SQLite file does"));
  write(path, "SQLite form");
  EXPECT_EQ(error_of_both(path), expected_error(path, "an SQLite file that was cut off after 11 bytes"));
  EXPECT_EQ(error_of_both(folder()), expected_error(folder(), "a folder"));
  EXPECT_EQ(error_of_both("/dev/null"), expected_error("/dev/null", "something that is no regular file"));
  const std::string pipe = file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of_both(pipe), expected_error(pipe, "something that is no regular file"));
  const std::string foreign = file("foreign.db");
  run_sql(foreign, "CREATE TABLE notes (text)");
  EXPECT_EQ(error_of_both(foreign), expected_error(foreign, "an SQLite database of another program"));
  run_sql(foreign, "DROP TABLE notes; PRAGMA application_id = 252006673");
  EXPECT_EQ(error_of_both(foreign), expected_error(foreign, "an SQLite database of another program"));
}

TEST_F(StoreTest, CutOffStoreIsSaidAndLeftAlone) {
  {
    Store store = open(db());
    for (int i = 0; i < 20; ++i) ASSERT_OK(store.put_measurement(make_measurement(i, 2)));
  }
  const std::string whole = read(db());
  for (const std::size_t size : {std::size_t{17}, std::size_t{99}, std::size_t{100}, std::size_t{8192},
                                 whole.size() / 2, whole.size() - 1}) {
    write(db(), std::string_view(whole).substr(0, size));
    const std::string message = error_of_both(db());
    EXPECT_NE(message.find(fmt::format("cut off after {} bytes", size)), std::string::npos)
        << size << " " << message;
    EXPECT_EQ(read(db()).size(), size);
  }
}

// Whatever is wrong with a store's bytes, it is an error or a damaged cell, never a crash or an endless loop.
TEST_F(StoreTest, FlippedBytesNeverCrash) {
  {
    Store store = open(db());
    for (int i = 0; i < 10; ++i) ASSERT_OK(store.put_measurement(make_measurement(i, 2)));
  }
  const std::string whole = read(db());
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (std::uint64_t flips = 1 + random.below(20); flips > 0; --flips) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    write(db(), bytes);
    Result<Store> store = Store::open(db(), OpenMode::kRead);
    if (!store.ok()) continue;
    count_cells(*store);
    const Result<MeasurementId> id = store->resolve_prefix("0");
    static_cast<void>(id.ok());
  }
}

// SQLite quotes names of the file when it says what is wrong with it.
TEST_F(StoreTest, NamesInADamagedSchemaCannotSteerATerminal) {
  { Store store = open(db()); }
  std::string bytes = read(db());
  for (std::size_t at = bytes.find("sqlite_autoindex"); at != std::string::npos;
       at = bytes.find("sqlite_autoindex", at)) {
    bytes.replace(at, 16, "sqlite_auto\x1b[31m");
  }
  write(db(), bytes);
  const Result<Store> store = Store::open(db(), OpenMode::kRead);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().message().find('\x1b'), std::string::npos) << store.error().message();
}

TEST_F(StoreTest, SpecialCharactersInThePath) {
  for (const std::string name : {"a?mode=memory", "b#c", "d%20e", "with space.db", "file:x.db"}) {
    { Store store = open(file(name)); }
    EXPECT_TRUE(std::filesystem::exists(file(name))) << name;
    Store store = open("//" + file(name).substr(1), OpenMode::kRead);
    EXPECT_EQ(count_cells(store), 0);
  }
}

TEST_F(StoreTest, ReadingChangesNothingAndRefusesToWrite) {
  {
    Store store = open(db());
    ASSERT_OK(store.put_measurement(make_measurement(1, 1)));
  }
  const std::string before = read(db());
  {
    Store store = open(db(), OpenMode::kRead);
    EXPECT_EQ(count_cells(store), 1);
    const Result<void> refused = store.put_measurement(make_measurement(2));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind(), ErrorKind::kBadInput);
  }
  EXPECT_EQ(read(db()), before);
  EXPECT_FALSE(std::filesystem::exists(db() + "-wal"));
  EXPECT_FALSE(std::filesystem::exists(db() + "-shm"));
}

// Permissions do not hold root back, so a child gives up its rights first.
int as_nobody(const std::function<int()>& body) {
  return wait_for(fork_child([&body] {
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) return 98;
    return body();
  }));
}

TEST_F(StoreTest, ReadOnlyFolderAndFile) {
  {
    Store store = open(db());
    ASSERT_OK(store.put_measurement(make_measurement(1, 1)));
  }
  ASSERT_EQ(chmod(db().c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder().c_str(), 0555), 0);
  const std::string message = file("message");
  const int status = as_nobody([this] {
    Result<Store> store = Store::open(db(), OpenMode::kRead);
    if (!store.ok()) return 1;
    if (count_cells(*store) != 1) return 2;
    const Result<Store> writing = Store::open(db(), OpenMode::kWrite);
    if (writing.ok()) return 3;
    const std::string& text = writing.error().message();
    if (text !=
        fmt::format(
            "expected to write to the store '{}', found it read-only: give write permission to the file "
            "and its folder, or name another store with --db",
            db())) {
      return 4;
    }
    const Result<Store> made = Store::open(file("new.db"), OpenMode::kWrite);
    return !made.ok() && made.error().message().find("(Permission denied)") != std::string::npos ? 0 : 5;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 1);
}

TEST_F(StoreTest, WritableFileInAReadOnlyFolderCanBeRead) {
  { Store store = open(db()); }
  ASSERT_EQ(chmod(db().c_str(), 0666), 0);
  ASSERT_EQ(chmod(folder().c_str(), 0555), 0);
  const int status = as_nobody([this] {
    Result<Store> store = Store::open(db(), OpenMode::kRead);
    if (!store.ok() || count_cells(*store) != 0) return 1;
    const Result<Store> writing = Store::open(db(), OpenMode::kWrite);
    return !writing.ok() && writing.error().kind() == ErrorKind::kBadInput ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(StoreTest, ReadOnlyFolderWithAnUnfinishedJournalIsRefused) {
  // Killed while the journal still holds the cell: an immutable reading would not see it.
  ASSERT_EQ(wait_for(fork_child([this] {
              Result<Store> store = Store::open(db(), OpenMode::kWrite);
              if (!store.ok() || !store->put_measurement(make_measurement(1)).ok()) return 1;
              _exit(0);
            })),
            0);
  ASSERT_TRUE(std::filesystem::exists(db() + "-wal"));
  std::filesystem::remove(db() + "-shm");
  ASSERT_EQ(chmod(folder().c_str(), 0555), 0);
  const int status = as_nobody([this] {
    const Result<Store> store = Store::open(db(), OpenMode::kRead);
    return store.ok() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  ASSERT_EQ(chmod(folder().c_str(), 0755), 0);
  Store store = open(db(), OpenMode::kRead);
  EXPECT_EQ(count_cells(store), 1);
}

TEST_F(StoreTest, BusyStoreIsSaid) {
  auto first = open_connection(db(), OpenMode::kWrite, current_schema());
  ASSERT_OK(first);
  auto second = open_connection(db(), OpenMode::kWrite, current_schema());
  ASSERT_OK(second);
  const Result<Transaction> held = Transaction::begin_write(**first);
  ASSERT_OK(held);
  sqlite3_busy_timeout((*second)->handle(), 10);
  const Result<Transaction> refused = Transaction::begin_write(**second);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error().message(),
      fmt::format(
          "expected the store '{}' to become free within 20 s, found it still locked by another process: "
          "wait for that one to end, or name another store with --db",
          db()));
}

// Tables that another program changed are said when the store is opened, not when they are missed.
TEST_F(StoreTest, ChangedTablesAreSaid) {
  { Store store = open(file("whole.db")); }
  const std::string whole = read(file("whole.db"));
  const auto said_after = [&](const std::string& change) {
    write(db(), whole);
    run_sql(db(), change);
    return error_of_both(db());
  };
  const auto expected = [this](int version, const std::string& found) {
    return fmt::format(
        "expected the tables of version {} in the store '{}', found {}: another program changed "
        "it; restore it from a copy",
        version, db(), found);
  };
  const int version = current_schema().version;
  EXPECT_EQ(said_after("DROP TABLE reported"), expected(version, "no table 'reported'"));
  EXPECT_EQ(said_after("DROP TABLE reported; CREATE VIEW reported AS SELECT 1 AS run"),
            expected(version, "no table 'reported'"));
  EXPECT_EQ(said_after("ALTER TABLE process RENAME COLUMN completed TO done"),
            expected(version, "no column 'completed' in table 'process'"));
  EXPECT_EQ(said_after("PRAGMA user_version = 1"), "bringing the store from version 1 to 2: " +
                                                       expected(1, "others (duplicate column name: target)"));
  // What others add is theirs.
  write(db(), whole);
  run_sql(db(), "CREATE TABLE notes (text); ALTER TABLE measurement ADD COLUMN note TEXT");
  Store store = open(db());
  EXPECT_OK(store.put_measurement(make_measurement(1, 1)));
  EXPECT_EQ(count_cells(store), 1);
}

}  // namespace
}  // namespace deepgap::store
