// What the columns of the two reference studies cannot hold, and how their sweeps are counted.
//
//   1 of 3 cells is left out: the columns gdev-ai are of calls made one at a time, and it was measured with
//   calls in flight
//   the columns gdev-ai have none for the engine (fake, openvino): rows that differ in it alone cannot be
//   told apart; name one in the subject, as in '*/fake/*/*/*'
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "core/measurement.h"
#include "store/store.h"

namespace deepgap::session {

// Numbers from 1 for all sweeps of a store, the oldest first, whichever cells are exported. A sweep that
// followed the published protocol takes as many as its repeats are sweeps of the study; cells without a sweep
// count as one of their own.
class StudySweeps {
 public:
  static Result<StudySweeps> of(store::Store& store);
  int first_of(const SweepId& sweep) const;

 private:
  std::map<std::string, int> first_;
};

// Looks at every cell that is to be exported.
class StudyCells {
 public:
  // Whether the cell has rows in a study's columns.
  bool takes(const Measurement& measurement);
  // What to tell of those that have none, and of those that look alike; nothing where all is well.
  std::vector<std::string> notes(std::string_view layout) const;

 private:
  // Parts of a cell that have no column, their values as text.
  struct Hidden {
    std::set<std::string> engines, devices, precisions, dims;
  };

  std::size_t cells_ = 0;
  std::size_t in_flight_ = 0;
  std::size_t without_samples_ = 0;
  std::map<std::tuple<std::string, std::string, std::int64_t>, Hidden> alike_;  // by device, model, batch
};

}  // namespace deepgap::session
