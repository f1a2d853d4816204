#include "run/engine.h"

#include <charconv>

#include "base/file_system.h"
#include "base/text.h"

namespace deepgap::run {
namespace {

Outcome lacks(std::string_view verb) {
  return EngineFailure{std::string(failures::kUnsupported),
                       "this engine does not have the verb '" + std::string(verb) + "'", std::nullopt};
}

}  // namespace

MemoryUse Engine::memory() {
  return {peak_resident_memory(), std::nullopt};
}

Outcome Engine::outputs(std::span<const Tensor>, std::vector<Tensor>&) {
  return lacks("outputs");
}
Outcome Engine::profile(int, std::vector<OpTime>&) {
  return lacks("profile");
}
Outcome Engine::probe(const std::string&, const std::string&, Ceiling&) {
  return lacks("probe");
}

std::optional<Bytes> peak_resident_memory() {
  const auto status = RootedFileSystem().read("/proc/self/status");
  if (!status.ok()) return std::nullopt;
  for (const auto& line : split(*status, '\n')) {
    constexpr std::string_view kField = "VmHWM:";
    if (!line.starts_with(kField)) continue;
    const std::string_view amount = trim(std::string_view(line).substr(kField.size()));
    std::int64_t kibibytes = 0;
    const auto [end, error] = std::from_chars(amount.data(), amount.data() + amount.size(), kibibytes);
    if (error != std::errc{} || trim({end, amount.data() + amount.size()}) != "kB") return std::nullopt;
    return Bytes{kibibytes * 1024};
  }
  return std::nullopt;
}

bool reset_peak_resident_memory() {
  // 5 resets the peak alone (proc(5), /proc/pid/clear_refs).
  std::FILE* file = std::fopen("/proc/self/clear_refs", "we");
  if (file == nullptr) return false;
  const bool written = std::fputs("5", file) >= 0;
  return std::fclose(file) == 0 && written;
}

}  // namespace deepgap::run
