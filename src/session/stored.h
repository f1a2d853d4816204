// The verbs about what is stored: list, show, export, merge.
#pragma once

#include <string>
#include <vector>

#include "session/environment.h"

namespace deepgap::session {

// Every verb names the store as `database`: an existing SQLite file of ours. One that is missing is an error
// that says how to make one; none is made by reading.

// Cells that match any of the subjects (all where there are none), newest first.
Result<Answer> list(const std::string& database, const std::vector<std::string>& subjects);
// One measurement in full; what is in a file, without a store.
Result<Answer> show(const std::string& database, const std::string& subject);
// Tables for other tools: layout "deepgap", "deep-gap" or "gdev-ai". What a layout cannot hold is said.
Result<Answer> export_cells(const std::string& database, const std::vector<std::string>& subjects,
                            const std::string& layout, const Environment& environment);
// Adds the cells of other stores to `database` (made if absent).
Result<Answer> merge(const std::string& database, const std::vector<std::string>& sources);

}  // namespace deepgap::session
