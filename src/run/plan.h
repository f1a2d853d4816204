// What a sweep will do, before anything runs: its cells, their order, what they will need.
//
// A *cell* is one row of the result (model, engine, device, precision, batch, mode). A *visit* is one
// process's turn at a cell; a cell has as many visits as repeats. A *group* is the cells that one worker
// process serves: those of one engine, model, precision and set of process-fixed settings. Repeats go round
// by round, each in fresh processes; the groups of a round, and the cells within a group, are in seeded
// random order, so that drift of the machine spreads over all cells alike and order, process and iteration
// variance can be told apart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "core/diagnostic.h"
#include "core/measurement.h"
#include "core/workload.h"
#include "run/engine.h"

namespace deepgap::run {

enum class Isolation { kGroup, kCell };  // who gets a process of its own; "group", "cell"

// A protocol of fixed counts: so many fresh processes, in each so many calls.
struct FixedProtocol {
  std::int64_t warmup_calls = 0;
  std::int64_t timed_calls = 0;
  int processes = 0;

  bool operator==(const FixedProtocol&) const = default;
};

// Which parts of a request somebody asked for, and did not leave to the defaults: what is recorded as
// requested.
struct Asked {
  bool time_limit = false;
  bool target = false;
  bool input_buffers = false;
  bool seed = false;

  bool operator==(const Asked&) const = default;
};

// How each cell is measured. Defaults are those of the command line.
struct MeasureRequest {
  double target = 0.01;  // half-width of the 95 % interval of the median, relative
  Nanoseconds time_limit =
      std::chrono::seconds(20);  // per cell: warm-up and timed calls of all its processes, load excluded
  // The cell may take a fifth of what this protocol would, loads included, by the load and call times that
  // are found (kShareOfFixed). Its time limit is then no less than time_limit, and follows from the forecast.
  std::optional<FixedProtocol> instead_of;
  std::optional<std::int64_t> fixed_warmup;  // published protocols: exactly so many warm-up calls
  std::optional<std::int64_t> fixed_calls;   // and exactly so many timed ones; time_limit does not apply then
  int repeats = 3;                           // fresh processes at least
  int most_repeats =
      3;  // more than repeats: go on until the interval with process variation is within target
  std::optional<int> in_flight;  // throughput mode; absent: the engine chooses
  int input_buffers = 4;
  Nanoseconds hang_limit = std::chrono::seconds(120);
  Isolation isolation = Isolation::kGroup;
  Nanoseconds patience =
      std::chrono::hours(1);  // a cell that is forecast to take longer is named beforehand, and run
  Asked asked;

  // More processes than `repeats` are made where they differ.
  bool further_rounds() const { return most_repeats > repeats; }
};
inline constexpr double kShareOfFixed = 0.2;

// A model as the planner needs it; session makes it from graph.
struct PlannedModel {
  std::string name;
  std::string path;
  std::string hash;
  std::string format = "onnx";
  std::map<std::string, std::int64_t> dims;
  // Inputs with the batch as `kBatch` in their shapes.
  std::vector<TensorSpec> inputs;
  static constexpr std::int64_t kBatch = -1;
  std::vector<std::string> remarks;         // what is odd about its file, in sentences
  std::optional<std::int64_t> fixed_batch;  // a model that was exported with one batch only
  // What a call at a batch needs, for forecasts; absent where not known.
  std::optional<double> flops_per_sample;
  std::optional<double> weight_bytes;
  std::optional<double> activation_bytes_per_sample;  // peak
};

// Why a cell will not be tried: what is stored of it.
struct Refusal {
  std::string kind;                       // of CellFailure: "refused", "unsupported"
  const DiagnosticKind* doubt = nullptr;  // of the catalogue
  std::string text;
};

struct PlannedCell {
  CellKey key;
  std::size_t model = 0;                        // index into models
  std::map<std::string, std::string> settings;  // requested
  std::optional<Bytes> forecast_memory;         // of the worker's process
  std::optional<Nanoseconds> forecast_time;     // of the whole cell on a quiet machine
  std::optional<Nanoseconds> forecast_most;     // and at most; absent where the calls are counted
  Nanoseconds time_limit{};        // of warm-up and timed calls of all its processes, load excluded
  std::optional<Refusal> refusal;  // absent: it will be tried
  std::string
      note;  // what a dry run says of it beforehand: beyond patience or the hang limit; "" for nothing
};

struct Visit {
  std::size_t cell = 0;  // index into cells
  int repeat = 0;
};

// The visits one worker process serves, in order.
struct ProcessPlan {
  std::string engine;
  std::vector<Visit> visits;
};

struct SweepRequest {
  std::vector<PlannedModel> models;
  std::vector<std::string> engines{"openvino"};
  std::vector<std::string> devices{"cpu"};
  std::vector<Precision> precisions{Precision::kFp32};
  std::vector<std::int64_t> batches{1};
  std::vector<Mode> modes{Mode::kLatency, Mode::kThroughput};
  // A precision that an engine does not run makes cells that are refused, not an error.
  bool refuse_precisions = false;
  std::map<std::string, std::string> settings;
  MeasureRequest measure;
  std::uint64_t seed = 1;
};

struct SweepPlan {
  std::vector<PlannedModel> models;
  std::vector<PlannedCell> cells;      // in the order of the request, for tables
  std::vector<ProcessPlan> processes;  // in the order of running
  MeasureRequest measure;
  std::uint64_t seed = 1;
  std::optional<Nanoseconds> forecast_time;  // on a quiet machine
  std::optional<Nanoseconds> forecast_most;  // at most; absent where it is no other
};

// What the machine offers, for forecasts and for the check of settings.
struct MachineLimits {
  std::optional<Bytes> available_memory;
  std::optional<double> flops_per_second;  // a rough sustained rate; absent: no time is forecast
  std::vector<int> cpus;                   // that we may use, sorted; empty: not known
};

// Forecasts are coarse and meant for warnings. Memory: 150 MB for the process, twice the weights (the file's
// and the engine's own layout), the input buffers, and the largest set of live activations for each call in
// flight that was asked for; a cell is refused only when its weights and one set of activations alone, at the
// width of its precision, and the input buffers beyond the one that activations count exceed what is
// available. Time: a second for each load, and the calls at
// flops_per_second, which are those of a fixed protocol, else for the planned repeats as many as a quiet
// machine takes; at most those of the time limit with all loads that there may be, or a fifth of the protocol
// that the cell is measured instead of.
//
// Errors (kUsage, kMissing for a device): an engine's device, precision (but see refuse_precisions), setting
// or model format that it does not have, a value of a shared setting that is none (run/setting_values.h), a
// batch that a fixed model cannot take, a number out of its range; each names what there is. `engines` holds
// the description of each engine of the request.
Result<SweepPlan> plan_sweep(const SweepRequest& request,
                             const std::map<std::string, EngineDescription>& engines,
                             const MachineLimits& limits);

// One round: a visit to each of the chosen cells (indices into `cells`), grouped into processes, in the order
// that seed and repeat give.
std::vector<ProcessPlan> plan_round(const std::vector<PlannedCell>& cells,
                                    const std::vector<std::size_t>& chosen, int repeat, std::uint64_t seed,
                                    Isolation isolation);

// The plan of the visits that are still to be done, given how many processes each cell has already
// (--resume). A cell that is not to be tried again is given as done with all of them.
SweepPlan remaining(const SweepPlan& plan, const std::map<CellKey, int>& processes_done);

}  // namespace deepgap::run
