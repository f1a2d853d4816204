#include "run/worker_client.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <fstream>

#include "base/clock.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "run/message_stream.h"
#include "run/protocol.h"

namespace deepgap::run {
namespace {

constexpr Nanoseconds kWakeEvery = std::chrono::milliseconds(50);    // to look at the stop request
constexpr Nanoseconds kSendLimit = std::chrono::seconds(10);         // a worker that does not read
constexpr Nanoseconds kExitGrace = std::chrono::seconds(2);
constexpr Nanoseconds kStatusWait = std::chrono::seconds(2);         // from a closed pipe to the exit status
// A fixed count of calls ends when they are made; the limit only bounds a mistake.
constexpr Nanoseconds kNoTimeLimit = std::chrono::hours(24 * 30);
constexpr std::size_t kLogLines = 3;

// The last lines of a worker's log, made safe to print, as " (its log ends: ...)".
std::string log_end(const std::string& path) {
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  constexpr std::streamoff kTail = 4096;
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kTail));
  std::string text(static_cast<std::size_t>(std::min(size, kTail)), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  std::vector<std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    if (!trim(line).empty()) lines.push_back(printable(trim(line), 200));
  }
  if (lines.empty()) return fmt::format("; its log {} is empty", path);
  const std::size_t from = lines.size() > kLogLines ? lines.size() - kLogLines : 0;
  return fmt::format("; its log {} ends: {}", path, join(std::span(lines).subspan(from), " | "));
}

CellFailure failure_of(const EngineFailure& failure) {
  return {.kind = failure.kind, .text = printable(failure.message, 1000), .bytes_asked = failure.bytes_asked};
}

// Samples that could not have come from a clock are not stored.
std::string sample_fault(const SampleColumns& samples) {
  const std::size_t n = samples.host_ns.size();
  if (n == 0) return "no samples";
  if (samples.start_ns.size() != n || (!samples.enqueue_ns.empty() && samples.enqueue_ns.size() != n) ||
      (!samples.device_ns.empty() && samples.device_ns.size() != n)) {
    return fmt::format("columns of unequal length ({} host times, {} starts)", n, samples.start_ns.size());
  }
  for (const std::vector<std::int64_t>* column : {&samples.host_ns, &samples.enqueue_ns, &samples.device_ns}) {
    if (std::any_of(column->begin(), column->end(), [](std::int64_t value) { return value < 0; })) return "a negative time";
  }
  return {};
}

}  // namespace

struct WorkerClient::State {
  Subprocess process;
  MessageReader reader;
  MessageWriter writer;
  std::string name;
  std::string log_path;
  Nanoseconds hang_limit{};
  HelloReply hello;
  SystemClock clock;
  std::int64_t next_id = 1;
  bool lost = false;

  State(Subprocess started, std::string engine, std::string log, Nanoseconds limit)
      : process(std::move(started)),
        reader(process.read_descriptor()),
        writer(process.write_descriptor()),
        name(std::move(engine)),
        log_path(std::move(log)),
        hang_limit(limit) {}

  WorkerTrouble lose(std::string kind, std::string text) {
    lost = true;
    process.stop(Nanoseconds{0});
    return {.failure = {.kind = std::move(kind), .text = std::move(text)}, .worker_lost = true};
  }

  // What the end of the process means, in words.
  WorkerTrouble ended(std::string_view during) {
    const std::optional<ExitStatus> status = process.wait(kStatusWait);
    if (!status) {
      return lose("protocol", fmt::format("worker {} closed its pipe during {} but still runs: expected a reply{}", name, during,
                                          log_end(log_path)));
    }
    if (status->signal == SIGKILL) {
      return lose("out_of_memory", fmt::format("worker {} was killed during {}, most likely by the kernel for want of memory: try a "
                                               "smaller batch{}", name, during, log_end(log_path)));
    }
    return lose("crash", fmt::format("worker {} ended during {} ({}): expected a reply{}", name, during, status->describe(),
                                     log_end(log_path)));
  }

  WorkerTrouble breach(std::string_view during, const std::string& what) {
    return lose("protocol", fmt::format("worker {} broke the protocol during {}: {}; `deepgap-worker-conformance` says more{}", name,
                                        during, what, log_end(log_path)));
  }

