// The grids of the two reference studies, as published.
//
//   gdev-ai    arXiv 2602.16858: ResNet-18/50/101, FP32, batches 1 to 512, on CPUs
//   deep-gap   arXiv 2604.14552: the same with FP16 and INT8 beside, T4 against L4
//
// A preset keeps its study's grid. Counts (20 warm-up and 100 timed iterations, 10 sweeps of 3 repeats) hold
// with --like-published only. Otherwise 3 to 12 short processes a cell make the same statement (the median's
// 95 % interval, variation between processes included, within 1 %) in at most a fifth of the time: a cell's
// time limit follows from that (run/sweep_cells.h), unless one is typed. A precision of the study that an
// engine does not run is a refused cell with the reason, not an error.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "session/run.h"

namespace deepgap::session {

struct Preset {
  std::string_view name;
  std::string_view title;
  std::string_view source;
  std::vector<std::string> models;
  std::vector<Precision> precisions;
  std::vector<std::int64_t> batches;
  std::int64_t warmup_iterations = 0;
  std::int64_t timed_iterations = 0;
  int sweeps = 0;
  int repeats_per_sweep = 0;
};

std::span<const Preset> presets();
// Errors: an unknown name, with those there are.
Result<const Preset*> find_preset(const std::string& name);

// Fills what the user left open: models, precisions, batches, modes and repeats from the preset.
void apply(const Preset& preset, RunOptions& options);
// Fills the rest with the defaults of the command line.
void apply_defaults(RunOptions& options);

}  // namespace deepgap::session
