#include "rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/text.h"

namespace deepgap::conformance {
namespace {

using namespace std::chrono_literals;
using run::failures::kBadModel;
using run::failures::kUnsupported;

constexpr std::int64_t kFixedWarmup = 5;
constexpr std::int64_t kFixedCount = 20;

Error expected(const std::string& what, const std::string& found) {
  return bad_input("expected " + what + ", found " + found);
}

std::string found_of(const Answer& answer) {
  return answer.failed()
             ? "the failure '" + printable(answer.head.failure.kind, 40) + "': " + answer.head.failure.message
             : std::string("success");
}

// Checks that an answer succeeded.
Result<void> succeeded(const Answer& answer) {
  if (answer.failed()) return expected("success", found_of(answer));
  return {};
}

Result<void> failed_as(const Answer& answer, std::string_view kind) {
  if (!answer.failed() || answer.head.failure.kind != kind)
    return expected(fmt::format("the failure '{}'", kind), found_of(answer));
  return {};
}

class Checker {
 public:
  Checker(const Options& options, const std::function<void(const Finding&)>& tell)
      : options_(options), tell_(tell) {}

  bool run() {
    if (!hello()) return false;
    refusals();
    // All the rest needs a model.
    if (!loading()) return kept_;
    measuring();
    cancelling();
    other_verbs();
    ending();
    return kept_;
  }

 private:
  using Check = std::function<Result<void>()>;

  // One rule. False: it is violated, so that those which build on it are left out.
  bool rule(std::string_view name, std::string_view meaning, const Check& check) {
    const auto result = check();
    Finding finding{name, meaning, result.ok() ? Verdict::kKept : Verdict::kViolated, ""};
    if (!result.ok()) finding.text = result.error().message();
    kept_ = kept_ && result.ok();
    tell_(finding);
    return result.ok();
  }
  // What a group of rules stands on; only its failure is told.
  bool ready(std::string_view name, const Result<void>& result) {
    if (result.ok()) return true;
    kept_ = false;
    tell_({name, "is ready for the rules that follow", Verdict::kViolated, result.error().message()});
    return false;
  }
  void skip(std::string_view name, std::string_view meaning, std::string why) {
    tell_({name, meaning, Verdict::kSkipped, std::move(why)});
  }

  // A fresh worker that has answered hello.
  Result<void> start() {
    connection_.reset();
    DEEPGAP_ASSIGN(Connection connection, Connection::start(options_));
    connection_.emplace(std::move(connection));
    DEEPGAP_ASSIGN(const Answer answer,
                   connection_->ask(run::HelloVerb{run::kProtocolVersion, "conformance"}));
    DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
    DEEPGAP_ASSIGN(hello_, run::decode_hello_reply(answer.message));
    return {};
  }

  run::LoadRequest load_request(Mode mode = Mode::kLatency, std::int64_t batch = 1) const {
    run::LoadRequest request;
    request.model_path = options_.model_path;
    request.model_format = options_.model_format;
    request.model_name = "conformance";
    request.device = options_.device;
    if (request.device.empty() && !hello_.engine.devices.empty())
      request.device = hello_.engine.devices[0].address;
    // Not an INT8 model unless asked for: this one has no quantisation.
    if (options_.precision)
      request.precision = *options_.precision;
    else if (!hello_.engine.precisions.empty() && !hello_.maker_of(Precision::kFp32))
      request.precision = hello_.engine.precisions[0].first;
    request.mode = mode;
    request.batch = batch;
    request.inputs = options_.inputs;
    for (auto& input : request.inputs)
      if (!input.shape.empty()) input.shape[0] = batch;
    request.input_buffers = 2;
    request.settings = options_.settings;
    if (mode == Mode::kThroughput) request.in_flight = 2;
    return request;
  }

  Result<run::LoadedReply> load(const run::LoadRequest& request) {
    DEEPGAP_ASSIGN(const Answer answer, connection_->ask(request));
    DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
    return run::decode_load_reply(answer.message);
  }

  Result<void> start_and_load(Mode mode = Mode::kLatency) {
    DEEPGAP_RETURN_IF_ERROR(start());
    DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request(mode)));
    slots_ = loaded.load.slots;
    return {};
  }

  static run::MeasureVerb fixed_measure(Mode mode = Mode::kLatency, int in_flight = 1) {
    run::MeasureVerb verb;
    verb.options.mode = mode;
    verb.options.in_flight = in_flight;
    verb.options.warmup_fixed_calls = kFixedWarmup;
    verb.options.stopping.fixed_count = kFixedCount;
    verb.options.stopping.time_limit = 600s;
    return verb;
  }

