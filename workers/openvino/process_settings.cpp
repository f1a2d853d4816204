#include "process_settings.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/cpu_list.h"
#include "base/file_system.h"
#include "base/text.h"

namespace deepgap::openvino {
namespace {

constexpr int kMostProcessors = 8192;
const std::string kNone = "none";
const std::string kAffinity(settings::kAffinity);
const std::string kHugePages(settings::kHugePages);

std::vector<int> allowed_processors() {
  cpu_set_t* set = CPU_ALLOC(kMostProcessors);
  const std::size_t size = CPU_ALLOC_SIZE(kMostProcessors);
  CPU_ZERO_S(size, set);
  std::vector<int> processors;
  if (sched_getaffinity(0, size, set) == 0)
    for (int i = 0; i < kMostProcessors; ++i)
      if (CPU_ISSET_S(static_cast<std::size_t>(i), size, set)) processors.push_back(i);
  CPU_FREE(set);
  return processors;
}

Result<void> set_affinity(const std::string& list) {
  DEEPGAP_ASSIGN(const std::vector<int> processors, parse_processors(list));
  cpu_set_t* set = CPU_ALLOC(kMostProcessors);
  const std::size_t size = CPU_ALLOC_SIZE(kMostProcessors);
  CPU_ZERO_S(size, set);
  for (const int processor : processors) CPU_SET_S(static_cast<std::size_t>(processor), size, set);
  const int status = sched_setaffinity(0, size, set);
  const int error = errno;
  CPU_FREE(set);
  if (status != 0)
    return usage_error(fmt::format("expected {} to name processors of this machine ({}), found '{}': {}",
                                   kAffinity, format_cpu_list(allowed_processors()), list,
                                   std::strerror(error)));
  return {};
}

// The value of /sys/kernel/mm/transparent_hugepage/enabled in brackets: "always [madvise] never".
std::optional<std::string> system_huge_pages() {
  const auto text = RootedFileSystem().read_trimmed("/sys/kernel/mm/transparent_hugepage/enabled");
  if (!text) return std::nullopt;
  const auto open = text->find('['), close = text->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  return text->substr(open + 1, close - open - 1);
}

}  // namespace

Result<std::vector<int>> parse_processors(const std::string& list) {
  std::optional<std::vector<int>> processors = parse_cpu_list(list);
  if (!processors || processors->empty() || processors->back() >= kMostProcessors)
    return usage_error(fmt::format("expected {} to be a list such as 0-3,8, or none, found '{}'", kAffinity,
                                   printable(list, 60)));
  return std::move(*processors);
}

Result<void> apply_process_settings(const std::map<std::string, std::string>& requested) {
  if (const auto affinity = requested.find(kAffinity);
      affinity != requested.end() && affinity->second != kNone)
    DEEPGAP_RETURN_IF_ERROR(set_affinity(affinity->second));
  if (const auto pages = requested.find(kHugePages); pages != requested.end()) {
    if (pages->second != "always" && pages->second != "madvise" && pages->second != "never")
      return usage_error(fmt::format("expected {} to be always, madvise or never, found '{}'", kHugePages,
                                     printable(pages->second, 60)));
    // A process can only turn them off; the rest is the system's setting, told as the effective one.
    if (prctl(PR_SET_THP_DISABLE, pages->second == "never" ? 1 : 0, 0, 0, 0) != 0)
      return usage_error(fmt::format("expected to set {}, found: {}", kHugePages, std::strerror(errno)));
  }
  return {};
}

std::vector<Setting> effective_process_settings(const std::map<std::string, std::string>& requested) {
  const auto asked = [&](const std::string& name) -> std::optional<std::string> {
    const auto entry = requested.find(name);
    if (entry == requested.end()) return std::nullopt;
    return entry->second;
  };
  const std::vector<int> allowed = allowed_processors();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  std::optional<std::string> affinity;
  if (!allowed.empty())
    affinity = static_cast<long>(allowed.size()) >= online && asked(kAffinity).value_or(kNone) == kNone
                   ? kNone
                   : format_cpu_list(allowed);
  std::optional<std::string> pages = system_huge_pages();
  if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) pages = "never";
  return {{kAffinity, asked(kAffinity), affinity}, {kHugePages, asked(kHugePages), pages}};
}

}  // namespace deepgap::openvino
