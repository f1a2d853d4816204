// The file that a worker's stdout and stderr go to: named so that no two processes share one, quoted when the
// worker is lost, removed when it ended well.
#pragma once

#include <string>

namespace deepgap::run {

// FOLDER/fake-5f0c2ab19d3e-7.log: `run` is new_random_hex(12) of one run of deepgap, so that runs side by
// side do not write into each other's.
std::string worker_log_path(const std::string& folder, const std::string& engine, const std::string& run,
                            int number);

// Removes the logs of lost workers that are older than 14 days. Best effort.
void remove_old_logs(const std::string& folder);

// The end of a log as it is appended to a sentence, at most three lines, made safe to print:
//   "; its log /tmp/x.log ends: loading model | terminate called after throwing 'std::bad_alloc'"
// "" where there is no log. `named`: whether to say where it is.
std::string quote_log_end(const std::string& path, bool named = true);

}  // namespace deepgap::run
