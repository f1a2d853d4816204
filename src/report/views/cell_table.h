// The table of cells that list, run and show share, and a cell's JSON.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/summary.h"
#include "report/document.h"
#include "report/json_of.h"

namespace deepgap::report {

// Columns whose value is the same in every row are left out of the table for people and named in a line above
// it.
Table cell_table(std::span<const CellSummary> cells);
// The cells as `deepgap.list/1` has them.
Json json_of_cells(std::span<const CellSummary> cells);
// A line that names what all cells share: "openvino, cpu (Intel Xeon), fp32"; "" where there is nothing to
// say.
std::string shared_key(std::span<const CellSummary> cells);
// The cell's failure, which it has, with the remedy of the diagnostic that repeats it.
Diagnostic failure_of(const CellSummary& cell);
// The cell's diagnostics, each kind once, without those that only repeat its failure.
std::vector<Diagnostic> told_beside_failure(const CellSummary& cell);
// Diagnostics of all cells, the same kind of several cells gathered into one line; without those that only
// repeat the cell's failure.
DiagnosticList gathered_diagnostics(std::span<const CellSummary> cells);

}  // namespace deepgap::report
