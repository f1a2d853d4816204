#include "trace/sensor_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kMostDevices = 1024;
constexpr std::int64_t kMostValues = 50'000'000;  // 800 MB; a week of eight devices with ten sensors a second
constexpr std::size_t kMostNames = 64;            // in one sentence
constexpr std::size_t kLongestText = 60;          // of the file, in a sentence

// Bits of nvmlClocksEventReasons (nvml.h), once called throttle reasons, by the names of nvidia-smi.
constexpr std::array<std::string_view, 9> kThrottleReasons{"throttle.gpu_idle",
                                                           "throttle.applications_clocks_setting",
                                                           "throttle.sw_power_cap",
                                                           "throttle.hw_slowdown",
                                                           "throttle.sync_boost",
                                                           "throttle.sw_thermal_slowdown",
                                                           "throttle.hw_thermal_slowdown",
                                                           "throttle.hw_power_brake_slowdown",
                                                           "throttle.display_clock_setting"};
// Bits that are none of these.
constexpr std::string_view kOtherReason = "throttle.other";
constexpr std::int64_t kSeriesOfMask = kThrottleReasons.size() + 1;

// FNV-1a.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) {
    hash = (hash ^ (value & 0xff)) * 0x100000001b3;
    value >>= 8;
  }
  return hash;
}

std::uint64_t bits_of(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void sort_by_time(TelemetryLog::Series& series) {
  if (std::is_sorted(series.at_ns.begin(), series.at_ns.end())) return;
  std::vector<std::size_t> order(series.at_ns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&series](std::size_t a, std::size_t b) { return series.at_ns[a] < series.at_ns[b]; });
  TelemetryLog::Series sorted = series;
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted.at_ns[i] = series.at_ns[order[i]];
    sorted.values[i] = series.values[order[i]];
  }
  series = std::move(sorted);
}

}  // namespace

Result<std::size_t> SensorLog::device(const std::string& key, std::span<const std::string> sources,
                                      std::string_view name) {
  const auto found = keys_.find(key);
  if (found != keys_.end()) return found->second;
  if (devices_.size() == kMostDevices) {
    return bad_input(
        fmt::format("{}: expected a log of at most {} devices, found more: the column that names "
                    "them may be another than it says",
                    printable(path_), kMostDevices));
  }
  std::string source = sources.empty() ? "gpu" : printable(sources.back(), kLongestText);
  for (const std::string& each : sources) {
    const std::string shown = printable(each, kLongestText);
    if (sources_.contains(shown)) continue;
    source = shown;
    break;
  }
  if (sources_.contains(source)) source += fmt::format(" (device {})", devices_.size());
  sources_.insert(source);
  keys_.emplace(key, devices_.size());
  devices_.emplace_back();
  devices_.back().source = std::move(source);
  devices_.back().name = printable(name, kLongestText);
  return devices_.size() - 1;
}

std::size_t SensorLog::series_of(Device& device, std::string_view quantity, Unit unit) {
  std::vector<TelemetryLog::Series>& all = device.series;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t at = (device.next_series + i) % all.size();
    if (all[at].quantity != quantity) continue;
    device.next_series = at + 1;
    return at;
  }
  TelemetryLog::Series& added = all.emplace_back();
  added.quantity = quantity;
  added.source = device.source;
  added.device = device.name;
  added.unit = unit;
  device.last_row.push_back(0);
  device.next_series = all.size();
  return all.size() - 1;
}

Result<void> SensorLog::add_row(std::size_t index, std::int64_t at_ns, std::span<const Value> values,
                                std::optional<std::uint64_t> throttle) {
  Device& device = devices_[index];
  std::uint64_t hash = mixed(0xcbf29ce484222325, static_cast<std::uint64_t>(at_ns));
  for (const Value& value : values) {
    hash = mixed(mixed(hash, std::hash<std::string_view>()(value.quantity)), bits_of(value.value));
  }
  if (throttle) hash = mixed(hash, *throttle);
  const bool fresh = device.rows.insert(hash).second;
  if (!fresh) {
    ++repeated_;
    return {};
  }
  values_ += static_cast<std::int64_t>(values.size()) + (throttle ? kSeriesOfMask : 0);
  if (values_ > kMostValues) {
    return bad_input(fmt::format("{}: expected a log of at most {} values, found more: split it by time",
                                 printable(path_), kMostValues));
  }
  // Of each series: some logs have all of one before the next begins.
  std::int64_t back_ns = 0;
  ++device.row;
  for (const Value& value : values) {
    const std::size_t place = series_of(device, value.quantity, value.unit);
    if (std::exchange(device.last_row[place], device.row) == device.row) {
      leave_out(fmt::format("a second column of {}", value.quantity));
      continue;
    }
    TelemetryLog::Series& series = device.series[place];
    if (!series.at_ns.empty()) back_ns = std::max(back_ns, series.at_ns.back() - at_ns);
    series.at_ns.push_back(at_ns);
    series.values.push_back(value.value);
  }
  if (throttle) {
    if (!device.throttle.empty()) back_ns = std::max(back_ns, device.throttle.back().first - at_ns);
    device.throttle.emplace_back(at_ns, *throttle);
  }
  if (back_ns > 0) ++steps_back_;
  longest_step_ns_ = std::max(longest_step_ns_, back_ns);
  return {};
}

std::int64_t SensorLog::assumed_time(std::size_t device) {
  const std::int64_t at_ns = devices_[device].assumed_ns;
  devices_[device].assumed_ns += kAssumedInterval;
  return at_ns;
}

