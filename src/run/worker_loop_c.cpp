#include "run/worker_loop_c.h"

#include <exception>
#include <memory>
#include <string>

#include "run/worker_loop.h"

namespace {

using namespace deepgap;
using namespace deepgap::run;

thread_local std::string last_error;

int refuse(std::string sentence) {
  last_error = std::move(sentence);
  return DEEPGAP_REFUSED;
}

std::int64_t or_unknown(const std::optional<Nanoseconds>& value) {
  return value ? value->count() : DEEPGAP_UNKNOWN;
}

// The kind that carries a foreign function's own number through the loop, in bytes_asked.
constexpr std::string_view kForeign = "foreign";

class ForeignEngine final : public Engine {
 public:
  explicit ForeignEngine(const deepgap_engine& engine) : engine_(engine) {}

  EngineDescription describe() override {
    EngineDescription description;
    description.enqueue_timer = description.device_timer = engine_.times != nullptr;
    return description;
  }
  Outcome load(const LoadRequest&, LoadReply&) override { return {}; }  // is the foreign program's own affair
  Outcome call() override { return outcome_of(engine_.call(engine_.context)); }
  Outcome enqueue(int slot) override { return outcome_of(engine_.enqueue(engine_.context, slot)); }
  Outcome wait_any(Completion& completion) override {
    std::int64_t completed_at = 0;
    completion.slot = -1;
    const int status = engine_.wait_any(engine_.context, &completion.slot, &completed_at);
    completion.completed_at = Nanoseconds(completed_at);
    return outcome_of(status);
  }
  CallTimes times(int slot) override {
    std::int64_t enqueue = DEEPGAP_UNKNOWN, device = DEEPGAP_UNKNOWN;
    engine_.times(engine_.context, slot, &enqueue, &device);
    CallTimes times;
    if (enqueue != DEEPGAP_UNKNOWN) times.enqueue = Nanoseconds(enqueue);
    if (device != DEEPGAP_UNKNOWN) times.device = Nanoseconds(device);
    return times;
  }

 private:
  static Outcome outcome_of(int status) {
    if (status == 0) return {};
    return EngineFailure{std::string(kForeign), "", Bytes{status}};
  }
  const deepgap_engine& engine_;
};

class ForeignObserver final : public MeasureObserver {
 public:
  ForeignObserver(deepgap_go_on function, void* context) : function_(function), context_(context) {}
  bool go_on(const MeasureProgress& progress) override {
    if (function_ == nullptr) return true;
    const deepgap_progress foreign{name_of(progress.phase).data(), progress.calls, progress.elapsed.count(),
                                   or_unknown(progress.median), progress.width.value_or(-1)};
    return function_(context_, &foreign) != 0;
  }

 private:
  deepgap_go_on function_;
  void* context_;
};

MeasureOptions options_of(const deepgap_measure_options& foreign) {
  MeasureOptions options;
  options.mode = foreign.mode == DEEPGAP_THROUGHPUT ? Mode::kThroughput : Mode::kLatency;
  options.in_flight = foreign.in_flight;
  options.warmup.min_calls = foreign.warmup_min_calls;
  options.warmup.min_time = Nanoseconds(foreign.warmup_min_ns);
  options.warmup.time_limit = Nanoseconds(foreign.warmup_max_ns);
  if (foreign.warmup_fixed_calls != DEEPGAP_UNKNOWN) options.warmup_fixed_calls = foreign.warmup_fixed_calls;
  options.stopping.target_relative_half_width = foreign.target;
  options.stopping.confidence = foreign.confidence;
  options.stopping.min_samples = foreign.min_samples;
  options.stopping.min_time = Nanoseconds(foreign.min_ns);
  options.stopping.time_limit = Nanoseconds(foreign.time_limit_ns);
  options.stopping.max_samples = foreign.max_samples;
  if (foreign.fixed_count != DEEPGAP_UNKNOWN) options.stopping.fixed_count = foreign.fixed_count;
  if (foreign.start_at_ns != DEEPGAP_UNKNOWN) options.start_at = Nanoseconds(foreign.start_at_ns);
  return options;
}

const std::int64_t* data_or_null(const std::vector<std::int64_t>& values) {
  return values.empty() ? nullptr : values.data();
}

void fill(deepgap_measurement& result, std::unique_ptr<MeasureReply> reply) {
  const SampleColumns& samples = reply->samples;
  result.first_call_ns = or_unknown(reply->first_call);
  result.warmup_calls = reply->warmup_calls;
  result.warmup_ns = reply->warmup_time.count();
  result.warmup_steady = reply->warmup_steady ? 1 : 0;
  result.reserved = 0;
  result.stop_reason = name_of(reply->stop_reason).data();  // of a table of literals
  result.window_ns = or_unknown(reply->window);
  result.completed = reply->completed;
  result.started_monotonic_ns = reply->started.monotonic_at.count();
  result.started_realtime_ns = reply->started.realtime_at.count();
  result.peak_process_bytes =
      reply->memory.peak_process ? reply->memory.peak_process->value : DEEPGAP_UNKNOWN;
  result.count = samples.size();
  result.start_ns = data_or_null(samples.start_ns);
  result.host_ns = data_or_null(samples.host_ns);
  result.enqueue_ns = data_or_null(samples.enqueue_ns);
  result.device_ns = data_or_null(samples.device_ns);
  result.owner = reply.release();
}

}  // namespace

