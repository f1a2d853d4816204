// Which calls a measuring makes: warm-up, the limits of the stopping rule, a scheduled start.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "checker.h"

namespace deepgap::conformance {

using namespace std::chrono_literals;

namespace {

Nanoseconds longest_call(const run::MeasureReply& reply) {
  Nanoseconds longest = reply.first_call.value_or(Nanoseconds{});
  for (const auto time : reply.samples.host_ns) longest = std::max(longest, Nanoseconds(time));
  return longest;
}

Result<void> stopped_by(const run::MeasureReply& reply, StopReason reason) {
  if (reply.stop_reason == reason) return {};
  return expected("the stop_reason '" + std::string(name_of(reason)) + "'",
                  "'" + std::string(name_of(reply.stop_reason)) + "'");
}

Result<void> has_samples(const run::MeasureReply& reply, std::int64_t count) {
  const auto found = static_cast<std::int64_t>(reply.samples.size());
  if (found == count) return {};
  return expected(fmt::format("{} samples", count), std::to_string(found));
}

}  // namespace

void Checker::warming_up_and_stopping() {
  if (!ready("load", start_and_load())) return;
  bool going =
      rule("warmup.least", "warms up for `min_calls` and `min_ns` at least, `max_ns` at most",
           [&]() -> Result<void> {
             run::MeasureVerb verb = fixed_measure();
             auto& options = verb.options;
             options.warmup_fixed_calls = std::nullopt;
             options.warmup.min_calls = 30;
             options.warmup.min_time = 300ms;
             options.warmup.time_limit = 1s;
             DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
             const Nanoseconds most = options.warmup.time_limit;
             if (reply.warmup_time < most && reply.warmup_calls < options.warmup.min_calls)
               return expected(fmt::format("{} warm-up calls or more", options.warmup.min_calls),
                               std::to_string(reply.warmup_calls));
             if (reply.warmup_time < options.warmup.min_time)
               return expected("a warm-up of " + format_duration(options.warmup.min_time) + " or longer",
                               format_duration(reply.warmup_time));
             if (reply.warmup_time > most + 500ms + 2 * longest_call(reply))
               return expected("a warm-up of " + format_duration(most) + " at most",
                               format_duration(reply.warmup_time));
             return has_samples(reply, kFixedCount);
           });
  going = going && rule("warmup.half", "warms up for half of the time limit at most", [&]() -> Result<void> {
            run::MeasureVerb verb;
            auto& options = verb.options;
            options.warmup.min_calls = 1'000'000'000;
            options.warmup.min_time = options.warmup.time_limit = std::chrono::hours(1);
            options.stopping.time_limit = 1s;
            options.stopping.max_samples = 1'000'000'000;
            DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
            if (reply.warmup_time > 750ms + 2 * longest_call(reply))
              return expected("a warm-up of " + format_duration(options.stopping.time_limit / 2) + " at most",
                              format_duration(reply.warmup_time));
            return {};
          });
  going = going && rule("stop.fixed_count",
                        "times exactly `fixed_count` calls whatever `min_ns` and `max_samples` are",
                        [&]() -> Result<void> {
                          run::MeasureVerb verb = fixed_measure();
                          verb.options.stopping.min_time = std::chrono::hours(1);
                          verb.options.stopping.max_samples = 3;
                          DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
                          DEEPGAP_RETURN_IF_ERROR(has_samples(reply, kFixedCount));
                          return stopped_by(reply, StopReason::kFixedCount);
                        });
  going = going && rule("stop.late", "times one call at least, however late it is", [&]() -> Result<void> {
            run::MeasureVerb verb = fixed_measure();
            verb.options.stopping.time_limit = Nanoseconds(1);
            DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
            DEEPGAP_RETURN_IF_ERROR(has_samples(reply, 1));
            return stopped_by(reply, StopReason::kTimeLimit);
          });
  going = going && rule("stop.max_samples", "ends at `max_samples`", [&]() -> Result<void> {
            run::MeasureVerb verb = fixed_measure();
            verb.options.stopping.fixed_count = std::nullopt;
            verb.options.stopping.max_samples = 15;
            verb.options.stopping.min_time = Nanoseconds{};
            verb.options.stopping.target_relative_half_width = 0;
            DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
            // Calls that all take the same time reach any precision, at min_samples.
            if (reply.stop_reason == StopReason::kPrecisionReached && reply.samples.size() <= 15) return {};
            DEEPGAP_RETURN_IF_ERROR(has_samples(reply, 15));
            return stopped_by(reply, StopReason::kSampleLimit);
          });
  if (going)
    rule("stop.least", "reaches no precision before `min_samples` and `min_ns`", [&]() -> Result<void> {
      run::MeasureVerb verb = fixed_measure();
      auto& stopping = verb.options.stopping;
      stopping.fixed_count = std::nullopt;
      stopping.target_relative_half_width = 1000;  // any interval is narrower
      stopping.min_samples = 25;
      stopping.min_time = 100ms;
      stopping.time_limit = 2s;
      stopping.max_samples = 1'000'000'000;
      DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
      if (reply.stop_reason != StopReason::kPrecisionReached)
        return stopped_by(reply, StopReason::kTimeLimit);
      if (static_cast<std::int64_t>(reply.samples.size()) < stopping.min_samples)
        return expected(fmt::format("{} samples or more", stopping.min_samples),
                        std::to_string(reply.samples.size()));
      const Nanoseconds span(reply.samples.start_ns.back() + reply.samples.host_ns.back() -
                             reply.started.monotonic_at.count());
      if (span < stopping.min_time)
        return expected("timed calls for " + format_duration(stopping.min_time) + " or longer",
                        format_duration(span));
      return {};
    });
}

void Checker::scheduling() {
  constexpr std::string_view kMeaning = "holds the first timed call until `start_at_ns`, in no limit's time";
  if (!hello_.scheduled_start) {
    skip("start_at", kMeaning, "the worker does not say that it has a scheduled start");
    return;
  }
  for (const Mode mode : {Mode::kLatency, Mode::kThroughput}) {
    if (!ready("load", start())) return;
    const bool in_flight = mode == Mode::kThroughput;
    rule(
        in_flight ? "start_at.throughput" : "start_at",
        in_flight ? "begins the window no sooner than `start_at_ns`, and waits in no limit's time" : kMeaning,
        [&]() -> Result<void> {
          DEEPGAP_ASSIGN(const run::LoadedReply loaded, load(load_request(mode)));
          run::MeasureVerb verb = fixed_measure(mode, in_flight ? std::min(2, loaded.load.slots) : 1);
          DEEPGAP_ASSIGN(const run::MeasureReply before, measure(verb));
          // Time for all calls, several times over, and less than until the start.
          const auto calls = 4 * (kFixedWarmup + kFixedCount);
          const Nanoseconds limit = 500ms + calls * longest_call(before);
          const Nanoseconds start_at = clock_.monotonic() + limit + 300ms;
          verb.options.stopping.time_limit = limit;
          verb.options.start_at = start_at;
          DEEPGAP_ASSIGN(const run::MeasureReply reply, measure(verb));
          DEEPGAP_RETURN_IF_ERROR(plausible(verb, reply));
          DEEPGAP_RETURN_IF_ERROR(stopped_by(reply, StopReason::kFixedCount));
          Nanoseconds begun_at(reply.samples.start_ns.front());
          if (in_flight) {
            std::int64_t end = 0;
            for (std::size_t i = 0; i < reply.samples.size(); ++i)
              end = std::max(end, reply.samples.start_ns[i] + reply.samples.host_ns[i]);
            begun_at = Nanoseconds(end) - *reply.window;
          }
          if (begun_at < start_at)
            return expected("nothing timed before the moment asked for",
                            "a begin " + format_duration(start_at - begun_at) + " before it");
          if (begun_at > start_at + 2s + 2 * longest_call(reply) && !virtual_time())
            return expected("a begin at the moment asked for",
                            "one " + format_duration(begun_at - start_at) + " after it");
          return {};
        });
  }
}

}  // namespace deepgap::conformance
