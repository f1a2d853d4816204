#include "fake_settings.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <functional>

#include "base/text.h"

namespace deepgap::fake {
namespace {

template <typename T>
struct Name {
  std::string_view name;
  T value;
};
constexpr std::array<Name<Distribution>, 8> kDistributions{{{"constant", Distribution::kConstant},
                                                            {"normal", Distribution::kNormal},
                                                            {"lognormal", Distribution::kLognormal},
                                                            {"ar1", Distribution::kAr1},
                                                            {"drift", Distribution::kDrift},
                                                            {"two_regimes", Distribution::kTwoRegimes},
                                                            {"level_shift", Distribution::kLevelShift},
                                                            {"slow_start", Distribution::kSlowStart}}};
constexpr std::array<Name<Scenario>, 14> kScenarios{{{"none", Scenario::kNone},
                                                     {"crash_at_load", Scenario::kCrashAtLoad},
                                                     {"crash_at_call", Scenario::kCrashAtCall},
                                                     {"crash_between", Scenario::kCrashBetween},
                                                     {"hang_at_load", Scenario::kHangAtLoad},
                                                     {"hang_at_call", Scenario::kHangAtCall},
                                                     {"exit_at_call", Scenario::kExitAtCall},
                                                     {"device_lost", Scenario::kDeviceLost},
                                                     {"garbage_log", Scenario::kGarbageLog},
                                                     {"garbage_reply", Scenario::kGarbageReply},
                                                     {"wrong_order", Scenario::kWrongOrder},
                                                     {"truncated_blob", Scenario::kTruncatedBlob},
                                                     {"ignore_exit", Scenario::kIgnoreExit},
                                                     {"long_calls", Scenario::kLongCalls}}};

template <typename Table>
auto find_name(const Table& table, std::string_view name) -> std::optional<decltype(table[0].value)> {
  for (const auto& entry : table)
    if (entry.name == name) return entry.value;
  return std::nullopt;
}

template <typename Table>
std::string names_of(const Table& table) {
  std::string names;
  for (const auto& entry : table) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Sets a member from text; false: it does not parse.
using Setter = std::function<bool(Settings&, std::string_view)>;

template <typename T>
Setter number(T Settings::*member, T least, T most) {
  return [=](Settings& settings, std::string_view text) {
    const auto value = parse_number<T>(text);
    if (!value || !(*value >= least && *value <= most)) return false;
    settings.*member = *value;
    return true;
  };
}

template <typename Member>
Setter duration(Member Settings::*member) {
  return [=](Settings& settings, std::string_view text) {
    const auto value = parse_duration(text);
    if (value.ok()) settings.*member = *value;
    return value.ok();
  };
}

struct Entry {
  std::string name;
  std::string expected;
  Setter set;
};

const std::vector<Entry>& entries() {
  constexpr std::int64_t kMany = 1'000'000'000'000;
  static const std::vector<Entry> table{
      {"fake.median", "a duration", duration(&Settings::median)},
      {"fake.per_sample", "a duration", duration(&Settings::per_sample)},
      {"fake.parallel", "a whole number from 1", number(&Settings::parallel, std::int64_t{1}, kMany)},
      {"fake.distribution", "one of " + names_of(kDistributions),
       [](Settings& settings, std::string_view text) {
         const auto value = find_name(kDistributions, text);
         settings.distribution = value.value_or(settings.distribution);
         return value.has_value();
       }},
      {"fake.noise", "a number from 0 to 1", number(&Settings::noise, 0.0, 1.0)},
      {"fake.correlation", "a number between -1 and 1", number(&Settings::correlation, -0.999, 0.999)},
      {"fake.drift", "a number from -1 to 1", number(&Settings::drift, -1.0, 1.0)},
      {"fake.factor", "a number from 0.01 to 1000", number(&Settings::factor, 0.01, 1000.0)},
      {"fake.share", "a number from 0 to 1", number(&Settings::share, 0.0, 1.0)},
      {"fake.dwell", "a number from 1", number(&Settings::dwell, 1.0, 1e9)},
      {"fake.at", "a whole number from 0", number(&Settings::at, std::int64_t{0}, kMany)},
      {"fake.process_noise", "a number from 0 to 1", number(&Settings::process_noise, 0.0, 1.0)},
      {"fake.process", "a whole number from 0",
       [](Settings& settings, std::string_view text) {
         settings.process = parse_number<std::uint64_t>(text);
         return settings.process.has_value();
       }},
      {"fake.first_call", "a duration", duration(&Settings::first_call)},
      {"fake.load_time", "a duration", duration(&Settings::load_time)},
      {"fake.slots", "a whole number from 1 to 1024", number(&Settings::slots, 1, 1024)},
      {"fake.servers", "a whole number from 1 to 1024", number(&Settings::servers, 1, 1024)},
      {"fake.time", "real or virtual",
       [](Settings& settings, std::string_view text) {
         settings.virtual_time = text == "virtual";
         return text == "virtual" || text == "real";
       }},
      {"fake.scenario", "one of " + names_of(kScenarios),
       [](Settings& settings, std::string_view text) {
         const auto value = find_name(kScenarios, text);
         settings.scenario = value.value_or(settings.scenario);
         return value.has_value();
       }},
      {"fake.most_batch", "a whole number from 0",
       [](Settings& settings, std::string_view text) {
         settings.most_batch = parse_number<std::int64_t>(text);
         return settings.most_batch.has_value();
       }},
      {"fake.bytes_per_sample", "a whole number of bytes",
       [](Settings& settings, std::string_view text) {
         const auto value = parse_number<std::int64_t>(text);
         settings.bytes_per_sample = Bytes{value.value_or(0)};
         return value.has_value();
       }},
  };
  return table;
}

}  // namespace

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& entry : entries()) names.push_back(entry.name);
  return names;
}

std::optional<Scenario> parse_scenario(std::string_view name) {
  return find_name(kScenarios, name);
}

Result<Settings> parse_settings(const std::map<std::string, std::string>& settings) {
  Settings parsed;
  for (const auto& [name, value] : settings) {
    const Entry* found = nullptr;
    for (const auto& entry : entries())
      if (entry.name == name) found = &entry;
    if (found == nullptr) return usage_error(unknown_name("setting", name, setting_names()));
    if (!found->set(parsed, value))
      return usage_error(
          fmt::format("expected {} to be {}, found '{}'", name, found->expected, printable(value, 60)));
  }
  return parsed;
}

}  // namespace deepgap::fake
