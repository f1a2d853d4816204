#include "session/preset.h"

#include <array>
#include <vector>

#include "base/text.h"

namespace deepgap::session {
namespace {

const std::vector<std::int64_t>& published_batches() {
  static const std::vector<std::int64_t> batches{1, 2, 4, 8, 16, 32, 64, 128, 256, 384, 512};
  return batches;
}

// Processes of the adaptive protocol: as many as it takes for the interval that includes their variation, up
// to this.
// No cell ends as precise with fewer (run/sweep_cells.h).
constexpr int kAdaptiveRepeats = 4;
constexpr int kMostAdaptiveRepeats = 12;

template <typename T>
void fill(std::vector<T>& values, const std::vector<T>& standard) {
  if (values.empty()) values = standard;
}

}  // namespace

std::span<const Preset> presets() {
  static const std::array<Preset, 2> all{
      Preset{.name = "gdev-ai",
             .title = "GDEV-AI: CPU inference of ResNets by batch",
             .source = "arXiv 2602.16858",
             .models = {"resnet18", "resnet50", "resnet101"},
             .precisions = {Precision::kFp32},
             .batches = published_batches(),
             .warmup_iterations = 20,
             .timed_iterations = 100,
             .sweeps = 10,
             .repeats_per_sweep = 3},
      Preset{.name = "deep-gap",
             .title = "DEEP-GAP: T4 against L4, ResNets by batch and precision",
             .source = "arXiv 2604.14552",
             .models = {"resnet18", "resnet50", "resnet101"},
             .precisions = {Precision::kFp32, Precision::kFp16, Precision::kInt8},
             .batches = published_batches(),
             .warmup_iterations = 20,
             .timed_iterations = 100,
             .sweeps = 10,
             .repeats_per_sweep = 3}};
  return all;
}

Result<const Preset*> find_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return &preset;
    names.emplace_back(preset.name);
  }
  return usage_error(unknown_name("preset", name, names));
}

void apply(const Preset& preset, RunOptions& options) {
  fill(options.models, preset.models);
  options.preset_precisions = options.precisions.empty();
  fill(options.precisions, preset.precisions);
  fill(options.batches, preset.batches);
  fill(options.modes, {Mode::kLatency});  // the studies time one call after the other
  if (options.like_published) {
    if (!options.repeats) options.repeats = preset.sweeps * preset.repeats_per_sweep;
    if (!options.most_repeats) options.most_repeats = options.repeats;
  } else if (!options.most_repeats && !options.repeats) {
    options.repeats = kAdaptiveRepeats;
    options.most_repeats = kMostAdaptiveRepeats;
  }
}

void apply_defaults(RunOptions& options) {
  const run::MeasureRequest standard;
  fill(options.engines, {"openvino"});
  fill(options.devices, {"cpu"});
  fill(options.precisions, {Precision::kFp32});
  fill(options.batches, {1});
  fill(options.modes, {Mode::kLatency, Mode::kThroughput});
  if (!options.repeats) options.repeats = standard.repeats;
  if (!options.most_repeats) options.most_repeats = options.repeats;
  if (*options.most_repeats < *options.repeats) options.most_repeats = options.repeats;
  // A preset's follows from what its study's protocol would take.
  if (!options.time_limit && !options.preset) options.time_limit = standard.time_limit;
  if (!options.target) options.target = standard.target;
  if (!options.input_buffers) options.input_buffers = standard.input_buffers;
  if (!options.hang_limit) options.hang_limit = standard.hang_limit;
  if (!options.seed) options.seed = 1;
}

}  // namespace deepgap::session