  // Sends a request and waits for its reply. `stop` reaching stop_now ends it at once.
  WorkerResult<Message> ask(const Request& request, const StopRequest* stop,
                            const std::function<void(const MeasureProgress&)>& on_progress) {
    const std::string during(verb_of(request));
    const std::int64_t id = next_id++;
    if (const Result<void> sent = writer.write(encode(id, request), kSendLimit); !sent.ok()) return ended(during);
    Nanoseconds heard_at = clock.monotonic();
    for (;;) {
      Result<ReadOutcome> read = reader.read(kWakeEvery);
      if (!read.ok()) return breach(during, read.error().message());
      if (read->status == ReadStatus::kEnded) return ended(during);
      if (read->status == ReadStatus::kTimedOut) {
        if (stop != nullptr && stop->level() == StopLevel::kStopNow) return lose("cancelled", "stopped by the user");
        if (clock.monotonic() - heard_at > hang_limit) {
          return lose("hang", fmt::format("worker {} was silent for {} during {}: expected progress or a reply; it was ended "
                                          "(--hang-limit sets the limit){}", name, format_duration(hang_limit), during,
                                          log_end(log_path)));
        }
        continue;
      }
      heard_at = clock.monotonic();
      const Result<Incoming> incoming = classify(read->message);
      if (!incoming.ok()) return breach(during, incoming.error().message());
      if (incoming->kind == Incoming::Kind::kEvent) {
        if (incoming->event == "progress" && on_progress) on_progress(incoming->progress);
        continue;
      }
      if (incoming->id != id) {
        return breach(during, fmt::format("expected the reply to request {}, found one to {}", id, incoming->id));
      }
      if (incoming->kind == Incoming::Kind::kFailure) {
        WorkerTrouble trouble{.failure = failure_of(incoming->failure),
                              .worker_lost = !process_stays_usable(incoming->failure.kind),
                              .model_lost = incoming->failure.kind == "bad_model"};
        if (trouble.worker_lost) {
          lost = true;
          process.stop(kExitGrace);
        }
        return trouble;
      }
      return std::move(read->message);
    }
  }
};

WorkerClient::WorkerClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
WorkerClient::WorkerClient(WorkerClient&&) noexcept = default;
WorkerClient& WorkerClient::operator=(WorkerClient&&) noexcept = default;

WorkerClient::~WorkerClient() {
  if (!state_ || state_->lost) return;
  // A worker exits when its pipe closes; one that does not is ended.
  state_->process.close_write();
  if (!state_->process.wait(kExitGrace)) state_->process.stop(kExitGrace);
}

Result<WorkerClient> WorkerClient::start(const WorkerProgram& program, const std::string& log_path, Nanoseconds hang_limit) {
  DEEPGAP_ASSIGN(Subprocess process, Subprocess::start({.command = {program.path}, .log_path = log_path}));
  auto state = std::make_unique<State>(std::move(process), program.engine, log_path, hang_limit);
  WorkerResult<Message> reply = state->ask(HelloVerb{}, nullptr, nullptr);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return missing(trouble->failure.text);
  Result<HelloReply> hello = decode_hello_reply(std::get<Message>(reply));
  if (!hello.ok()) return missing(state->breach("hello", hello.error().message()).failure.text);
  if (hello->protocol != kProtocolVersion) {
    return missing(fmt::format("worker {} speaks protocol {}: expected {}; build it again with this deepgap", program.path,
                               hello->protocol, kProtocolVersion));
  }
  state->hello = std::move(*hello);
  return WorkerClient(std::move(state));
}

const EngineDescription& WorkerClient::description() const { return state_->hello.engine; }
int WorkerClient::pid() const { return state_->process.pid(); }

WorkerResult<WorkerClient::Loaded> WorkerClient::load(const LoadRequest& request, const StopRequest& stop) {
  WorkerResult<Message> reply = state_->ask(request, &stop, nullptr);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return std::move(*trouble);
  Result<LoadedReply> loaded = decode_load_reply(std::get<Message>(reply));
  if (!loaded.ok()) return state_->breach("load", loaded.error().message());
  return Loaded{.reply = std::move(loaded->load), .load_time = loaded->load_time};
}

WorkerResult<WorkerClient::Measured> WorkerClient::measure(Mode mode, const MeasureRequest& request, Nanoseconds time_limit,
                                                           int in_flight, const StopRequest& stop,
                                                           const std::function<void(const Progress&)>& on_progress) {
  MeasureVerb verb{.options = {.mode = mode, .warmup_fixed_calls = request.fixed_warmup, .in_flight = in_flight}};
  verb.options.stopping.target_relative_half_width = request.target;
  verb.options.stopping.fixed_count = request.fixed_calls;
  verb.options.stopping.time_limit = request.fixed_calls ? kNoTimeLimit : time_limit;
  verb.options.stopping.min_time = std::min(verb.options.stopping.min_time, time_limit / 2);
  const auto tell = [&on_progress](const MeasureProgress& progress) {
    if (!on_progress) return;
    on_progress({.phase = std::string(name_of(progress.phase)),
                 .calls = progress.calls,
                 .elapsed = progress.elapsed,
                 .median = progress.median,
                 .width = progress.width});
  };
  WorkerResult<Message> reply = state_->ask(verb, &stop, tell);
  if (auto* trouble = std::get_if<WorkerTrouble>(&reply)) return std::move(*trouble);
  Result<MeasureReply> measured = decode_measure_reply(std::get<Message>(reply));
  if (!measured.ok()) return state_->breach("measure", measured.error().message());
  if (const std::string fault = sample_fault(measured->samples); !fault.empty()) {
    return state_->breach("measure", "expected samples of timed calls, found " + fault);
  }
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

}  // namespace deepgap::run