void deepgap_measure_options_init(deepgap_measure_options* options, uint64_t struct_size) {
  if (options == nullptr || struct_size < sizeof(deepgap_measure_options)) return;
  const MeasureOptions defaults;
  *options = {};
  options->struct_size = struct_size;
  options->mode = DEEPGAP_LATENCY;
  options->in_flight = 1;
  options->cold = 1;
  options->warmup_min_calls = defaults.warmup.min_calls;
  options->warmup_min_ns = defaults.warmup.min_time.count();
  options->warmup_max_ns = defaults.warmup.time_limit.count();
  options->warmup_fixed_calls = DEEPGAP_UNKNOWN;
  options->target = defaults.stopping.target_relative_half_width;
  options->confidence = defaults.stopping.confidence;
  options->min_samples = defaults.stopping.min_samples;
  options->min_ns = defaults.stopping.min_time.count();
  options->time_limit_ns = defaults.stopping.time_limit.count();
  options->max_samples = defaults.stopping.max_samples;
  options->fixed_count = DEEPGAP_UNKNOWN;
  options->start_at_ns = DEEPGAP_UNKNOWN;
}

int deepgap_measure(const deepgap_engine* engine, const deepgap_measure_options* options, deepgap_go_on go_on,
                    void* go_on_context, deepgap_measurement* result) {
  // Later versions have larger structs with the same beginning; there is no smaller one.
  if (engine == nullptr || engine->struct_size < sizeof(deepgap_engine))
    return refuse("expected a deepgap_engine with its struct_size set, found none");
  if (options == nullptr || options->struct_size < sizeof(deepgap_measure_options))
    return refuse("expected options that deepgap_measure_options_init() filled, found none");
  if (result == nullptr || result->struct_size < sizeof(deepgap_measurement))
    return refuse("expected a deepgap_measurement with its struct_size set, found none");
  if (options->mode != DEEPGAP_LATENCY && options->mode != DEEPGAP_THROUGHPUT)
    return refuse("expected the mode DEEPGAP_LATENCY or DEEPGAP_THROUGHPUT, found " +
                  std::to_string(options->mode));
  if (engine->call == nullptr) return refuse("expected an engine with the function call, found none");
  if (options->mode == DEEPGAP_THROUGHPUT && (engine->enqueue == nullptr || engine->wait_any == nullptr))
    return refuse("expected an engine with enqueue and wait_any for the mode throughput, found none");
  if (options->in_flight < 1)
    return refuse("expected at least 1 call in flight, found " + std::to_string(options->in_flight));
  try {
    ForeignEngine foreign(*engine);
    ForeignObserver observer(go_on, go_on_context);
    auto reply = std::make_unique<MeasureReply>();
    const Outcome outcome = measure(foreign, options_of(*options), options->cold != 0, observer, *reply);
    if (!outcome.ok()) {
      if (outcome.failure().kind == kForeign) return static_cast<int>(outcome.failure().bytes_asked->value);
      return refuse(outcome.failure().message);
    }
    fill(*result, std::move(reply));
    return 0;
  } catch (const std::exception& exception) {
    return refuse(std::string("expected the loop to end, found an exception: ") + exception.what());
  }
}

void deepgap_measurement_free(deepgap_measurement* result) {
  if (result == nullptr) return;
  delete static_cast<MeasureReply*>(result->owner);
  result->owner = nullptr;
  result->count = 0;
  result->start_ns = result->host_ns = result->enqueue_ns = result->device_ns = nullptr;
}

const char* deepgap_last_error(void) {
  return last_error.c_str();
}

int64_t deepgap_now_ns(void) {
  return SystemClock().monotonic().count();
}
