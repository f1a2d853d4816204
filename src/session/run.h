// The main verb: plan a sweep, measure it, store it, show it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/precision.h"
#include "run/plan.h"
#include "session/environment.h"

namespace deepgap::session {

// What a user asked for. What is absent comes from the preset, if one is named, else from the defaults of
// section 7 of the design: engine openvino, device cpu, precision fp32, batch 1, modes latency and
// throughput, 3 repeats.
struct RunOptions {
  std::string database = "deepgap.db";
  std::vector<std::string> models;  // names of built-in models, or paths
  std::map<std::string, std::int64_t> dims;
  std::vector<std::string> engines;
  std::vector<std::string> devices;
  std::vector<Precision> precisions;
  std::vector<std::int64_t> batches;
  std::vector<Mode> modes;
  std::map<std::string, std::string> settings;  // requested, by name of the catalogue or of the engine's own
  std::optional<Nanoseconds> time_limit;
  std::optional<double> target;
  std::optional<int> repeats;
  std::optional<int> most_repeats;
  std::optional<int> in_flight;
  std::optional<int> input_buffers;
  std::optional<Nanoseconds> hang_limit;
  std::optional<std::uint64_t> seed;
  run::Isolation isolation = run::Isolation::kGroup;
  std::optional<std::string> preset;
  run::Asked asked;                // filled in by run(), before the defaults
  bool preset_precisions = false;  // the precisions are the preset's, not the user's
  bool like_published = false;     // a preset's protocol as its study published it: fixed counts
  bool dry_run = false;
  bool resume = false;
};

// Measures. The document is `deepgap.run/1`, or `deepgap.plan/1` for a dry run. Exit kPartial when a cell has
// no samples or the user stopped it. Errors: what makes the whole sweep impossible (unknown names, a bad
// model file, no worker, a store that cannot be written).
Result<Answer> run(const RunOptions& options, Environment& environment);

}  // namespace deepgap::session
