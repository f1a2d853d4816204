// A trace, judged and taken apart: `trace FILE`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "session/environment.h"
#include "trace/importer.h"

namespace deepgap::session {

struct TraceOptions {
  std::optional<std::int64_t> device;         // the one with most kernel time
  std::optional<std::int64_t> unprofiled_ns;  // a step without the profiler
  std::size_t ops = 10;                       // how many of the largest are shown to people
};

// The document is `deepgap.trace/1`, for a file that is no trace with what `show` has of it; an unusable file
// ends with kPartial, the document written all the same. Errors: no file, or of no format that is known (bad
// input); a device that the trace does not have (usage).
Result<Answer> trace_file(const std::string& path, const TraceOptions& options);
// The same of a file that is read already.
Result<Answer> trace_content(trace::FileContent content, const std::string& path,
                             const TraceOptions& options);

// "40.4ms", or a file of JSON lines with `case` (the trace's file name up to its first dot; the last such
// line counts) and `wall_ms_p50`.
Result<std::int64_t> unprofiled_time(const std::string& text, const std::string& trace_path);

}  // namespace deepgap::session
