#include "run/setting_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/cpu_list.h"
#include "base/text.h"
#include "core/setting.h"

namespace deepgap::run {
namespace {

constexpr int kMostThreads = kLargestCpu + 1;  // no machine computes on more

Result<void> check_count(const std::string& name, const std::string& value) {
  int count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  const bool whole = error == std::errc{} && end == value.data() + value.size();
  if (value == "auto" || (whole && count >= 1 && count <= kMostThreads)) return {};
  return usage_error(fmt::format("{}: expected a whole number from 1 to {}, or auto, found '{}'", name,
                                 kMostThreads, printable(value, 60)));
}

Result<void> check_cpus(const std::string& name, const std::string& value,
                        const std::vector<int>& usable_cpus) {
  if (value == "none") return {};
  const std::optional<std::vector<int>> cpus = parse_cpu_list(value);
  if (!cpus || cpus->empty()) {
    return usage_error(fmt::format("{}: expected a list of CPUs such as 0-3,8, or none, found '{}'", name,
                                   printable(value, 60)));
  }
  if (usable_cpus.empty() ||
      std::includes(usable_cpus.begin(), usable_cpus.end(), cpus->begin(), cpus->end()))
    return {};
  return usage_error(fmt::format("{}: expected CPUs that deepgap may use here ({}), found '{}'", name,
                                 format_cpu_list(usable_cpus), printable(value, 60)));
}

Result<void> check_huge_pages(const std::string& name, const std::string& value) {
  if (value == "always" || value == "madvise" || value == "never") return {};
  return usage_error(
      fmt::format("{}: expected always, madvise or never, found '{}'", name, printable(value, 60)));
}

}  // namespace

Result<void> check_setting(const std::string& name, const std::string& value,
                           const std::vector<int>& usable_cpus) {
  if (name == settings::kThreads || name == settings::kStreams) return check_count(name, value);
  if (name == settings::kAffinity) return check_cpus(name, value, usable_cpus);
  if (name == settings::kHugePages) return check_huge_pages(name, value);
  return {};
}

}  // namespace deepgap::run
