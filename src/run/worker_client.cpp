#include "run/worker_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/subprocess.h"
#include "base/text.h"
#include "run/memory_kills.h"
#include "run/message_stream.h"
#include "run/protocol.h"
#include "run/worker_log.h"

namespace deepgap::run {
namespace {

constexpr Nanoseconds kWakeEvery = std::chrono::milliseconds(50);  // to look at the stop request
constexpr Nanoseconds kSendLimit = std::chrono::seconds(10);       // a worker that does not read
// A worker that only says hello is not given the time that a model may take to load.
constexpr Nanoseconds kHelloLimit = std::chrono::seconds(30);
constexpr Nanoseconds kExitGrace = std::chrono::seconds(2);
constexpr Nanoseconds kStatusWait = std::chrono::seconds(2);  // from a closed pipe to the exit status
// A fixed count of calls ends when they are made; the limit only bounds a mistake.
constexpr Nanoseconds kNoTimeLimit = std::chrono::hours(24 * 30);
constexpr Nanoseconds kShortestMeasuring = std::chrono::milliseconds(1);
constexpr std::size_t kMessageLength = 1000;

CellFailure failure_of(const EngineFailure& failure) {
  return {.kind = failure.kind,
          .text = printable(failure.message, kMessageLength),
          .bytes_asked = failure.bytes_asked};
}

// What makes a reply's samples none of timed calls, beyond what its decoding checks; "" where nothing does.
std::string sample_fault(const MeasureOptions& asked, const MeasureReply& reply) {
  if (reply.stop_reason == StopReason::kCancelled)
    return "expected the measuring to run to its end, found it cancelled, which nobody asked for";
  if (const Result<void> checked = check_measuring(asked, reply); !checked.ok())
    return checked.error().message();
  const std::optional<std::int64_t>& fixed = asked.stopping.fixed_count;
  if (fixed && static_cast<std::int64_t>(reply.samples.size()) < *fixed)
    return fmt::format("expected {} timed calls, found {}", *fixed, reply.samples.size());
  return {};
}

}  // namespace

struct WorkerClient::State {
  Subprocess process;
  MessageReader reader;
  MessageWriter writer;
  std::string name;
  WorkerOptions options;
  std::optional<MemoryKills> memory_kills;
  std::optional<std::int64_t> kills_before;  // at the last request
  HelloReply hello;
  SystemClock clock;
  std::int64_t next_id = 1;
  bool lost = false;
  bool log_needed = false;  // it tells of trouble

