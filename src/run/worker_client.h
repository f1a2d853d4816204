// The core's end of a worker: starts it, sends requests, waits for replies with limits, and says how it was
// lost.
//
//   WorkerResult<WorkerClient> started = WorkerClient::start(program, {.log_path = log, .files = &files},
//   stop); WorkerResult<WorkerClient::Loaded> loaded = worker.load(request, stop);
//   ... = worker.measure(Mode::kLatency, measure_request, 2s, 1, stop, on_progress);
//
// A worker is a child of the thread that started it and ends with that thread (base/subprocess.h): use a
// client on one thread, which outlives it. Its destruction ends the worker, gracefully where it still
// answers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/result.h"
#include "base/signals.h"
#include "core/measurement.h"
#include "run/engine.h"
#include "run/engine_registry.h"
#include "run/plan.h"

namespace deepgap::run {

// Why a request has no result. Kinds of the failure: those that workers report (`failures` in run/engine.h)
// and
//   crash      the process ended, by a signal or on its own
//   hang       no message for the hang limit, or no end of a measuring long after its time limit: it was
//   killed protocol   garbage, a reply out of order, samples that no clock gives, a closed pipe: it was
//   killed cancelled  the user asked to stop now: it was killed
// out_of_memory also stands for a SIGKILL of the kernel's out-of-memory killer.
struct WorkerTrouble {
  CellFailure failure;
  bool worker_lost = false;  // this process can serve no more; start another
  bool model_lost = false;   // every cell of this model will fail alike
};

struct Progress {
  std::string phase;  // "load", "warmup", "measure"
  std::int64_t calls = 0;
  Nanoseconds elapsed{};
  std::optional<Nanoseconds> median;
  std::optional<double> width;  // relative half-width of the median's interval so far
};

template <typename T>
using WorkerResult = std::variant<T, WorkerTrouble>;

struct WorkerOptions {
  // Where stdout and stderr of the worker go; its last lines are quoted when it is lost. Removed when the
  // worker ended well or left it empty. "": they are dropped.
  std::string log_path;
  // Whether the log of a lost worker stays, and is named in what is said of it.
  bool keep_log = true;
  // No message for so long while a request is served: the worker is killed. One that starts has 30 s at most.
  Nanoseconds hang_limit = std::chrono::seconds(120);
  // /proc and /sys, for the counters of the out-of-memory killer; null: no SIGKILL is known to be its.
  // Outlives the client.
  const FileSystem* files = nullptr;
  // Called once, within some 50 ms, when the user has asked to stop while a request is served, which is
  // finished first. May be empty.
  std::function<void()> on_stop_asked;
};

class WorkerClient {
 public:
  // Starts the program and says hello. A first request to stop already ends it (trouble of kind "cancelled").
  static WorkerResult<WorkerClient> start(const WorkerProgram& program, const WorkerOptions& options,
                                          const StopRequest& stop);
  WorkerClient(WorkerClient&&) noexcept;
  WorkerClient& operator=(WorkerClient&&) noexcept;
  ~WorkerClient();

  const EngineDescription& description() const;
  int pid() const;

  // How the worker ended since its last reply; nothing while it runs.
  std::optional<WorkerTrouble> ended_between();

  struct Loaded {
    LoadReply reply;
    Nanoseconds load_time{};
  };
  WorkerResult<Loaded> load(const LoadRequest& request, const StopRequest& stop);

  struct Measured {
    ProcessRun process;  // without index and load_time, which the caller knows
    bool warmup_steady = true;
  };

  // Runs the measuring loop in the worker. `stop` reaching stop_now kills the worker within some 50 ms;
  // finish_cell lets it end. `time_limit` is of this visit; it does not hold for fixed counts.
  WorkerResult<Measured> measure(Mode mode, const MeasureRequest& request, Nanoseconds time_limit,
                                 int in_flight, const StopRequest& stop,
                                 const std::function<void(const Progress&)>& on_progress);

  // The verbs below are optional and need a load (probe does not): an engine without one of them (see
  // description()) answers with trouble of kind `unsupported`, and serves on.

  // What one call on the given inputs gives; on those of input buffer 0 where there are none.
  WorkerResult<std::vector<Tensor>> outputs(std::vector<Tensor> inputs, const StopRequest& stop);

  // Mean time of each op over `calls` calls. `trace_path` is given instead by an engine that writes a trace.
  struct Profiled {
    std::vector<OpTime> ops;
    std::string trace_path;
  };
  WorkerResult<Profiled> profile(int calls, const StopRequest& stop);

  // Measures one ceiling, of those of description().probes.
  WorkerResult<Ceiling> probe(const std::string& device, const std::string& quantity,
                              const StopRequest& stop);

 private:
  struct State;
  explicit WorkerClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace deepgap::run
