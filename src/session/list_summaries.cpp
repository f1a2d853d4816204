#include "session/list_summaries.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

namespace deepgap::session {
namespace {

// A batch ends at either; so many samples are 256 KiB with their starts.
constexpr std::size_t kCellsInBatch = 32;
constexpr std::size_t kSamplesInBatch = 1 << 14;
// Enough that nobody waits for another, few enough that memory does not grow with the store.
constexpr std::size_t kMostWaiting = 4;
// Reading a cell takes about a third of the time of summarising it: more CPUs would wait for the reader.
constexpr unsigned kMostWorkers = 3;

}  // namespace

unsigned ListSummaries::spare_cpus() {
  const unsigned cpus = std::thread::hardware_concurrency();  // 0: unknown
  return cpus > 1 ? std::min(cpus - 1, kMostWorkers) : 0;
}

ListSummaries::ListSummaries(unsigned workers) {
  filling_.cells.resize(kCellsInBatch);
  workers_.reserve(workers);
  try {
    while (workers_.size() < workers) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // A limit on threads: fewer do it too.
  }
}

ListSummaries::~ListSummaries() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  added_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ListSummaries::add(Measurement& cell) {
  filling_.samples += static_cast<std::size_t>(cell.sample_count());
  std::swap(filling_.cells[filling_.count++], cell);
  if (filling_.count == kCellsInBatch || filling_.samples >= kSamplesInBatch) submit();
}

std::vector<CellSummary> ListSummaries::summaries_of(Batch& batch) {
  std::vector<CellSummary> summaries;
  summaries.reserve(batch.count);
  for (std::size_t i = 0; i < batch.count; ++i) {
    Measurement& cell = batch.cells[i];
    summaries.push_back(summarise(cell, SummaryDepth::kQuick));
    // Memory is used again only where it is not much.
    if (static_cast<std::size_t>(cell.sample_count()) > kSamplesInBatch / kCellsInBatch * 4) cell = {};
  }
  return summaries;
}

void ListSummaries::submit() {
  Batch next;
  std::optional<Batch> own;
  {
    const std::lock_guard lock(mutex_);
    filling_.number = done_.size();
    done_.emplace_back();
    ++unfinished_;
    if (workers_.empty() || waiting_.size() >= kMostWaiting) {
      own = std::move(filling_);
    } else {
      waiting_.push_back(std::move(filling_));
    }
    if (!used_.empty()) {
      next = std::move(used_.back());
      used_.pop_back();
    }
  }
  next.cells.resize(kCellsInBatch);
  next.count = next.samples = 0;
  filling_ = std::move(next);
  if (own) {
    finish(std::move(*own));
  } else {
    added_.notify_one();
  }
}

void ListSummaries::finish(Batch batch) {
  std::vector<CellSummary> summaries = summaries_of(batch);
  const std::lock_guard lock(mutex_);
  done_[batch.number] = std::move(summaries);
  used_.push_back(std::move(batch));
  if (--unfinished_ == 0) finished_.notify_all();
}

void ListSummaries::work() {
  for (;;) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      batch = std::move(waiting_.front());
      waiting_.pop_front();
    }
    finish(std::move(batch));
  }
}

std::vector<CellSummary> ListSummaries::take() {
  if (filling_.count > 0) submit();
  std::vector<std::vector<CellSummary>> batches;
  {
    std::unique_lock lock(mutex_);
    while (!waiting_.empty()) {
      Batch batch = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      finish(std::move(batch));
      lock.lock();
    }
    finished_.wait(lock, [this] { return unfinished_ == 0; });
    batches.swap(done_);
  }
  std::size_t count = 0;
  for (const std::vector<CellSummary>& batch : batches) count += batch.size();
  std::vector<CellSummary> summaries;
  summaries.reserve(count);
  for (std::vector<CellSummary>& batch : batches) {
    std::move(batch.begin(), batch.end(), std::back_inserter(summaries));
    batch = {};
  }
  return summaries;
}

}  // namespace deepgap::session