  Result<run::MeasureReply> measure(const run::MeasureVerb& verb,
                                    std::vector<run::MeasureProgress>* progress = nullptr) {
    DEEPGAP_ASSIGN(const Answer answer, connection_->ask(verb));
    DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
    if (progress != nullptr) *progress = answer.progress;
    return run::decode_measure_reply(answer.message);
  }

  bool hello() {
    if (!rule("start", "starts and answers `hello` with its name, version and capabilities",
              [&] { return start(); }))
      return false;
    return rule("hello.capabilities",
                "names itself, protocol 1, a device, a precision, a format, the verbs it must have",
                [&]() -> Result<void> {
                  if (hello_.protocol != run::kProtocolVersion)
                    return expected(fmt::format("protocol {}", run::kProtocolVersion),
                                    std::to_string(hello_.protocol));
                  if (hello_.engine.name.empty() || hello_.engine.version.empty())
                    return expected("an engine's name and version", "an empty one");
                  for (const char* verb : {"hello", "load", "measure", "exit"})
                    if (!hello_.has_verb(verb)) return expected(fmt::format("the verb '{}'", verb), "none");
                  if (hello_.engine.devices.empty()) return expected("a device", "none");
                  if (hello_.engine.precisions.empty())
                    return expected("a precision that deepgap knows", "none");
                  if (hello_.engine.model_formats.empty()) return expected("a model format", "none");
                  for (const auto& name : hello_.engine.process_settings)
                    if (std::count(hello_.engine.settings.begin(), hello_.engine.settings.end(), name) == 0)
                      return expected("each of process_settings among settings",
                                      "'" + printable(name, 60) + "' only there");
                  return {};
                });
  }

  void refusals() {
    if (!ready("request", start())) return;
    bool going =
        rule("request.unknown_member", "ignores members that it does not know", [&]() -> Result<void> {
          DEEPGAP_RETURN_IF_ERROR(connection_->send_line(fmt::format(
              R"({{"id":{},"verb":"hello","protocol":1,"deepgap_version":"x","later":{{"a":[1]}}}})",
              connection_->next_id())));
          DEEPGAP_ASSIGN(const Answer answer, connection_->receive());
          return succeeded(answer);
        });
    going =
        going && rule("request.unknown_verb", "answers a verb that it does not have with `unsupported`",
                      [&]() -> Result<void> {
                        const auto id = connection_->next_id();
                        DEEPGAP_RETURN_IF_ERROR(
                            connection_->send_line(fmt::format(R"({{"id":{},"verb":"levitate"}})", id)));
                        DEEPGAP_ASSIGN(const Answer answer, connection_->receive());
                        if (answer.head.id != id)
                          return expected(fmt::format("the reply to {}", id), std::to_string(answer.head.id));
                        return failed_as(answer, kUnsupported);
                      });
    going = going &&
            rule("measure.before_load", "refuses to measure before a model is loaded", [&]() -> Result<void> {
              DEEPGAP_ASSIGN(const Answer answer, connection_->ask(fixed_measure()));
              if (!answer.failed()) return expected("a failure", "success");
              return {};
            });
    const auto refuses = [&](auto change) {
      return [this, change]() -> Result<void> {
        run::LoadRequest request = load_request();
        change(request);
        DEEPGAP_ASSIGN(const Answer answer, connection_->ask(request));
        return failed_as(answer, kUnsupported);
      };
    };
    going = going &&
            rule("load.unknown_setting", "answers a setting that it does not know with `unsupported`",
                 refuses([](run::LoadRequest& request) { request.settings["conformance.unknown"] = "1"; }));
    going = going && rule("load.unknown_device", "answers a device that it does not have with `unsupported`",
                          refuses([](run::LoadRequest& request) { request.device = "abacus:0"; }));
    for (const Precision precision : all_precisions()) {
      if (!going || hello_.maker_of(precision)) continue;
      going = false;  // one will do
      rule("load.unknown_precision", "answers a precision that it does not have with `unsupported`",
           refuses([precision](run::LoadRequest& request) { request.precision = precision; }));
    }
  }

