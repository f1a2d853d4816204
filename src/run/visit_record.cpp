#include "run/visit_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/cpu_list.h"
#include "base/text.h"

namespace deepgap::run {
namespace {

constexpr std::string_view kHugePagesAreTheKernels =
    "; a process can only turn them off, else the kernel's policy holds "
    "(/sys/kernel/mm/transparent_hugepage/enabled)";

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> switch_of(std::string_view text) {
  for (const std::string_view on : {"on", "true", "yes", "1"})
    if (text == on) return true;
  for (const std::string_view off : {"off", "false", "no", "0"})
    if (text == off) return false;
  return std::nullopt;
}

// Both are known and equal.
template <typename T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b && *a == *b;
}

bool same_duration(const std::string& a, const std::string& b) {
  const Result<Nanoseconds> left = parse_duration(a);
  const Result<Nanoseconds> right = parse_duration(b);
  return left.ok() && right.ok() && *left == *right;
}

std::string protocol_of(const MeasureRequest& measure) {
  if (!measure.fixed_calls) return "adaptive";
  return fmt::format("fixed:{}+{}", measure.fixed_warmup.value_or(0), *measure.fixed_calls);
}

}  // namespace

bool is_as_requested(const std::string& requested, const std::string& effective) {
  const std::string asked = lower(trim(requested));
  const std::string found = lower(trim(effective));
  if (asked == found || asked == "auto" || asked == "engine") return true;
  return same(number_of(asked), number_of(found)) || same(switch_of(asked), switch_of(found)) ||
         same_duration(asked, found) || same(parse_cpu_list(asked), parse_cpu_list(found));
}

std::vector<Setting> visit_settings(const PlannedCell& cell, const LoadReply& reply,
                                    const MeasureRequest& measure, std::uint64_t seed, int in_flight) {
  std::vector<Setting> rows = reply.settings;
  // Of these we know what is in force, whatever the engine says.
  const auto put = [&rows](std::string_view name, std::optional<std::string> requested,
                           std::string effective) {
    std::erase_if(rows, [name](const Setting& row) { return row.name == name; });
    rows.push_back(
        {.name = std::string(name), .requested = std::move(requested), .effective = std::move(effective)});
  };
  std::optional<std::string> asked;
  if (measure.in_flight && cell.key.workload.mode == Mode::kThroughput)
    asked = std::to_string(*measure.in_flight);
  put(settings::kInFlight, asked, std::to_string(in_flight));
  put(settings::kInputs, {}, "random");
  const auto put_ours = [&put](std::string_view name, bool was_asked, const std::string& value) {
    put(name, was_asked ? std::optional(value) : std::nullopt, value);
  };
  put_ours(settings::kInputBuffers, measure.asked.input_buffers, std::to_string(measure.input_buffers));
  put_ours(settings::kSeed, measure.asked.seed, std::to_string(seed));
  put(settings::kProtocol, {}, protocol_of(measure));
  if (!measure.fixed_calls) {
    put_ours(settings::kTimeLimit, measure.asked.time_limit, format_duration(cell.time_limit));
    put_ours(settings::kTarget, measure.asked.target, format_number(measure.target));
  }
  const bool told = std::any_of(rows.begin(), rows.end(),
                                [](const Setting& row) { return row.name == settings::kTransfers; });
  // A CPU has its inputs where they are: no copy is left out of a call.
  if (!told && cell.key.device == "cpu") put(settings::kTransfers, {}, "included");
  return rows;
}

std::vector<Diagnostic> visit_doubts(const PlannedCell& cell, const WorkerClient::Measured& measured,
                                     const std::vector<Setting>& settings, const MeasureRequest& measure) {
  const std::string where = cell.key.selector();
  const ProcessRun& process = measured.process;
  std::vector<Diagnostic> found;
  if (!measured.warmup_steady && !measure.fixed_calls && !measure.fixed_warmup) {
    constexpr std::int64_t kEnoughToTell = 8;  // stats::steadiness: two calls a quarter
    const bool told = process.warmup_calls >= kEnoughToTell;
    const std::string calls =
        fmt::format("{} calls in {}", process.warmup_calls, format_duration(process.warmup_time));
    Diagnostic doubt =
        diagnose(diagnostics::kNotSteady, where,
                 told ? "expected a steady time after warm-up; it still drifted after " + calls
                      : "warm-up had " + calls + ": too few to tell whether the time was steady");
    if (!told) doubt.severity = Severity::kNote;
    found.push_back(std::move(doubt));
  }
  for (const Setting& setting : settings) {
    if (!setting.requested || !setting.effective || is_as_requested(*setting.requested, *setting.effective))
      continue;
    found.push_back(
        diagnose(diagnostics::kSettingNotEffective, where,
                 fmt::format("{}: requested {}, effective {}{}", printable(setting.name, 100),
                             printable(*setting.requested, 100), printable(*setting.effective, 100),
                             setting.name == settings::kHugePages ? kHugePagesAreTheKernels : "")));
  }
  return found;
}

}  // namespace deepgap::run
