// Foreign files into the store.
#pragma once

#include <string>
#include <vector>

#include "session/environment.h"
#include "trace/importer.h"

namespace deepgap::session {

// Stores what the files hold, all of it or, where one cannot be read or used, nothing: results and traces as
// measurements (a trace's steps become samples), tables of ops with the measurement that they belong to,
// telemetry beside the measurements that ran meanwhile: those of the same files or, where none of them did,
// those of the store. What an earlier import of the same content stored is left alone. The document is
// `deepgap.import/1`.
Result<Answer> import_files(const std::string& database, const std::vector<std::string>& files,
                            const trace::ImportOptions& options);

}  // namespace deepgap::session
