// The columns in which measurements leave for other tools: our own, and those of the two reference studies.
//
//   gdev-ai:
//   timestamp_utc,device,sweep_id,repeat_id,model,batch_size,threads,iters,warmup_iters,median_ms,...
//   deep-gap: the same, and gpu_peak_mem_mb after them
//
// The studies' rows are one process of one cell in latency mode; what does not apply is empty
// (export_layout_studies.h: what these columns cannot hold). Ours are one row a cell with intervals.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/measurement.h"

namespace deepgap::session {

struct ExportLayout {
  std::string_view name;
  std::string_view meaning;
  std::vector<std::string> (*columns)();
  // `first_sweep`: the number that the studies' columns give to the measurement's sweep, or to the first of
  // those that it counts as.
  std::vector<std::vector<std::string>> (*rows)(const Measurement& measurement, int first_sweep);
  bool of_a_study = false;
};
// How many of a study's sweeps so many processes of a cell are: of three repeats each where the published
// protocol was followed, all one sweep elsewhere.
int study_sweeps(int processes, bool published);

// Of all layouts, the columns that hold text.
std::vector<std::string> text_columns();

std::span<const ExportLayout> export_layouts();
Result<const ExportLayout*> find_export_layout(const std::string& name);

}  // namespace deepgap::session
