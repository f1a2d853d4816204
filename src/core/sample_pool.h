// The samples of all processes of a cell in one ascending order, with the median of each process: made once
// for a summary, because a list of thousands of cells spends most of its time in sorting. Only for
// summary.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace deepgap {

struct SamplePool {
  std::vector<std::int64_t> sorted;
  std::vector<double> process_medians;  // one a process, as stats::median(); every process has a sample
};

// None of the processes is empty.
SamplePool pool_samples(std::span<const std::span<const std::int64_t>> processes);

}  // namespace deepgap
