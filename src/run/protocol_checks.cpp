// What a reply that decodes must also be before its numbers are believed.
#include <fmt/format.h>

#include <algorithm>

#include "run/protocol.h"

namespace deepgap::run {
namespace {

Error expected(std::string_view what, std::string_view found) {
  return bad_input(fmt::format("expected {}, found {}", what, found));
}

// Only calls that were in flight when the window began may have ended before it: engines that stamp ends on
// threads of their own may tell them late. The slot whose end begins the window is no longer one of them.
Result<void> check_window(int in_flight, const MeasureReply& reply) {
  const SampleColumns& samples = reply.samples;
  if (!reply.window || *reply.window <= Nanoseconds{} || reply.completed < 1)
    return expected("a window in which calls completed", "none");
  const auto count = static_cast<std::int64_t>(samples.size());
  if (reply.completed != count)
    return expected("each completed call to be a sample",
                    fmt::format("{} samples of {} completed calls", count, reply.completed));
  std::int64_t last_end = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    last_end = std::max(last_end, samples.start_ns[i] + samples.host_ns[i]);
  const std::int64_t begun_at = last_end - reply.window->count();
  int before = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    before += samples.start_ns[i] + samples.host_ns[i] < begun_at;
  if (before >= in_flight)
    return expected(
        "a window that holds the ends of its calls",
        fmt::format("one of {} with {} of {} ends before it", format_duration(*reply.window), before, count));
  return {};
}

}  // namespace

Result<void> check_measuring(const MeasureOptions& asked, const MeasureReply& reply) {
  const SampleColumns& samples = reply.samples;
  if (samples.size() == 0) {
    if (reply.stop_reason == StopReason::kCancelled) return {};
    return expected("samples of timed calls", "none");
  }
  if (!std::is_sorted(samples.start_ns.begin(), samples.start_ns.end()))
    return expected("samples in the order of their starts", "others");
  if (samples.start_ns.front() <= 0)
    return expected("starts on CLOCK_MONOTONIC, above 0", std::to_string(samples.start_ns.front()));
  if (asked.mode == Mode::kThroughput) return check_window(asked.in_flight, reply);
  for (std::size_t i = 1; i < samples.size(); ++i)
    if (samples.start_ns[i] < samples.start_ns[i - 1] + samples.host_ns[i - 1])
      return expected("each call to start after the end of the one before",
                      fmt::format("call {} inside call {}", i, i - 1));
  return {};
}

}  // namespace deepgap::run