  State(Subprocess started, std::string engine, WorkerOptions options_in)
      : process(std::move(started)),
        reader(process.read_descriptor()),
        writer(process.write_descriptor()),
        name(std::move(engine)),
        options(std::move(options_in)) {
    if (options.files != nullptr) memory_kills.emplace(*options.files);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // A worker exits when its pipe closes; one that does not is ended.
  ~State() {
    if (!lost) {
      process.close_write();
      std::optional<ExitStatus> status = process.wait(kExitGrace);
      if (!status) status = process.stop(kExitGrace);
      log_needed = log_needed || status->code != 0;
    }
    if (options.log_path.empty()) return;
    std::error_code error;
    const bool empty = std::filesystem::file_size(options.log_path, error) == 0 && !error;
    if (!log_needed || !options.keep_log || empty) std::filesystem::remove(options.log_path, error);
  }

  std::string log_end() const { return quote_log_end(options.log_path, options.keep_log); }

  WorkerTrouble lose(std::string kind, std::string text) {
    lost = true;
    log_needed = true;
    process.stop(Nanoseconds{0});
    return {.failure = {.kind = std::move(kind), .text = std::move(text)}, .worker_lost = true};
  }

  WorkerTrouble cancelled() {
    WorkerTrouble trouble = lose("cancelled", "stopped by the user");
    log_needed = false;
    return trouble;
  }

  // `during`: "during load", "between two requests".
  WorkerTrouble killed(std::string_view during) {
    const std::optional<std::int64_t> kills = memory_kills ? memory_kills->count() : std::nullopt;
    const bool counted = kills && kills_before;
    if (counted && *kills > *kills_before) {
      return lose(
          "out_of_memory",
          fmt::format("worker {} was killed {} by the kernel for want of memory: expected a reply; take a "
                      "smaller batch, or free memory{}",
                      name, during, log_end()));
    }
    return lose("crash",
                fmt::format("worker {} was killed {} by a signal 9 that deepgap did not send, {}: expected a "
                            "reply{}",
                            name, during,
                            counted ? "though the kernel counts no kill for want of memory"
                                    : "most likely by the kernel for want of memory",
                            log_end()));
  }

  WorkerTrouble crashed(const ExitStatus& status, std::string_view during) {
    if (status.signal == SIGKILL) return killed(during);
    return lose("crash", fmt::format("worker {} ended {} ({}): expected a reply{}", name, during,
                                     status.describe(), log_end()));
  }

  // The pipe has closed: what that means, in words.
  WorkerTrouble ended(std::string_view during) {
    if (const std::optional<ExitStatus> status = process.wait(kStatusWait)) return crashed(*status, during);
    return lose("protocol", fmt::format("worker {} closed its pipe {} but still ran: expected a reply{}",
                                        name, during, log_end()));
  }

  WorkerTrouble breach(std::string_view during, const std::string& what) {
    return lose("protocol",
                fmt::format("worker {} broke the protocol {}: {}; deepgap-worker-conformance says "
                            "more{}",
                            name, during, what, log_end()));
  }

  WorkerTrouble silent(std::string_view during, Nanoseconds limit) {
    return lose("hang",
                fmt::format("worker {} was silent for {} {}: expected progress or a reply; it was ended "
                            "({}){}",
                            name, format_duration(limit), during,
                            limit < options.hang_limit ? "the limit of a worker that starts"
                                                       : "--hang-limit sets the limit",
                            log_end()));
  }

  // Nothing was sent: the worker serves on. What can be so long are the tensors of the model.
  static WorkerTrouble too_long(const LoadRequest& load, std::size_t size) {
    return {.failure = {.kind = std::string(failures::kBadModel),
                        .text = fmt::format(
                            "model {}: expected names and shapes of its inputs that fit a request of {} "
                            "bytes, found one of {}: give its tensors shorter names",
                            printable(load.model_name, kMessageLength), kLineLimit, size)},
            .model_lost = true};
  }

  WorkerTrouble refused(const EngineFailure& failure) {
    WorkerTrouble trouble{.failure = failure_of(failure),
                          .worker_lost = !process_stays_usable(failure.kind),
                          .model_lost = failure.kind == failures::kBadModel};
    if (trouble.worker_lost) {
      lost = true;
      log_needed = true;
      process.stop(kExitGrace);
    }
    return trouble;
  }

  // Sends a request and waits for its reply, at most `longest` where that is given, however often progress
  // comes. `stop` reaching stop_now ends the worker at once, and one that starts at the first request.
  WorkerResult<Message> ask(const Request& request, const StopRequest& stop,
                            std::optional<Nanoseconds> longest = std::nullopt,
                            const std::function<void(const MeasureProgress&)>& on_progress = nullptr) {
    const std::string during = fmt::format("during {}", verb_of(request));
    const bool starts = std::holds_alternative<HelloVerb>(request);
    const Nanoseconds limit = starts ? std::min(kHelloLimit, options.hang_limit) : options.hang_limit;
    const std::int64_t id = next_id++;
    if (memory_kills) kills_before = memory_kills->count();
    const Message message = encode(id, request);
    if (const auto* load = std::get_if<LoadRequest>(&request); load && message.header.size() >= kLineLimit)
      return too_long(*load, message.header.size());
    if (const Result<void> sent = writer.write(message, kSendLimit); !sent.ok()) {
      if (const std::optional<ExitStatus> status = process.wait(kStatusWait)) return crashed(*status, during);
      return lose("protocol", fmt::format("worker {} did not take the request {}: {}{}", name, during,
                                          sent.error().message(), log_end()));
    }
    const Nanoseconds asked_at = clock.monotonic();
    Nanoseconds heard_at = asked_at;
    for (;;) {
      // Of a worker that starts there is nothing to finish.
      if (stop.level() == StopLevel::kStopNow || (starts && stop.level() != StopLevel::kNone))
        return cancelled();
      if (stop.level() == StopLevel::kFinishCell && options.on_stop_asked)
        std::exchange(options.on_stop_asked, nullptr)();
      Result<ReadOutcome> read = reader.read(std::min(kWakeEvery, limit));
      if (!read.ok()) return breach(during, read.error().message());
      if (read->status == ReadStatus::kEnded) return ended(during);
      const Nanoseconds now = clock.monotonic();
      if (read->status == ReadStatus::kTimedOut) {
        if (now - heard_at > limit) return silent(during, limit);
        continue;
      }
      heard_at = now;
      const Result<Incoming> incoming = classify(read->message);
      if (!incoming.ok()) return breach(during, incoming.error().message());
      if (incoming->kind == Incoming::Kind::kEvent) {
        if (longest && now - asked_at > *longest) {
          return lose("hang",
                      fmt::format("worker {} was still busy {} after {}: expected a reply by then; it was "
                                  "ended{}",
                                  name, during, format_duration(*longest), log_end()));
        }
        if (incoming->event == "progress" && incoming->id == id && on_progress)
          on_progress(incoming->progress);
        continue;
      }
      if (incoming->id != id) {
        return breach(during,
                      fmt::format("expected the reply to request {}, found one to {}", id, incoming->id));
      }
      if (incoming->kind == Incoming::Kind::kFailure) return refused(incoming->failure);
      return std::move(read->message);
    }
  }

  // The same with the reply decoded: one that cannot be is a breach of the protocol.
  template <typename Argument, typename Reply>
  WorkerResult<Reply> ask_for(const Request& request, const StopRequest& stop,
                              Result<Reply> (*decode)(Argument),
                              std::optional<Nanoseconds> longest = std::nullopt,
                              const std::function<void(const MeasureProgress&)>& on_progress = nullptr) {
    WorkerResult<Message> reply = ask(request, stop, longest, on_progress);
    if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return std::move(*trouble);
    Result<Reply> decoded = decode(std::move(std::get<Message>(reply)));
    if (!decoded.ok()) return breach(fmt::format("during {}", verb_of(request)), decoded.error().message());
    return std::move(*decoded);
  }
};

WorkerClient::WorkerClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
WorkerClient::WorkerClient(WorkerClient&&) noexcept = default;
WorkerClient& WorkerClient::operator=(WorkerClient&&) noexcept = default;
WorkerClient::~WorkerClient() = default;

WorkerResult<WorkerClient> WorkerClient::start(const WorkerProgram& program, const WorkerOptions& options,
                                               const StopRequest& stop) {
  const auto trouble_of = [](std::string kind, std::string text) {
    return WorkerTrouble{.failure = {.kind = std::move(kind), .text = std::move(text)}, .worker_lost = true};
  };
  Result<Subprocess> process = Subprocess::start({.command = {program.path}, .log_path = options.log_path});
  if (!process.ok()) return trouble_of("crash", process.error().message());
  auto state = std::make_unique<State>(std::move(*process), program.engine, options);
  WorkerResult<HelloReply> reply =
      state->ask_for(HelloVerb{.deepgap_version = DEEPGAP_VERSION}, stop, decode_hello_reply);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) {
    trouble->worker_lost = true;
    return std::move(*trouble);
  }
  HelloReply* const hello = &std::get<HelloReply>(reply);
  if (hello->protocol != kProtocolVersion) {
    return state->lose("protocol",
                       fmt::format("worker {} speaks version {} of the protocol: expected {}; build it "
                                   "again with this deepgap",
                                   printable(program.path), hello->protocol, kProtocolVersion));
  }
  state->hello = std::move(*hello);
  return WorkerClient(std::move(state));
}

const EngineDescription& WorkerClient::description() const {
  return state_->hello.engine;
}
int WorkerClient::pid() const {
  return state_->process.pid();
}

std::optional<WorkerTrouble> WorkerClient::ended_between() {
  if (state_->lost) return WorkerTrouble{.failure = {.kind = "crash"}, .worker_lost = true};
  const std::optional<ExitStatus> status = state_->process.poll();
  if (!status) return std::nullopt;
  return state_->crashed(*status, "between two requests");
}

WorkerResult<WorkerClient::Loaded> WorkerClient::load(const LoadRequest& request, const StopRequest& stop) {
  WorkerResult<LoadedReply> reply = state_->ask_for(request, stop, decode_load_reply);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return std::move(*trouble);
  auto& loaded = std::get<LoadedReply>(reply);
  return Loaded{.reply = std::move(loaded.load), .load_time = loaded.load_time};
}

WorkerResult<WorkerClient::Measured> WorkerClient::measure(
    Mode mode, const MeasureRequest& request, Nanoseconds time_limit, int in_flight, const StopRequest& stop,
    const std::function<void(const Progress&)>& on_progress) {
  time_limit = std::max(time_limit, kShortestMeasuring);
  MeasureVerb verb{
      .options = {.mode = mode, .warmup_fixed_calls = request.fixed_warmup, .in_flight = in_flight}};
  stats::StoppingOptions& stopping = verb.options.stopping;
  stopping.target_relative_half_width = request.target;
  stopping.fixed_count = request.fixed_calls;
  stopping.time_limit = request.fixed_calls ? kNoTimeLimit : time_limit;
  stopping.min_time = std::min(stopping.min_time, time_limit / 2);
  // One call may take up to the hang limit, and warm-up and timed calls are a call for each slot at least.
  std::optional<Nanoseconds> longest;
  if (!request.fixed_calls) longest = time_limit + (2 + 2 * in_flight) * state_->options.hang_limit;
  const auto tell = [&on_progress](const MeasureProgress& progress) {
    if (!on_progress) return;
    on_progress({.phase = std::string(name_of(progress.phase)),
                 .calls = progress.calls,
                 .elapsed = progress.elapsed,
                 .median = progress.median,
                 .width = progress.width});
  };
  WorkerResult<MeasureReply> reply = state_->ask_for(verb, stop, decode_measure_reply, longest, tell);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return std::move(*trouble);
  MeasureReply* const measured = &std::get<MeasureReply>(reply);
  if (const std::string fault = sample_fault(verb.options, *measured); !fault.empty())
    return state_->breach("during measure", fault);
  return Measured{.process = {.first_call = measured->first_call,
                              .warmup_calls = measured->warmup_calls,
                              .warmup_time = measured->warmup_time,
                              .samples = std::move(measured->samples),
                              .window = measured->window,
                              .completed = measured->completed,
                              .peak_memory = measured->memory.peak_process,
                              .peak_device_memory = measured->memory.peak_device,
                              .stop_reason = measured->stop_reason,
                              .started = measured->started},
                  .warmup_steady = measured->warmup_steady};
}

WorkerResult<std::vector<Tensor>> WorkerClient::outputs(std::vector<Tensor> inputs, const StopRequest& stop) {
  WorkerResult<OutputsReply> reply =
      state_->ask_for(OutputsVerb{.inputs = std::move(inputs)}, stop, decode_outputs_reply);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return std::move(*trouble);
  return std::move(std::get<OutputsReply>(reply).outputs);
}

WorkerResult<WorkerClient::Profiled> WorkerClient::profile(int calls, const StopRequest& stop) {
  WorkerResult<ProfileReply> reply = state_->ask_for(ProfileVerb{.calls = calls}, stop, decode_profile_reply);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return std::move(*trouble);
  auto& profile = std::get<ProfileReply>(reply);
  return Profiled{.ops = std::move(profile.ops), .trace_path = std::move(profile.trace_path)};
}

WorkerResult<Ceiling> WorkerClient::probe(const std::string& device, const std::string& quantity,
                                          const StopRequest& stop) {
  WorkerResult<ProbeReply> reply =
      state_->ask_for(ProbeVerb{.device = device, .quantity = quantity}, stop, decode_probe_reply);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return std::move(*trouble);
  return std::move(std::get<ProbeReply>(reply).ceiling);
}

}  // namespace deepgap::run
