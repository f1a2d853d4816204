#include "run/engine_registry.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/hash.h"
#include "base/text.h"
#include "run/worker_client.h"
#include "run/worker_log.h"

namespace deepgap::run {
namespace {

constexpr std::string_view kPrefix = "deepgap-worker-";

constexpr std::array<KnownEngine, 5> kKnown{{
    {"openvino", "the PyPI wheel `openvino` when it is built (scripts/fetch-openvino.sh, then `make`)"},
    {"fake", "`make`, which builds it (it plants timings for tests)"},
    {"torch", "a worker built against the user's own PyTorch, which this version does not have yet"},
    {"onnxruntime", "a Python worker on the PyPI wheel `onnxruntime`, which this version does not have yet"},
    {"tensorrt", "the user's `trtexec`, whose worker this version does not have yet"},
}};

// Programs of other kinds share the prefix, and copies that an editor or a debugger left (worker-fake~).
bool is_engine(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !name.empty() && name != "conformance" && std::all_of(name.begin(), name.end(), is_letter);
}

void collect(const std::filesystem::path& folder, std::vector<WorkerProgram>& found) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    std::string engine = name.substr(kPrefix.size());
    std::error_code ignored;
    if (!is_engine(engine) || !std::filesystem::is_regular_file(entry->path(), ignored)) continue;
    if (access(entry->path().c_str(), X_OK) != 0) continue;
    const auto same = [&engine](const WorkerProgram& other) { return other.engine == engine; };
    if (std::any_of(found.begin(), found.end(), same)) continue;
    found.push_back({.engine = std::move(engine), .path = entry->path().string()});
  }
}

}  // namespace

std::vector<WorkerProgram> find_workers(const std::string& program_folder) {
  std::vector<WorkerProgram> found;
  if (const char* const folders = std::getenv("DEEPGAP_WORKERS"); folders != nullptr) {
    for (const std::string& folder : split(folders, ':')) {
      if (!folder.empty()) collect(folder, found);
    }
  }
  collect(program_folder, found);
  collect(std::filesystem::path(program_folder) / ".." / "libexec" / "deepgap", found);
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.engine < b.engine; });
  return found;
}

std::span<const KnownEngine> known_engines() {
  return kKnown;
}

Result<WorkerProgram> find_worker(const std::string& engine, const std::string& program_folder) {
  std::vector<std::string> names;
  for (WorkerProgram& worker : find_workers(program_folder)) {
    if (worker.engine == engine) return std::move(worker);
    names.push_back(std::move(worker.engine));
  }
  for (const KnownEngine& known : kKnown) {
    if (known.name == engine) {
      return missing(
          fmt::format("engine '{}' is not here: expected its worker {}{} beside deepgap or in "
                      "$DEEPGAP_WORKERS, found none; it needs {}",
                      engine, kPrefix, engine, known.needs));
    }
    if (std::find(names.begin(), names.end(), known.name) == names.end()) names.emplace_back(known.name);
  }
  std::sort(names.begin(), names.end());
  return usage_error(unknown_name("engine", engine, names));
}

Result<EngineDescription> describe_worker(const WorkerProgram& program, std::optional<Nanoseconds> hang_limit,
                                          const StopRequest* stop) {
  // A worker that cannot start says why in its log: a library that is missing, for one.
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  const std::string log =
      error ? std::string() : worker_log_path(folder.string(), "deepgap-hello", new_random_hex(12), 0);
  const StopRequest never;
  WorkerOptions options{.log_path = log, .keep_log = false};
  if (hang_limit) options.hang_limit = *hang_limit;
  const WorkerResult<WorkerClient> started =
      WorkerClient::start(program, options, stop != nullptr ? *stop : never);
  if (const auto* trouble = std::get_if<WorkerTrouble>(&started)) {
    if (trouble->failure.kind == "cancelled") return Error(ErrorKind::kCancelled, trouble->failure.text);
    return missing(trouble->failure.text);
  }
  return std::get<WorkerClient>(started).description();
}

}  // namespace deepgap::run
