#include "trace/nvidia_smi/query_columns.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/text.h"

namespace deepgap::trace {
namespace {

using Use = QueryColumn::Use;

constexpr double kMiB = 1024 * 1024;

struct Known {
  std::string_view name;
  std::string_view quantity;
  Unit unit;
  double scale;
};
// As `nvidia-smi --help-query-gpu` describes them (drivers 450 to 580).
constexpr Known kSensors[] = {
    {"power.draw", "power", Unit::kWatts, 1},
    {"power.draw.average", "power.average", Unit::kWatts, 1},
    {"power.draw.instant", "power.instant", Unit::kWatts, 1},
    {"power.limit", "power.limit", Unit::kWatts, 1},
    {"enforced.power.limit", "power.limit.enforced", Unit::kWatts, 1},
    {"module.power.draw.average", "power.module.average", Unit::kWatts, 1},
    {"module.power.draw.instant", "power.module.instant", Unit::kWatts, 1},
    {"temperature.gpu", "temperature", Unit::kCelsius, 1},
    {"temperature.gpu.tlimit", "temperature.margin", Unit::kCelsius, 1},
    {"temperature.memory", "temperature.memory", Unit::kCelsius, 1},
    {"clocks.graphics", "clock.graphics", Unit::kHertz, 1e6},
    {"clocks.sm", "clock.sm", Unit::kHertz, 1e6},
    {"clocks.memory", "clock.memory", Unit::kHertz, 1e6},
    {"clocks.video", "clock.video", Unit::kHertz, 1e6},
    {"utilization.gpu", "utilisation.gpu", Unit::kRatio, 0.01},
    {"utilization.memory", "utilisation.memory", Unit::kRatio, 0.01},
    {"utilization.encoder", "utilisation.encoder", Unit::kRatio, 0.01},
    {"utilization.decoder", "utilisation.decoder", Unit::kRatio, 0.01},
    {"utilization.jpeg", "utilisation.jpeg", Unit::kRatio, 0.01},
    {"utilization.ofa", "utilisation.optical_flow", Unit::kRatio, 0.01},
    {"memory.total", "memory.total", Unit::kBytes, kMiB},
    {"memory.reserved", "memory.reserved", Unit::kBytes, kMiB},
    {"memory.used", "memory.used", Unit::kBytes, kMiB},
    {"memory.free", "memory.free", Unit::kBytes, kMiB},
    {"fan.speed", "fan.speed", Unit::kRatio, 0.01},
    {"pcie.link.gen.current", "pcie.generation", Unit::kCount, 1},
    {"pcie.link.gen.gpucurrent", "pcie.generation", Unit::kCount, 1},
    {"pcie.link.width.current", "pcie.width", Unit::kCount, 1},
};

constexpr std::string_view kTimes[] = {"timestamp", "time", "datetime", "date_time"};
// In the order in which they name a device.
constexpr std::string_view kDevices[] = {"gpu", "gpu_id", "index", "uuid", "pci.bus_id", "serial"};
constexpr std::string_view kFacts[] = {
    "driver_version",      "vbios_version",        "count",
    "compute_cap",         "persistence_mode",     "compute_mode",
    "display_mode",        "display_attached",     "display_active",
    "accounting.mode",     "ecc.mode.current",     "ecc.mode.pending",
    "mig.mode.current",    "mig.mode.pending",     "driver_model.current",
    "pcie.link.gen.max",   "pcie.link.gen.gpumax", "pcie.link.gen.hostmax",
    "pcie.link.width.max", "power.management",     "power.default_limit",
    "power.min_limit",     "power.max_limit",      "clocks_event_reasons.supported"};
constexpr std::string_view kFactPrefixes[] = {
    "clocks.applications.", "clocks.default_applications.", "clocks.max.", "pci.", "gom.", "inforom."};

// What a name was called before, or is called beside.
constexpr std::pair<std::string_view, std::string_view> kPrefixes[] = {
    {"clocks_throttle_reasons.", "clocks_event_reasons."},
    {"clocks.current.", "clocks."},
    {"gpu_bus_id", "pci.bus_id"},
    {"gpu_name", "name"},
    {"gpu_uuid", "uuid"},
    {"gpu_serial", "serial"}};
constexpr std::pair<std::string_view, std::string_view> kWholeNames[] = {{"clocks.gr", "clocks.graphics"},
                                                                         {"clocks.mem", "clocks.memory"}};

constexpr std::string_view kReasons = "clocks_event_reasons.";
constexpr std::string_view kReasonTimes = "clocks_event_reasons_counters.";
constexpr std::string_view kErrors = "ecc.errors.";

std::string name_of_header(std::string_view header) {
  header = trim(header);
  if (header.size() >= 2 && header.front() == '"' && header.back() == '"')
    header = header.substr(1, header.size() - 2);
  std::string name = lower(trim(header.substr(0, header.find('['))));
  for (const auto& [before, now] : kPrefixes) {
    if (name.starts_with(before)) name = std::string(now) + name.substr(before.size());
  }
  for (const auto& [before, now] : kWholeNames) {
    if (name == before) name = now;
  }
  return name;
}

// What stands behind a prefix becomes a part of a quantity's name.
bool is_plain(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  return name.size() <= kLongest && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
         });
}

