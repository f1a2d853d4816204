// A sweep's request as JSON, kept with the sweep so that --resume can go on with exactly the same.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/run.h"

namespace deepgap::session {

// Everything of the options that decides the plan; not the database, dry_run and resume.
std::string request_json(const RunOptions& options);
// Errors (kBadInput): a text that request_json did not make.
Result<RunOptions> parse_request(const std::string& json);
// Names of what differs between two requests: "batch", "time limit", ...
std::vector<std::string> request_differences(const RunOptions& a, const RunOptions& b);

}  // namespace deepgap::session
