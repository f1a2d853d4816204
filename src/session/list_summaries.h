// Summarises the cells of a list on the machine's further CPUs while the store is still being read.
//
//   ListSummaries summaries(ListSummaries::spare_cpus());
//   store.for_each(filter, LoadDepth::kListColumns, [&](Measurement& cell) { summaries.add(cell); return
//   true; }); findings.cells = summaries.take();  // in the order of add()
//
// Used by one thread, which summarises too: whenever the others have enough to do, and with no others always.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "core/measurement.h"
#include "core/summary.h"

namespace deepgap::session {

class ListSummaries {
 public:
  // `workers`: further threads; where one cannot be started, it goes on with those that there are.
  explicit ListSummaries(unsigned workers);
  ListSummaries(const ListSummaries&) = delete;
  ListSummaries& operator=(const ListSummaries&) = delete;
  ~ListSummaries();

  // CPUs that this process may use besides its own, as far as a list has work for them.
  static unsigned spare_cpus();

  // Takes the cell, and leaves one that has been summarised in its place, whose memory may be used again.
  void add(Measurement& cell);
  // The summaries of all cells added since the last call.
  std::vector<CellSummary> take();

 private:
  struct Batch {
    std::size_t number = 0;          // of done_
    std::size_t count = 0;           // cells that are to be summarised
    std::size_t samples = 0;         // of these
    std::vector<Measurement> cells;  // these, and further ones for their memory
  };

  static std::vector<CellSummary> summaries_of(Batch& batch);
  void submit();
  void finish(Batch batch);
  void work();

  Batch filling_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;  // of what follows
  std::condition_variable added_;
  std::condition_variable finished_;
  std::deque<Batch> waiting_;
  std::vector<Batch> used_;
  std::vector<std::vector<CellSummary>> done_;  // by the batch's number
  std::size_t unfinished_ = 0;
  bool stopping_ = false;
};

}  // namespace deepgap::session
