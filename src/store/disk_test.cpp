// A disk that is full: one sentence, and nothing lost that was stored before.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "store/open.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "store/test_support.h"

namespace deepgap::store {
namespace {

constexpr int kCannotMount = 77;

Measurement large_cell(int number) {
  Measurement m = make_measurement(number);
  m.processes = {make_process(0, 1000)};
  return m;
}

// Writes cells until one fails; how many were stored, and the error.
std::pair<int, Error> write_until_full(Store& store) {
  for (int number = 0; number < 10'000; ++number) {
    Result<void> written = store.put_measurement(large_cell(number));
    if (!written.ok()) return {number, std::move(written).error()};
  }
  return {10'000, internal_error("the disk did not become full")};
}

bool is_about_a_full_disk(const Error& error) {
  return error.kind() == ErrorKind::kBadInput &&
         error.message().starts_with("expected room to write to the store '") &&
         error.message().ends_with("free some space and repeat; what was stored before is kept");
}

// All of the first `count` cells are there, whole, and at most one more.
bool has_cells(Store& store, int count) {
  for (int number = 0; number < count; ++number) {
    const Result<Measurement> cell = store.load(id_of(number));
    if (!cell.ok() || describe(*cell) != describe(large_cell(number))) return false;
  }
  const Result<std::vector<MeasurementHeader>> headers = store.headers({});
  return headers.ok() && headers->size() == static_cast<std::size_t>(count);
}

TEST_F(StoreTest, FullDatabaseIsOneSentence) {
  { const Store made = open(db()); }
  auto connection = open_connection(db(), OpenMode::kWrite, current_schema());
  ASSERT_OK(connection);
  ASSERT_OK((*connection)->execute("PRAGMA max_page_count = 60"));
  const Result<void> filled =
      (*connection)->execute("INSERT INTO op_text (text) VALUES (hex(zeroblob(1000000)))");
  ASSERT_FALSE(filled.ok());
  EXPECT_EQ(filled.error().message(),
            fmt::format("expected room to write to the store '{}', found a full disk: free some "
                        "space and repeat; what was stored before is kept",
                        db()));
}

TEST_F(StoreTest, FileSizeLimit) {
  const std::string stored_count = file("count");
  const int status = wait_for(fork_child([&] {
    signal(SIGXFSZ, SIG_IGN);  // or the limit would kill us instead of failing the write
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 1'200'000;
    setrlimit(RLIMIT_FSIZE, &limit);
    Result<Store> store = Store::open(db(), OpenMode::kWrite);
    if (!store.ok()) return 1;
    const auto [count, error] = write_until_full(*store);
    if (!is_about_a_full_disk(error)) return 2;
    write(stored_count, std::to_string(count));
    // The store itself still works for reading.
    return has_cells(*store, count) ? 0 : 3;
  }));
  EXPECT_EQ(status, 0);
  const int count = std::stoi(read(stored_count));
  EXPECT_GT(count, 3);
  Store store = open(db());
  EXPECT_TRUE(has_cells(store, count));
  EXPECT_OK(store.put_measurement(large_cell(count)));
}

// On a small file system of its own; where mounting is not allowed, the two tests above must do.
int fill_a_small_disk(const std::string& folder) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return kCannotMount;
  if (mount("deepgap-test", folder.c_str(), "tmpfs", 0, "size=768k") != 0) return kCannotMount;
  const std::string path = folder + "/small.db";
  const std::string ballast = folder + "/ballast";
  std::ofstream(ballast, std::ios::binary) << std::string(100'000, 'x');
  int count = 0;
  {
    Result<Store> store = Store::open(path, OpenMode::kWrite);
    if (!store.ok()) return 1;
    auto [stored, error] = write_until_full(*store);
    count = stored;
    if (!is_about_a_full_disk(error)) return 2;
    if (count < 3) return 3;
    if (!has_cells(*store, count)) return 4;
    // A transaction of several parts is refused as a whole.
    const Result<void> several = store->in_one_transaction([&]() -> Result<void> {
      static_cast<void>(store->put_measurement(large_cell(count)).ok());
      static_cast<void>(store->put_measurement(large_cell(count + 1)).ok());
      return {};
    });
    if (several.ok() || !has_cells(*store, count)) return 5;
  }
  {
    // Still full, and the journal may still hold cells.
    std::ofstream(folder + "/filler", std::ios::binary) << std::string(1'000'000, 'x');
    Result<Store> store = Store::open(path, OpenMode::kRead);
    if (!store.ok()) return 6;
    if (!has_cells(*store, count)) return 7;
  }
  std::filesystem::remove(folder + "/filler");
  std::filesystem::remove(ballast);
  Result<Store> store = Store::open(path, OpenMode::kWrite);
  if (!store.ok() || !has_cells(*store, count)) return 8;
  return store->put_measurement(large_cell(count)).ok() ? 0 : 9;
}

TEST_F(StoreTest, SmallFullDisk) {
  const int status = wait_for(fork_child([this] { return fill_a_small_disk(folder()); }));
  if (status == kCannotMount) GTEST_SKIP() << "a file system of our own needs the right to mount one";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace deepgap::store