  // False: nothing can be loaded.
  bool loading() {
    if (!rule("load.reply", "loads the model and says slots, settings, outputs",
              [&] { return start_and_load(); }))
      return false;
    bool going = rule("load.settings", "brings every requested setting back", [&]() -> Result<void> {
      DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request()));
      for (const auto& [name, value] : options_.settings) {
        const auto row =
            std::find_if(loaded.load.settings.begin(), loaded.load.settings.end(),
                         [&wanted = name](const Setting& setting) { return setting.name == wanted; });
        if (row == loaded.load.settings.end()) return expected("a row for '" + name + "'", "none");
        if (row->requested != value)
          return expected("'" + name + "' requested as '" + value + "'",
                          "'" + row->requested.value_or("") + "'");
      }
      return {};
    });
    going =
        going && rule("load.again", "replaces what was loaded, here by another batch", [&]() -> Result<void> {
          DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request(Mode::kLatency, 2)));
          for (const auto& output : loaded.load.outputs)
            for (const auto extent : output.shape)
              if (extent < 0) return expected("shapes without unknown extents", std::to_string(extent));
          DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(fixed_measure()));
          if (reply.samples.size() == 0) return expected("samples", "none");
          return {};
        });
    if (going)
      rule("load.no_model", "answers a file that is no model with `bad_model`, or does not read it",
           [&]() -> Result<void> {
             run::LoadRequest request = load_request();
             request.model_path = options_.worker;  // a program, not a model
             DEEPGAP_ASSIGN(const Answer answer, connection_->ask(request));
             if (!answer.failed()) return {};
             DEEPGAP_RETURN_IF_ERROR(failed_as(answer, kBadModel));
             // The process stays usable.
             return discard(load(load_request()));
           });
    return true;
  }

  template <typename T>
  static Result<void> discard(Result<T> result) {
    if (!result.ok()) return std::move(result).error();
    return {};
  }

  // What holds for the samples of any measuring that was answered between two moments.
  Result<void> plausible(const run::MeasureReply& reply) {
    const auto& samples = reply.samples;
    if (!std::is_sorted(samples.start_ns.begin(), samples.start_ns.end()))
      return expected("samples in the order of their starts", "another order");
    if (reply.warmup_time < Nanoseconds::zero())
      return expected("a 'warmup_ns' that is not negative", "one that is");
    if (reply.started.realtime_at <= Nanoseconds::zero() || reply.started.monotonic_at <= Nanoseconds::zero())
      return expected("both stamps of 'started'", "none");
    if (hello_.engine.device_timer && samples.device_ns.empty())
      return expected("the blob 'device_ns' that 'timers' names", "none");
    if (hello_.engine.enqueue_timer && samples.enqueue_ns.empty())
      return expected("the blob 'enqueue_ns' that 'timers' names", "none");
    if (samples.size() > 0 &&
        samples.start_ns.front() < reply.started.monotonic_at.count() - (10'000'000'000))
      return expected(
          "starts on CLOCK_MONOTONIC, as 'started'",
          "one " + format_duration(reply.started.monotonic_at - Nanoseconds(samples.start_ns.front())) +
              " before it");
    return {};
  }

  void measuring() {
    if (!ready("load", start_and_load())) return;
    run::MeasureReply first;
    const Nanoseconds before = clock_.monotonic();
    bool going = rule(
        "measure.fixed", "makes exactly the calls of a fixed warm-up and count, the first one apart",
        [&]() -> Result<void> {
          DEEPGAP_ASSIGN(first, measure(fixed_measure()));
          if (first.samples.size() != kFixedCount)
            return expected(fmt::format("{} samples", kFixedCount), std::to_string(first.samples.size()));
          if (first.warmup_calls != kFixedWarmup)
            return expected(fmt::format("{} warm-up calls", kFixedWarmup),
                            std::to_string(first.warmup_calls));
          if (first.stop_reason != StopReason::kFixedCount)
            return expected("the stop_reason 'fixed_count'",
                            "'" + std::string(name_of(first.stop_reason)) + "'");
          if (!first.first_call) return expected("'first_call_ns' after a load", "none");
          return {};
        });
    going = going && rule("measure.columns", "gives samples in order, one call at a time, on CLOCK_MONOTONIC",
                          [&]() -> Result<void> {
                            DEEPGAP_RETURN_IF_ERROR(plausible(first));
                            const auto& samples = first.samples;
                            for (std::size_t i = 1; i < samples.size(); ++i)
                              if (samples.start_ns[i] < samples.start_ns[i - 1] + samples.host_ns[i - 1])
                                return expected("each call to start after the end of the one before",
                                                fmt::format("call {} inside call {}", i, i - 1));
                            // A worker with planted, virtual time may run ahead of the clock, never behind.
                            if (samples.start_ns.front() < before.count())
                              return expected("starts after the request", "one before it");
                            return {};
                          });
    going = going && rule("measure.warm", "times no first call apart when there was one since the load",
                          [&]() -> Result<void> {
                            DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(fixed_measure()));
                            if (reply.first_call)
                              return expected("'first_call_ns' of null in a second measuring", "a time");
                            return {};
                          });
    going = going && rule("measure.time_limit", "ends at its time limit, and shows progress once a second",
                          [&]() -> Result<void> {
                            run::MeasureVerb verb;
                            verb.options.warmup.min_time = 10ms;
                            verb.options.warmup.time_limit = 100ms;
                            verb.options.stopping.time_limit = 1500ms;
                            verb.options.stopping.target_relative_half_width = 0;
                            verb.options.stopping.max_samples = 1'000'000'000;
                            std::vector<run::MeasureProgress> progress;
                            const Nanoseconds begun_at = clock_.monotonic();
                            DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb, &progress));
                            const Nanoseconds took = clock_.monotonic() - begun_at;
                            // Calls that all take the same time reach any precision.
                            if (reply.stop_reason != StopReason::kTimeLimit &&
                                reply.stop_reason != StopReason::kPrecisionReached)
                              return expected("the stop_reason 'time_limit'",
                                              "'" + std::string(name_of(reply.stop_reason)) + "'");
                            if (reply.samples.size() == 0) return expected("samples", "none");
                            if (took > 15s)
                              return expected("an end some 1.5 s after the request", format_duration(took));
                            const std::size_t seconds = static_cast<std::size_t>(took / 1s);
                            if (progress.size() < seconds)
                              return expected(fmt::format("{} progress events or more in {}", seconds,
                                                          format_duration(took)),
                                              std::to_string(progress.size()));
                            return plausible(reply);
                          });
    if (!going) return;
    rule("measure.throughput", "keeps calls in flight over a window and counts those that complete in it",
         [&]() -> Result<void> {
           DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request(Mode::kThroughput)));
           DEEPGAP_ASSIGN(const run::MeasureReply reply,
                          measure(fixed_measure(Mode::kThroughput, std::min(2, loaded.load.slots))));
           if (!reply.window || *reply.window <= Nanoseconds::zero()) return expected("a window", "none");
           if (reply.completed < kFixedCount)
             return expected(fmt::format("{} completed calls or a few more", kFixedCount),
                             std::to_string(reply.completed));
           if (static_cast<std::int64_t>(reply.samples.size()) != reply.completed)
             return expected("as many samples as completed calls",
                             fmt::format("{} and {}", reply.samples.size(), reply.completed));
           return plausible(reply);
         });
  }

  void cancelling() {
    if (!hello_.has_verb("cancel")) {
      skip("cancel", "ends a measuring and answers both", "the worker does not name the verb");
      return;
    }
    if (!ready("load", start_and_load())) return;
    rule("cancel", "ends a measuring after the call in flight, answers it first, then `cancel`",
         [&]() -> Result<void> {
           run::MeasureVerb verb = fixed_measure();
           verb.options.stopping.fixed_count = 1'000'000'000'000;
           verb.options.stopping.max_samples = 1'000'000'000'000;
           verb.options.stopping.time_limit = std::chrono::hours(1);
           DEEPGAP_ASSIGN(const std::int64_t measure_id, connection_->send(verb));
           clock_.sleep(700ms);
           DEEPGAP_ASSIGN(const std::int64_t cancel_id, connection_->send(run::CancelVerb{}));
           DEEPGAP_ASSIGN(const Answer measured, connection_->receive());
           if (measured.head.id != measure_id)
             return expected(fmt::format("the reply to 'measure' ({}) first", measure_id),
                             fmt::format("one to {}", measured.head.id));
           DEEPGAP_RETURN_IF_ERROR(succeeded(measured));
           DEEPGAP_ASSIGN(const run::MeasureReply reply, run::decode_measure_reply(measured.message));
           if (reply.stop_reason != StopReason::kCancelled)
             return expected("the stop_reason 'cancelled'",
                             "'" + std::string(name_of(reply.stop_reason)) + "'");
           DEEPGAP_ASSIGN(const Answer cancelled, connection_->receive());
           if (cancelled.head.id != cancel_id)
             return expected(fmt::format("the reply to 'cancel' ({})", cancel_id),
                             fmt::format("one to {}", cancelled.head.id));
           return succeeded(cancelled);
         });
  }

  // A rule for a verb that a worker may have.
  bool optional_rule(const char* verb, std::string_view meaning, const Check& check) {
    if (hello_.has_verb(verb)) return rule(verb, meaning, check);
    skip(verb, meaning, "the worker does not name the verb");
    return true;
  }

  void other_verbs() {
    if (!ready("load", start_and_load())) return;
    bool going =
        rule("replies.order", "answers requests in their order, also when they wait", [&]() -> Result<void> {
          DEEPGAP_ASSIGN(const std::int64_t first, connection_->send(fixed_measure()));
          DEEPGAP_ASSIGN(const std::int64_t second, connection_->send(run::HelloVerb{}));
          for (const std::int64_t id : {first, second}) {
            DEEPGAP_ASSIGN(const Answer answer, connection_->receive());
            if (answer.head.id != id)
              return expected(fmt::format("the reply to {}", id), fmt::format("one to {}", answer.head.id));
            DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
          }
          return {};
        });
    const auto asks = [this](run::Request request, auto decode) {
      return [this, request = std::move(request), decode]() -> Result<void> {
        DEEPGAP_ASSIGN(Answer answer, connection_->ask(request));
        DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
        return discard(decode(std::move(answer.message)));
      };
    };
    going = going && optional_rule("run", "makes one call and says its time",
                                   asks(run::RunVerb{}, run::decode_run_reply));
    going = going && optional_rule("memory", "says what memory it has used",
                                   asks(run::MemoryVerb{}, run::decode_memory_reply));
    going =
        going &&
        optional_rule("outputs", "gives outputs whose bytes fit their shapes", [&]() -> Result<void> {
          DEEPGAP_ASSIGN(Answer answer, connection_->ask(run::OutputsVerb{}));
          DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
          DEEPGAP_ASSIGN(const run::OutputsReply reply, run::decode_outputs_reply(std::move(answer.message)));
          if (reply.outputs.empty()) return expected("an output", "none");
          return {};
        });
    going = going && optional_rule("profile", "gives the time of each op, or a trace", [&]() -> Result<void> {
              DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::ProfileVerb{5}));
              DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
              DEEPGAP_ASSIGN(const run::ProfileReply reply, run::decode_profile_reply(answer.message));
              if (reply.ops.empty() && reply.trace_path.empty()) return expected("ops or a trace", "neither");
              return {};
            });
    if (!going) return;
    if (!hello_.engine.polls) {
      skip("poll", "starts calls and says without waiting which have ended",
           "the worker does not say that it polls");
      return;
    }
    rule("poll", "starts calls and says without waiting which have ended", [&]() -> Result<void> {
      DEEPGAP_ASSIGN(const Answer started, connection_->ask(run::EnqueueVerb{0}));
      DEEPGAP_RETURN_IF_ERROR(succeeded(started));
      const Nanoseconds until = clock_.monotonic() + options_.patience;
      while (clock_.monotonic() < until) {
        DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::PollVerb{}));
        DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
        DEEPGAP_ASSIGN(const run::PollReply reply, run::decode_poll_reply(answer.message));
        for (const auto& completion : reply.ended)
          if (completion.slot != 0)
            return expected("an end of slot 0", fmt::format("one of slot {}", completion.slot));
        if (reply.ended.size() == 1) return {};
        clock_.sleep(1ms);
      }
      return expected("the call to end", "that it did not within " + format_duration(options_.patience));
    });
  }

  void ending() {
    const auto ends_with_zero = [this]() -> Result<void> {
      DEEPGAP_ASSIGN(const ExitStatus status, connection_->wait_for_exit(options_.patience / 3));
      if (status.code != 0) return expected("exit code 0", status.describe());
      return {};
    };
    rule("exit", "answers `exit`, then ends with code 0", [&]() -> Result<void> {
      DEEPGAP_RETURN_IF_ERROR(start_and_load());
      DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::ExitVerb{}));
      DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
      return ends_with_zero();
    });
    rule("end_of_requests", "ends with code 0 when its requests end, also after a measuring",
         [&]() -> Result<void> {
           DEEPGAP_RETURN_IF_ERROR(start_and_load());
           DEEPGAP_RETURN_IF_ERROR(discard(measure(fixed_measure())));
           clock_.sleep(200ms);  // it must still be there
           connection_->close_requests();
           return ends_with_zero();
         });
  }

  const Options& options_;
  const std::function<void(const Finding&)>& tell_;
  std::optional<Connection> connection_;
  run::HelloReply hello_;
  SystemClock clock_;
  int slots_ = 1;
  bool kept_ = true;
};

}  // namespace

bool check_worker(const Options& options, const std::function<void(const Finding&)>& tell) {
  return Checker(options, tell).run();
}

}  // namespace deepgap::conformance
