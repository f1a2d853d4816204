// A foreign file that is no trace, looked at as it is: `show FILE`, `trace FILE`.
#pragma once

#include <string>

#include "session/environment.h"
#include "trace/importer.h"

namespace deepgap::session {

// What is in a file, without a store: `show FILE`. Of a trace what `trace` shows.
Result<Answer> show_file(const std::string& file);

// The document of a file that is no trace, in the verb's schema; kPartial where nothing of it can be used.
Answer file_answer(trace::FileContent content, const std::string& path, const std::string& schema);

}  // namespace deepgap::session
