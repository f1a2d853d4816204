// The columns in which measurements leave for other tools: our own, and those of the two reference studies.
//
//   gdev-ai:
//   timestamp_utc,device,sweep_id,repeat_id,model,batch_size,threads,iters,warmup_iters,median_ms,...
//   deep-gap: the same, and gpu_peak_mem_mb after them
//
// The studies' rows are one process of one cell; what does not apply is empty. Ours are one row a cell with
// intervals.
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
  std::vector<std::vector<std::string>> (*rows)(const Measurement& measurement);
};
// Of all layouts, the columns that hold text.
std::vector<std::string> text_columns();

std::span<const ExportLayout> export_layouts();
Result<const ExportLayout*> find_export_layout(const std::string& name);

}  // namespace deepgap::session
