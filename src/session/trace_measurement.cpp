#include "session/trace_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "core/setting.h"
#include "trace/result_cell.h"

namespace deepgap::session {
namespace {

// A time that counts from 1970 is after 2001; the trace's own clock, where it counts from a start, is before.
constexpr std::int64_t kIn2001 = 1'000'000'000'000'000'000;

// Since 1970, of a time of the trace's; 0 where it does not say.
std::int64_t realtime_of(const trace::Timeline& timeline, std::int64_t at_ns) {
  const std::int64_t sum = timeline.base_realtime_ns + at_ns;  // both below 2^62
  return sum >= kIn2001 ? sum : 0;
}

void say_device(trace::ResultCell& cell, const trace::Timeline& timeline,
                std::optional<std::int32_t> traced) {
  if (!traced) {
    cell.says_device("cpu", "", DeviceKind::kCpu);
    return;
  }
  const std::int32_t number = std::max(*traced, 0);
  const auto device = std::find_if(timeline.devices.begin(), timeline.devices.end(),
                                   [number](const trace::TraceDevice& each) { return each.id == number; });
  cell.says_device(fmt::format("cuda:{}", number),
                   device == timeline.devices.end() ? "" : printable(device->name), DeviceKind::kGpu);
}

// Of products and convolutions, by their time.
void say_precision(trace::ResultCell& cell, const trace::TracedOps& traced) {
  std::map<Precision, std::int64_t> times;
  for (const trace::TracedOp& op : traced.ops) {
    if (op.precision_path && op.op_class && ops::is_contraction(*op.op_class)) {
      times[*op.precision_path] += op.duration_ns;
    }
  }
  const auto most = std::max_element(times.begin(), times.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most != times.end()) cell.says_precision(most->first);
}

}  // namespace

Result<Measurement> measurement_of(const trace::Timeline& timeline, const trace::Steps& steps,
                                   const trace::Quality& quality, const trace::TracedOps& traced,
                                   const std::string& path, const trace::ImportOptions& options) {
  const std::vector<std::size_t> used = trace::steps_to_average(steps, quality);
  if (quality.verdict == trace::Verdict::kUnusable || used.empty()) {
    return bad_input(fmt::format(
        "{}: expected a trace with steps that can be trusted, found none: `deepgap trace` says why",
        printable(path)));
  }
  trace::ResultCell cell(path, timeline.format, options);
  if (!timeline.engine.empty()) cell.says_engine(timeline.engine);
  say_device(cell, timeline, traced.device);
  say_precision(cell, traced);
  cell.set(settings::kProfiler, timeline.format);

  Measurement& measurement = cell.measurement();
  measurement.engine_version = timeline.engine_version;
  ProcessRun process;
  process.stop_reason = StopReason::kFixedCount;
  for (const std::size_t step : used) {
    process.samples.start_ns.push_back(steps.steps[step].start_ns);
    process.samples.host_ns.push_back(steps.steps[step].wall_ns());
  }
  process.warmup_calls = std::count_if(steps.steps.begin(), steps.steps.end(),
                                       [](const trace::Step& step) { return step.warmup; });
  const std::int64_t start = process.samples.start_ns.front();
  process.started = {.monotonic_at = Nanoseconds{start},
                     .realtime_at = Nanoseconds{realtime_of(timeline, start)}};
  measurement.created_realtime_ns = process.started.realtime_at.count();
  measurement.processes.push_back(std::move(process));
  measurement.diagnostics = quality.diagnostics;
  return cell.finished();
}

}  // namespace deepgap::session
