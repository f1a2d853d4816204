// What a worker measures, and the verbs on what is loaded.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checker.h"

namespace deepgap::conformance {

using namespace std::chrono_literals;

Result<void> Checker::plausible(const run::MeasureVerb& verb, const run::MeasureReply& reply) const {
  const auto& samples = reply.samples;
  DEEPGAP_RETURN_IF_ERROR(run::check_measuring(verb.options, reply));
  if (reply.started.realtime_at <= Nanoseconds::zero() || reply.started.monotonic_at <= Nanoseconds::zero())
    return expected("both stamps of 'started'", "none");
  if (hello_.engine.device_timer && samples.device_ns.empty())
    return expected("the blob 'device_ns' that 'timers' names", "none");
  if (hello_.engine.enqueue_timer && samples.enqueue_ns.empty())
    return expected("the blob 'enqueue_ns' that 'timers' names", "none");
  if (samples.size() > 0 && samples.start_ns.front() < reply.started.monotonic_at.count() - (10'000'000'000))
    return expected("starts on CLOCK_MONOTONIC, as 'started'",
                    "one " +
                        format_duration(reply.started.monotonic_at - Nanoseconds(samples.start_ns.front())) +
                        " before it");
  return {};
}

void Checker::measuring() {
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
          return expected(fmt::format("{} warm-up calls", kFixedWarmup), std::to_string(first.warmup_calls));
        if (first.stop_reason != StopReason::kFixedCount)
          return expected("the stop_reason 'fixed_count'",
                          "'" + std::string(name_of(first.stop_reason)) + "'");
        if (!first.first_call) return expected("'first_call_ns' after a load", "none");
        return {};
      });
  going = going && rule("measure.columns", "gives samples in order, one call at a time, on CLOCK_MONOTONIC",
                        [&]() -> Result<void> {
                          DEEPGAP_RETURN_IF_ERROR(plausible(fixed_measure(), first));
                          // A worker with planted, virtual time may run ahead of the clock, never behind.
                          if (first.samples.start_ns.front() < before.count())
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
                          return plausible(verb, reply);
                        });
  if (!going) return;
  rule("measure.throughput", "keeps calls in flight over a window and counts those that complete in it",
       [&]() -> Result<void> {
         DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request(Mode::kThroughput)));
         const run::MeasureVerb verb = fixed_measure(Mode::kThroughput, std::min(2, loaded.load.slots));
         DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
         DEEPGAP_RETURN_IF_ERROR(plausible(verb, reply));
         if (reply.completed < kFixedCount)
           return expected(fmt::format("{} completed calls or a few more", kFixedCount),
                           std::to_string(reply.completed));
         return {};
       });
}

void Checker::cancelling() {
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

void Checker::other_verbs() {
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
      going && optional_rule("outputs", "gives outputs whose bytes fit their shapes", [&]() -> Result<void> {
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

}  // namespace deepgap::conformance
