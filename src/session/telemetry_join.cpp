#include "session/telemetry_join.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace deepgap::session {
namespace {

struct Window {
  std::int64_t start_ns = 0;  // since 1970
  std::int64_t end_ns = 0;
  std::int64_t to_monotonic_ns = 0;  // added to a time since 1970
};

std::optional<Window> window_of(const ProcessRun& process) {
  const SampleColumns& samples = process.samples;
  if (process.started.realtime_at.count() <= 0 || samples.start_ns.empty()) return std::nullopt;
  std::int64_t last = samples.start_ns.back();
  for (std::size_t i = 0; i < samples.start_ns.size(); ++i) {
    if (i < samples.host_ns.size()) last = std::max(last, samples.start_ns[i] + samples.host_ns[i]);
  }
  const std::int64_t to_monotonic = (process.started.monotonic_at - process.started.realtime_at).count();
  return Window{samples.start_ns.front() - to_monotonic, last - to_monotonic, to_monotonic};
}

// The number in "gpu1", "cuda:1"; nothing in "GPU-8557549f-...".
std::optional<std::string_view> number_of(std::string_view name) {
  for (const std::string_view prefix : {"gpu", "cuda:", "rocm:"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view number = name.substr(prefix.size());
    const bool digits =
        std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!number.empty() && digits) return number;
  }
  return std::nullopt;
}

bool is_of_device(const TelemetryLog::Series& series, const Device& device) {
  const bool named = !device.name.empty() && device.name != device.address;
  if (named && !series.device.empty() && series.device != device.name) return false;
  const auto logged = number_of(series.source);
  const auto own = number_of(device.address);
  return !logged || !own || *logged == *own;
}

// The median distance of the log's rows.
std::int64_t interval_of(const std::vector<std::int64_t>& at_ns) {
  std::vector<std::int64_t> distances;
  for (std::size_t i = 1; i < at_ns.size(); ++i) distances.push_back(at_ns[i] - at_ns[i - 1]);
  if (distances.empty()) return 0;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

std::optional<TelemetrySeries> part_of(const TelemetryLog::Series& series, const Window& window,
                                       int process) {
  const std::int64_t reach = interval_of(series.at_ns);
  const auto begin = series.at_ns.begin();
  auto first = std::lower_bound(begin, series.at_ns.end(), window.start_ns);
  auto last = std::upper_bound(first, series.at_ns.end(), window.end_ns);
  if (first != begin && window.start_ns - *std::prev(first) <= reach) --first;
  if (last != series.at_ns.end() && *last - window.end_ns <= reach) ++last;
  if (first == last) return std::nullopt;
  TelemetrySeries part{
      .quantity = series.quantity, .source = series.source, .unit = series.unit, .at_ns = {}, .values = {}};
  part.process = process;
  for (auto at = first; at != last; ++at) {
    part.at_ns.push_back(*at + window.to_monotonic_ns);
    part.values.push_back(series.values[static_cast<std::size_t>(at - begin)]);
  }
  return part;
}

}  // namespace

std::vector<TelemetrySeries> join_telemetry(const TelemetryLog& log, const Measurement& measurement) {
  std::vector<TelemetrySeries> joined;
  if (!log.has_time_of_day || measurement.device.kind == DeviceKind::kCpu) return joined;
  for (const ProcessRun& process : measurement.processes) {
    const std::optional<Window> window = window_of(process);
    if (!window) continue;
    for (const TelemetryLog::Series& series : log.series) {
      if (!is_of_device(series, measurement.device)) continue;
      if (auto part = part_of(series, *window, process.index)) joined.push_back(std::move(*part));
    }
  }
  return joined;
}

}  // namespace deepgap::session
