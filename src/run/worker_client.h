// The core's end of a worker: starts it, sends requests, waits for replies with limits, and says how it was
// lost.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "base/signals.h"
#include "core/measurement.h"
#include "run/engine.h"
#include "run/engine_registry.h"
#include "run/plan.h"

namespace deepgap::run {

// Why a request has no result. `worker_lost`: this process can serve no more; start another.
struct WorkerTrouble {
  CellFailure failure;  // kinds of core/measurement.h: "out_of_memory", "crash", "hang", "unsupported",
                        // "protocol", ...
  bool worker_lost = false;
  bool model_lost = false;  // every cell of this model will fail alike
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

class WorkerClient {
 public:
  // `log_path`: where stdout and stderr of the worker go; its last lines are quoted when it is lost.
  static Result<WorkerClient> start(const WorkerProgram& program, const std::string& log_path,
                                    Nanoseconds hang_limit);
  WorkerClient(WorkerClient&&) noexcept;
  WorkerClient& operator=(WorkerClient&&) noexcept;
  ~WorkerClient();

  const EngineDescription& description() const;
  int pid() const;

  struct Loaded {
    LoadReply reply;
    Nanoseconds load_time{};
  };
  WorkerResult<Loaded> load(const LoadRequest& request, const StopRequest& stop);

  struct Measured {
    ProcessRun process;  // without index and load_time, which the caller knows
    bool warmup_steady = true;
  };

  // Runs the measuring loop in the worker. `stop` reaching stop_now kills the worker at once; finish_cell
  // lets it end.
  WorkerResult<Measured> measure(Mode mode, const MeasureRequest& request, Nanoseconds time_limit,
                                   int in_flight, const StopRequest& stop,
                                   const std::function<void(const Progress&)>& on_progress);

 private:
  struct State;
  explicit WorkerClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace deepgap::run