void SensorLog::add_fact(std::size_t index, std::string_view name, std::string_view value) {
  auto& facts = devices_[index].facts;
  const auto found =
      std::find_if(facts.begin(), facts.end(), [name](const auto& each) { return each.first == name; });
  if (found != facts.end() && (!found->second || *found->second == value)) return;
  std::string shown = printable(value, kLongestText);
  if (found == facts.end()) {
    if (facts.size() < kMostNames) facts.emplace_back(printable(name, kLongestText), std::move(shown));
  } else if (*found->second != shown) {
    found->second.reset();
    leave_out(fmt::format("{} (it changes)", found->first));
  }
}

void SensorLog::lose_row(std::int64_t line, std::string_view why) {
  if (lost_rows_++ == 0) first_lost_row_ = fmt::format("line {}: {}", line, why);
}

void SensorLog::lose_value(std::int64_t line, std::string_view column, std::string_view found) {
  if (lost_values_++ == 0) {
    first_lost_value_ = fmt::format("line {}, {}: '{}'", line, printable(column, kLongestText),
                                    printable(found, kLongestText));
  }
}

void SensorLog::leave_out(const std::string& column) {
  if (left_out_.size() > kMostNames) return;
  if (std::find(left_out_.begin(), left_out_.end(), column) != left_out_.end()) return;
  left_out_.push_back(left_out_.size() == kMostNames ? "and others" : column);
}

void SensorLog::note_cut_off(std::string text, Severity severity) {
  if (cut_off_) severity = std::max(severity, cut_off_->severity);
  cut_off_ = diagnose(diagnostics::kFileCutOff, "", std::move(text));
  cut_off_->severity = severity;
}

void SensorLog::note_assumption(std::string text) {
  doubts_.push_back(diagnose(diagnostics::kTelemetryAssumption, "", std::move(text)));
}

void SensorLog::expand_throttle(Device& device) {
  if (device.throttle.empty()) return;
  std::uint64_t seen = 0;
  for (const auto& [at_ns, mask] : device.throttle) seen |= mask;
  std::vector<std::string> met;
  const auto add = [&](std::string_view quantity, std::uint64_t bits) {
    if ((seen & bits) == 0) return;
    met.emplace_back(quantity.substr(quantity.find('.') + 1));
    // A column of its own says the same.
    const bool known = std::any_of(device.series.begin(), device.series.end(),
                                   [quantity](const auto& each) { return each.quantity == quantity; });
    if (known) return;
    TelemetryLog::Series& series = device.series[series_of(device, quantity, Unit::kCount)];
    for (const auto& [at_ns, mask] : device.throttle) {
      series.at_ns.push_back(at_ns);
      series.values.push_back((mask & bits) != 0 ? 1 : 0);
    }
  };
  for (std::size_t bit = 0; bit < kThrottleReasons.size(); ++bit) {
    add(kThrottleReasons[bit], std::uint64_t{1} << bit);
  }
  add(kOtherReason, ~((std::uint64_t{1} << kThrottleReasons.size()) - 1));
  device.facts.emplace_back("throttle reasons met", met.empty() ? "none" : join(met, ", "));
}

void SensorLog::add_diagnostics(FileContent& content, bool empty) {
  using namespace diagnostics;
  if (cut_off_) content.diagnostics.push_back(std::move(*cut_off_));
  std::move(doubts_.begin(), doubts_.end(), std::back_inserter(content.diagnostics));
  const auto add = [&content](const DiagnosticKind& kind, std::string where, std::string text,
                              std::int64_t count) {
    content.diagnostics.push_back(diagnose(kind, std::move(where), std::move(text), count));
  };
  if (lost_rows_ > 0)
    add(kTelemetryLost, "rows", fmt::format("rows that could not be used, first {}", first_lost_row_),
        lost_rows_);
  if (lost_values_ > 0) {
    add(kTelemetryLost, "values", fmt::format("values that could not be used, first {}", first_lost_value_),
        lost_values_);
  }
  if (empty) add(kTelemetryLost, "file", "no row has a value that can be used", 1);
  if (steps_back_ > 0) {
    add(kTelemetryClockBack, "",
        fmt::format("times go back, at most by {}: the rows were put in the order of their times",
                    format_duration(Nanoseconds{longest_step_ns_})),
        steps_back_);
  }
  if (repeated_ > 0)
    add(kTelemetryRepeated, "", "rows that stand in the file before were left out", repeated_);
  if (!left_out_.empty()) {
    add(kColumnsNotUsed, "", fmt::format("not used: {}", join(left_out_, ", ")),
        static_cast<std::int64_t>(left_out_.size()));
  }
}

FileContent SensorLog::finished(bool has_time_of_day) {
  FileContent content;
  TelemetryLog& log = content.telemetry.emplace();
  log.has_time_of_day = has_time_of_day;
  for (Device& device : devices_) {
    expand_throttle(device);
    for (TelemetryLog::Series& series : device.series) {
      sort_by_time(series);
      log.series.push_back(std::move(series));
    }
    for (auto& [name, value] : device.facts) {
      if (value) log.facts.emplace_back(fmt::format("{} {}", device.source, name), std::move(*value));
    }
  }
  if (!has_time_of_day) {
    std::optional<std::int64_t> first;
    for (const auto& series : log.series)
      first = std::min(first.value_or(series.at_ns.front()), series.at_ns.front());
    for (auto& series : log.series) {
      for (std::int64_t& at_ns : series.at_ns) at_ns -= *first;
    }
  }
  add_diagnostics(content, log.series.empty());
  return content;
}

}  // namespace deepgap::trace
