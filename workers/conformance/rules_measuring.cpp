// What a worker measures, and how a measuring is cancelled.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checker.h"

namespace deepgap::conformance {

using namespace std::chrono_literals;

namespace {

// In flight no more than asked: no more calls overlap.
Result<void> check_in_flight(int in_flight, const SampleColumns& samples) {
  std::vector<std::int64_t> ends;
  for (std::size_t i = 0; i < samples.size(); ++i) ends.push_back(samples.start_ns[i] + samples.host_ns[i]);
  std::sort(ends.begin(), ends.end());
  std::size_t ended = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    while (ends[ended] <= samples.start_ns[i]) ++ended;
    if (i + 1 - ended > static_cast<std::size_t>(in_flight))
      return expected(fmt::format("at most {} calls in flight", in_flight), std::to_string(i + 1 - ended));
  }
  return {};
}

}  // namespace

Result<void> Checker::plausible(const run::MeasureVerb& verb, const run::MeasureReply& reply) const {
  const auto& samples = reply.samples;
  DEEPGAP_RETURN_IF_ERROR(run::check_measuring(verb.options, reply));
  if (reply.started.realtime_at <= Nanoseconds::zero() || reply.started.monotonic_at <= Nanoseconds::zero())
    return expected("both stamps of 'started'", "none");
  if (verb.options.mode == Mode::kThroughput)
    DEEPGAP_RETURN_IF_ERROR(check_in_flight(verb.options.in_flight, samples));
  if (samples.size() == 0) return {};  // cancelled
  if (hello_.engine.device_timer && samples.device_ns.empty())
    return expected("the blob 'device_ns' that 'timers' names", "none");
  if (hello_.engine.enqueue_timer && samples.enqueue_ns.empty())
    return expected("the blob 'enqueue_ns' that 'timers' names", "none");
  if (samples.start_ns.front() < reply.started.monotonic_at.count() - (10'000'000'000))
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
  Nanoseconds after{}, ahead{};  // when it was answered; of the wall clock before the monotonic one
  bool going = rule(
      "measure.fixed", "makes exactly the calls of a fixed warm-up and count, the first one apart",
      [&]() -> Result<void> {
        DEEPGAP_ASSIGN(first, measure(fixed_measure()));
        after = clock_.monotonic();
        ahead = clock_.realtime() - after;
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
                          if (first.samples.start_ns.back() + first.samples.host_ns.back() > after.count() &&
                              !virtual_time())
                            return expected("ends before the reply, on CLOCK_MONOTONIC", "one after it");
                          return {};
                        });
  going =
      going && rule("measure.started", "says one moment on both clocks, right before the first timed call",
                    [&]() -> Result<void> {
                      const Nanoseconds at = first.started.monotonic_at;
                      const Nanoseconds start(first.samples.start_ns.front());
                      if (at < before || at > start || start - at > 1s)
                        return expected("'monotonic_ns' right before the first timed call",
                                        format_duration(start - at) + " before it");
                      const Nanoseconds off = first.started.realtime_at - at - ahead;
                      if (off > 1s || off < -1s)
                        return expected("'realtime_ns' of the same moment",
                                        "one " + format_duration(off) + " from it");
                      return {};
                    });
  going =
      going &&
      rule("measure.warmup_time", "counts the first call into the warm-up, and nothing else that passes",
           [&]() -> Result<void> {
             if (first.warmup_time < *first.first_call)
               return expected("a 'warmup_ns' with the first call of " + format_duration(*first.first_call),
                               format_duration(first.warmup_time));
             if (first.warmup_time > after - before && !virtual_time())
               return expected("a 'warmup_ns' of at most the " + format_duration(after - before) +
                                   " from the request to the reply",
                               format_duration(first.warmup_time));
             return {};
           });
  going = going && rule("measure.other_members",
                        "takes a request with members that it does not know, without null ones",
                        [&]() -> Result<void> {
                          DEEPGAP_ASSIGN(const Answer answer, ask_with_other_members(fixed_measure()));
                          return succeeded(answer);
                        });
  going = going && rule("measure.warm", "times no first call apart when there was one since the load",
                        [&]() -> Result<void> {
                          DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(fixed_measure()));
                          if (reply.first_call)
                            return expected("'first_call_ns' of null in a second measuring", "a time");
                          if (reply.warmup_calls != kFixedWarmup)
                            return expected(fmt::format("{} warm-up calls", kFixedWarmup),
                                            std::to_string(reply.warmup_calls));
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
         const Nanoseconds begun_at = clock_.monotonic();
         DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
         const Nanoseconds took = clock_.monotonic() - begun_at;
         DEEPGAP_RETURN_IF_ERROR(plausible(verb, reply));
         if (*reply.window > took && !virtual_time())
           return expected("a 'window_ns' of at most the " + format_duration(took) + " the measuring took",
                           format_duration(*reply.window));
         if (reply.completed < kFixedCount)
           return expected(fmt::format("{} completed calls or a few more", kFixedCount),
                           std::to_string(reply.completed));
         return {};
       });
}

Result<void> Checker::is_cancelled(run::MeasureVerb verb) {
  verb.options.stopping.fixed_count = 1'000'000'000'000;
  verb.options.stopping.max_samples = 1'000'000'000'000;
  verb.options.stopping.time_limit = std::chrono::hours(1);
  DEEPGAP_ASSIGN(const std::int64_t measure_id, connection_->send(verb));
  clock_.sleep(700ms);
  DEEPGAP_ASSIGN(const std::int64_t cancel_id, connection_->send(run::CancelVerb{}));
  const Nanoseconds sent_at = clock_.monotonic();
  DEEPGAP_ASSIGN(const Answer measured, connection_->receive());
  const Nanoseconds took = clock_.monotonic() - sent_at;
  if (measured.head.id != measure_id)
    return expected(fmt::format("the reply to 'measure' ({}) first", measure_id),
                    fmt::format("one to {}", measured.head.id));
  DEEPGAP_RETURN_IF_ERROR(succeeded(measured));
  DEEPGAP_ASSIGN(const run::MeasureReply reply, run::decode_measure_reply(measured.message));
  if (reply.stop_reason != StopReason::kCancelled)
    return expected("the stop_reason 'cancelled'", "'" + std::string(name_of(reply.stop_reason)) + "'");
  DEEPGAP_ASSIGN(const Answer cancelled, connection_->receive());
  if (cancelled.head.id != cancel_id)
    return expected(fmt::format("the reply to 'cancel' ({})", cancel_id),
                    fmt::format("one to {}", cancelled.head.id));
  DEEPGAP_RETURN_IF_ERROR(succeeded(cancelled));
  // The calls in flight, and the sending of the samples.
  Nanoseconds longest = reply.first_call.value_or(Nanoseconds{});
  for (const auto time : reply.samples.host_ns) longest = std::max(longest, Nanoseconds(time));
  if (took > 2s + 2 * longest && !virtual_time())
    return expected("an end after the calls in flight, of " + format_duration(longest) + " at most",
                    "one after " + format_duration(took));
  return plausible(verb, reply);
}

void Checker::cancelling() {
  if (!hello_.has_verb("cancel")) {
    skip("cancel", "ends a measuring and answers both", "the worker does not name the verb");
    return;
  }
  if (!ready("load", start_and_load())) return;
  bool going = rule("cancel", "ends a measuring after the call in flight, answers it first, then `cancel`",
                    [&] { return is_cancelled(fixed_measure()); });
  going = going && rule("cancel.idle", "is answered and does nothing where nothing is measured",
                        [&]() -> Result<void> {
                          DEEPGAP_ASSIGN(const Answer answer, connection_->ask(run::CancelVerb{}));
                          DEEPGAP_RETURN_IF_ERROR(succeeded(answer));
                          DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(fixed_measure()));
                          if (reply.stop_reason != StopReason::kFixedCount)
                            return expected("the stop_reason 'fixed_count' in the measuring after it",
                                            "'" + std::string(name_of(reply.stop_reason)) + "'");
                          return {};
                        });
  if (hello_.scheduled_start)
    going = going && rule("cancel.scheduled", "ends a measuring also while it waits for `start_at_ns`",
                          [&]() -> Result<void> {
                            run::MeasureVerb verb = fixed_measure();
                            verb.options.start_at = clock_.monotonic() + std::chrono::hours(1);
                            return is_cancelled(verb);
                          });
  if (going)
    rule("cancel.throughput", "ends a measuring in mode `throughput` after the calls in flight",
         [&]() -> Result<void> {
           DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request(Mode::kThroughput)));
           return is_cancelled(fixed_measure(Mode::kThroughput, std::min(2, loaded.load.slots)));
         });
}

}  // namespace deepgap::conformance
