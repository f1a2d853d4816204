// What a store is worth when processes are killed, or write at the same time.
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>

#include <set>
#include <thread>

#include "base/random.h"
#include "store/store.h"
#include "store/test_support.h"

namespace deepgap::store {
namespace {

constexpr int kProcessesPerCell = 2;

std::string integrity(const std::string& path) {
  sqlite3* handle = nullptr;
  std::string answer;
  const auto take = [](void* text, int, char** values, char**) {
    *static_cast<std::string*>(text) += values[0] == nullptr ? "(null)" : values[0];
    return 0;
  };
  if (sqlite3_open(path.c_str(), &handle) == SQLITE_OK) {
    sqlite3_exec(handle, "PRAGMA integrity_check; PRAGMA foreign_key_check", take, &answer, nullptr);
  }
  sqlite3_close(handle);
  return answer;
}

// Cells with the numbers [first, first + cells), their processes appended one by one. `acknowledge` hears of
// each write that the store has confirmed, as 10 * number + what was written.
bool write_cells(const std::string& path, int first, int cells, const std::function<void(int)>& acknowledge) {
  Result<Store> store = Store::open(path, OpenMode::kWrite);
  if (!store.ok()) return false;
  for (int number = first; number < first + cells; ++number) {
    if (!store->put_measurement(make_measurement(number)).ok()) return false;
    acknowledge(10 * number);
    for (int process = 0; process < kProcessesPerCell; ++process) {
      CellVisit visit;
      visit.process = make_process(process, 200);
      visit.diagnostics = {diagnose(diagnostics::kStealTime, "process", "text")};
      if (!store->append_visit(id_of(number), visit).ok()) return false;
      acknowledge(10 * number + process + 1);
    }
  }
  return true;
}

TEST_F(StoreTest, KilledWriterLosesAtMostTheWriteInFlight) {
  constexpr int kKills = 20;
  Random random(42);
  std::set<int> acknowledged;
  for (int round = 0; round < kKills; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork_child([&] {
      write_cells(db(), round * 1000, 1000, [&pipe_ends](int written) {
        if (::write(pipe_ends[1], &written, sizeof written) != sizeof written) _exit(1);
      });
      return 1;  // not reached: it is killed before
    });
    close(pipe_ends[1]);
    // At a random moment from its very start, when it may not even have opened the store.
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(round < 4 ? 10'000 : 120'000)));
    kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), 128 + SIGKILL);
    int written = 0;
    while (::read(pipe_ends[0], &written, sizeof written) == sizeof written) acknowledged.insert(written);
    close(pipe_ends[0]);

    Store store = open(db());
    std::set<int> stored;
    const Result<Visited> visited = store.for_each({}, LoadDepth::kAll, [&stored](Measurement& m) {
      const int number = std::stoi(m.id.str(), nullptr, 16);
      stored.insert(10 * number);
      // A process comes with its samples and its diagnostic, or not at all.
      EXPECT_EQ(m.diagnostics.size(), m.processes.size());
      for (const ProcessRun& run : m.processes) {
        EXPECT_EQ(run.samples.host_ns, make_process(run.index, 200).samples.host_ns);
        stored.insert(10 * number + run.index + 1);
      }
      return true;
    });
    ASSERT_OK(visited);
    EXPECT_EQ(visited->damaged, 0);
    for (const int one : acknowledged) EXPECT_TRUE(stored.contains(one)) << one << " in round " << round;
    // Not more than one write a round may have been stored without the confirmation getting through.
    EXPECT_LE(stored.size(), acknowledged.size() + static_cast<std::size_t>(round) + 1);
  }
  EXPECT_EQ(integrity(db()), "ok");
  EXPECT_GT(acknowledged.size(), 20U);
}

TEST_F(StoreTest, TwoProcessesWriteToOneStore) {
  constexpr int kCells = 200;
  const auto writer = [this](int first) {
    return fork_child([this, first] { return write_cells(db(), first, kCells, [](int) {}) ? 0 : 1; });
  };
  const pid_t a = writer(0);
  const pid_t b = writer(1000);
  EXPECT_EQ(wait_for(a), 0);
  EXPECT_EQ(wait_for(b), 0);
  EXPECT_EQ(integrity(db()), "ok");
  Store store = open(db(), OpenMode::kRead);
  const std::vector<MeasurementHeader> headers = store.headers({}).value();
  EXPECT_EQ(headers.size(), 2U * kCells);
  for (const MeasurementHeader& header : headers) EXPECT_EQ(header.processes, (std::vector<int>{0, 1}));
}

TEST_F(StoreTest, ReadersSeeOneMomentWhileOthersWrite) {
  { Store made = open(db()); }
  const pid_t writer = fork_child([this] { return write_cells(db(), 0, 100, [](int) {}) ? 0 : 1; });
  std::size_t last = 0;
  for (int round = 0; round < 20; ++round) {
    Store store = open(db(), OpenMode::kRead);
    std::size_t cells = 0;
    const Result<Visited> visited = store.for_each({}, LoadDepth::kAll, [&cells](Measurement& m) {
      EXPECT_EQ(m.diagnostics.size(), m.processes.size());
      ++cells;
      return true;
    });
    ASSERT_OK(visited);
    EXPECT_EQ(visited->damaged, 0);
    EXPECT_GE(cells, last);
    last = cells;
  }
  EXPECT_EQ(wait_for(writer), 0);
}

TEST_F(StoreTest, ThreadsWithStoresOfTheirOwn) {
  const auto work = [this](int first) { EXPECT_TRUE(write_cells(db(), first, 20, [](int) {})); };
  std::thread a(work, 0);
  std::thread b(work, 1000);
  a.join();
  b.join();
  Store store = open(db(), OpenMode::kRead);
  EXPECT_EQ(store.headers({})->size(), 40U);
}

}  // namespace
}  // namespace deepgap::store
