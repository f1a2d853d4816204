#include "run/memory_kills.h"

#include <charconv>
#include <string_view>

#include "base/text.h"
#include "hw/cgroup.h"

namespace deepgap::run {
namespace {

std::optional<std::int64_t> kills_in(std::string_view text) {
  constexpr std::string_view kName = "oom_kill ";
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with(kName)) continue;
    const std::string_view number = trim(std::string_view(line).substr(kName.size()));
    std::int64_t kills = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), kills);
    if (error == std::errc{} && end == number.data() + number.size()) return kills;
  }
  return std::nullopt;
}

}  // namespace

MemoryKills::MemoryKills(const FileSystem& files) : files_(&files), counters_{"/proc/vmstat"} {
  const hw::CgroupPath group = hw::find_cgroups(files).memory;
  if (group.folders.empty()) return;
  // Of the innermost group: its count includes those below it, where a worker may have been put.
  counters_.push_back(group.folders.front() +
                      (group.version == 1 ? "/memory.oom_control" : "/memory.events"));
}

std::optional<std::int64_t> MemoryKills::count() const {
  std::optional<std::int64_t> sum;
  for (const std::string& counter : counters_) {
    const std::optional<std::string> text = files_->read_trimmed(counter);
    const std::optional<std::int64_t> kills = text ? kills_in(*text) : std::nullopt;
    if (kills) sum = sum.value_or(0) + *kills;
  }
  return sum;
}

}  // namespace deepgap::run
