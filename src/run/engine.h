// What an engine is to its worker program: load a model, make calls, say what they took.
//
// A C++ worker implements Engine and hands it to serve() (run/worker_server.h), which speaks the worker
// protocol (docs/worker-protocol.md); the measuring loop (run/worker_loop.h) drives it. All engines are timed
// by that same loop. One thread calls an Engine. Slots are calls that may be in flight together; slot 0
// always exists after load().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "core/device.h"
#include "core/precision.h"
#include "core/setting.h"

namespace deepgap::run {

// The kinds of failure; docs/worker-protocol.md says what each costs the sweep.
namespace failures {
inline constexpr std::string_view kBadRequest = "bad_request";   // an option that the engine refuses
inline constexpr std::string_view kUnsupported = "unsupported";  // a precision, op, device or verb it lacks
inline constexpr std::string_view kBadModel = "bad_model";       // it cannot read the model
inline constexpr std::string_view kOutOfMemory = "out_of_memory";
inline constexpr std::string_view kDeviceLost = "device_lost";  // nothing works on the device any more
inline constexpr std::string_view kInternal = "internal";       // anything else
}  // namespace failures

// A failed verb, as the protocol carries it.
struct EngineFailure {
  std::string kind;  // one of `failures`
  std::string message;
  std::optional<Bytes> bytes_asked;  // out_of_memory, where the engine says so
};

// Success, or why not. Cheap when it succeeds: the measuring loop returns one a call.
class [[nodiscard]] Outcome {
 public:
  Outcome() = default;
  Outcome(EngineFailure failure) : failure_(std::make_unique<EngineFailure>(std::move(failure))) {}
  bool ok() const { return failure_ == nullptr; }
  const EngineFailure& failure() const { return *failure_; }

 private:
  std::unique_ptr<const EngineFailure> failure_;
};

// A tensor's element type by its ONNX name: "float32", "float16", "bfloat16", "int64", "int32", "uint8",
// "bool", ...
struct TensorSpec {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;  // all known: batch and named dimensions are filled in
  double low = 0;                   // inputs: values are drawn from [low, high)
  double high = 1;
};

struct Tensor {
  TensorSpec spec;
  std::vector<std::byte> bytes;  // little-endian, row-major
};

enum class PrecisionMaker { kEngine, kGraphPass };  // who makes the precision: "engine", "graph_pass"

struct EngineDescription {
  std::string name;     // "openvino"
  std::string version;  // of the engine itself
  std::vector<Device> devices;
  std::vector<std::pair<Precision, PrecisionMaker>> precisions;  // graph_pass: takes a model that a pass made
  std::vector<std::string> model_formats;                        // "onnx", "torchscript"
  std::vector<std::string> settings;                             // names that `load` takes
  std::vector<std::string> process_settings;  // those of them that a process fixes at its first load
  bool device_timer = false;                  // gives device_ns
  bool enqueue_timer = false;                 // gives enqueue_ns
  bool polls = false;                         // done() may be asked without waiting
  bool outputs = false;
  bool profile = false;
  std::vector<std::string> probes;  // quantities of ceilings it can measure
};

struct LoadRequest {
  std::string model_path;
  std::string model_format = "onnx";
  std::string model_name;  // for messages
  std::string model_hash;
  std::string device = "cpu";
  Precision precision = Precision::kFp32;
  Mode mode = Mode::kLatency;
  std::int64_t batch = 1;
  std::vector<TensorSpec> inputs;               // with batch filled in
  int input_buffers = 1;                        // rotated between calls, so that caches do not keep the input
  std::uint64_t seed = 1;                       // of the input values
  std::optional<int> in_flight;                 // throughput: calls in flight; absent: the engine chooses
  std::map<std::string, std::string> settings;  // requested
};

struct LoadReply {
  int slots = 1;                  // calls that may be in flight
  std::vector<Setting> settings;  // requested and effective
  std::vector<TensorSpec> outputs;
  // Spent within load() on what is no part of the model's load: freeing the one before, starting the engine
  // itself at a process's first load, making input values.
  Nanoseconds other_time{};
};

struct Completion {
  int slot = 0;
  Nanoseconds completed_at{};  // CLOCK_MONOTONIC, as near to the completion as the engine can stamp it
};

struct CallTimes {
  std::optional<Nanoseconds> enqueue;
  std::optional<Nanoseconds> device;
};

struct MemoryUse {
  std::optional<Bytes> peak_process;
  std::optional<Bytes> peak_device;
};

// One row of a per-op profile.
struct OpTime {
  std::string name;       // node of the model
  std::string type;       // the engine's layer type
  std::string exec_type;  // implementation and precision that ran, as the engine names them
  Nanoseconds time{};
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Asked before each load and measuring: cheap after the first time.
  virtual EngineDescription describe() = 0;

  // Replaces what was loaded before. Blocks until calls can be made.
  virtual Outcome load(const LoadRequest& request, LoadReply& reply) = 0;

  // One synchronous call on slot 0.
  virtual Outcome call() = 0;
  // Starts a call on a free slot and returns once it is submitted.
  virtual Outcome enqueue(int slot) = 0;
  // Blocks until one of the calls in flight has ended.
  virtual Outcome wait_any(Completion& completion) = 0;
  // Whether the call on a slot has ended; only where describe().polls.
  virtual bool done(int /*slot*/) { return false; }
  // Times of the last ended call of a slot, where the engine has timers.
  virtual CallTimes times(int /*slot*/) { return {}; }

  virtual MemoryUse memory();  // peak resident memory of the process (VmHWM) unless overridden

  // Outputs of one call on the given inputs (those of buffer 0 where empty).
  virtual Outcome outputs(std::span<const Tensor> inputs, std::vector<Tensor>& outputs);
  // Mean time an op over `calls` calls.
  virtual Outcome profile(int calls, std::vector<OpTime>& ops);
  // Measures one ceiling of a device.
  virtual Outcome probe(const std::string& device, const std::string& quantity, Ceiling& ceiling);

  // The clock that the loop reads and sleeps by; null: the system's. Only the fake engine has its own, so
  // that planted times need not be waited for.
  virtual Clock* clock() { return nullptr; }
};

// Peak resident memory of this process since the last reset, or since its start where there was none (VmHWM
// of /proc/self/status); nothing where the kernel does not tell.
std::optional<Bytes> peak_resident_memory();
// So that the peak of a small cell is not that of a large one before it in the same process. False: the
// kernel refuses.
bool reset_peak_resident_memory();

}  // namespace deepgap::run