bool holds(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Behind a name, "[MiB]"; "" without one.
std::string_view unit_of_header(std::string_view header) {
  const std::size_t open = header.find('[');
  const std::size_t close = header.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return "";
  return trim(header.substr(open + 1, close - open - 1));
}

QueryColumn number(std::string name, std::string quantity, Unit unit = Unit::kCount, double scale = 1) {
  return {.use = Use::kSensor,
          .name = std::move(name),
          .quantity = std::move(quantity),
          .unit = unit,
          .scale = scale};
}

}  // namespace

namespace {

QueryColumn column_without_unit(std::string_view header) {
  QueryColumn column{.name = name_of_header(header)};
  const std::string& name = column.name;
  for (const Known& sensor : kSensors) {
    if (sensor.name == name) return number(name, std::string(sensor.quantity), sensor.unit, sensor.scale);
  }
  if (!is_plain(name)) return column;
  const auto rest = [&name](std::string_view prefix) { return name.substr(prefix.size()); };
  if (holds(kTimes, name)) {
    column.use = Use::kTime;
  } else if (holds(kDevices, name)) {
    column.use = Use::kDevice;
  } else if (name == "name") {
    column.use = Use::kDeviceName;
  } else if (name == "pstate") {
    column.use = Use::kPerformanceState;
    column.quantity = "performance.state";
  } else if (name == "clocks_event_reasons.active") {
    column.use = Use::kThrottleMask;
  } else if (holds(kFacts, name) ||
             std::any_of(std::begin(kFactPrefixes), std::end(kFactPrefixes),
                         [&name](std::string_view each) { return name.starts_with(each); })) {
    column.use = Use::kFact;
  } else if (name.starts_with(kReasons)) {
    column.use = Use::kActive;
    column.quantity = "throttle." + rest(kReasons);
  } else if (name.starts_with(kReasonTimes)) {
    return number(name, "throttle_time." + rest(kReasonTimes), Unit::kNanoseconds, 1e3);
  } else if (name.starts_with(kErrors)) {
    return number(name, "ecc." + rest(kErrors));
  }
  return column;
}

}  // namespace

QueryColumn column_of(std::string_view header) {
  QueryColumn column = column_without_unit(header);
  const std::string_view unit = unit_of_header(header);
  if (column.use != Use::kSensor || unit.empty()) return column;
  const Reading one{.kind = Reading::Kind::kNumber, .value = 1, .text = unit};
  const auto scale = value_of({.quantity = column.quantity, .unit = column.unit, .scale = 1}, one);
  if (scale)
    column.scale = *scale;
  else
    column.use = Use::kUnknown;  // what it measures is something else
  return column;
}

}  // namespace deepgap::trace
