// Foreign files: into the store, or looked at as they are.
#pragma once

#include <string>
#include <vector>

#include "session/environment.h"
#include "trace/importer.h"

namespace deepgap::session {

// Stores what the files hold, all of it or, where one cannot be read, nothing. Measurements that the store
// has already, of an earlier import of the same rows, are left alone. The document is `deepgap.import/1`.
Result<Answer> import_files(const std::string& database, const std::vector<std::string>& files,
                            const trace::ImportOptions& options);
// What is in a file, without a store: `show FILE`.
Result<Answer> show_file(const std::string& file);

}  // namespace deepgap::session
