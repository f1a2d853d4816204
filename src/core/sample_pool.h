// The samples of all processes of a cell in ascending order, together and one process at a time: made once
// for a summary, because a list of thousands of cells spends most of its time in sorting. Only for
// summary.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deepgap {

class SamplePool {
 public:
  // Any samples; a process may be empty.
  explicit SamplePool(std::span<const std::span<const std::int64_t>> processes);

  std::span<const std::int64_t> sorted() const { return sorted_; }
  std::span<const std::int64_t> sorted_of(std::size_t process) const {
    return std::span(by_process_).subspan(begins_[process], begins_[process + 1] - begins_[process]);
  }

 private:
  void sort_by_comparing();

  std::vector<std::int64_t> sorted_;
  std::vector<std::int64_t> by_process_;  // one process after the other
  std::vector<std::size_t> begins_;       // of each process in by_process_, and the end
};

}  // namespace deepgap
