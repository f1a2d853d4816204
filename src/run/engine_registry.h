// Which engines there are: workers found as programs, asked what they can do.
//
//   openvino  2026.4.1  cpu  fp32     build/release/deepgap-worker-openvino
//   fake      1         cpu  fp32...  build/release/deepgap-worker-fake
//
// A worker is a program named deepgap-worker-NAME (lower-case letters, digits, - and _) beside deepgap
// itself, in ../libexec/deepgap from there, or in a folder of $DEEPGAP_WORKERS (colon-separated; searched
// first).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/signals.h"
#include "run/engine.h"

namespace deepgap::run {

struct WorkerProgram {
  std::string engine;  // NAME
  std::string path;
};

// Sorted by name; the first of several programs of one name wins. `program_folder` is the folder of deepgap
// itself.
std::vector<WorkerProgram> find_workers(const std::string& program_folder);

// Engines that deepgap knows of, whether their worker is here or not: what they would need.
struct KnownEngine {
  std::string_view name;
  std::string_view needs;  // "the PyPI wheel `openvino` at build time: scripts/fetch-openvino.sh"
};
std::span<const KnownEngine> known_engines();

// The worker of an engine; the error of an unknown one suggests the nearest, the error of a known one says
// what it needs.
Result<WorkerProgram> find_worker(const std::string& engine, const std::string& program_folder);

// Starts the worker, says hello, ends it. An error (kMissing) quotes what the worker printed. A worker may
// be silent for `hang_limit`, and for no longer than any that starts (run/worker_client.h). `stop`, where it
// is given, ends it at the first request (kCancelled).
Result<EngineDescription> describe_worker(const WorkerProgram& program,
                                          std::optional<Nanoseconds> hang_limit = std::nullopt,
                                          const StopRequest* stop = nullptr);

}  // namespace deepgap::run
