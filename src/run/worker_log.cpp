#include "run/worker_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "base/text.h"

namespace deepgap::run {
namespace {

constexpr std::size_t kLines = 3;
constexpr std::size_t kLineLength = 200;
constexpr std::streamoff kTail = 4096;
constexpr auto kKeptFor = std::chrono::hours(24 * 14);

std::string tail_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  if (size <= 0) return {};
  const std::streamoff length = std::min(size, kTail);
  file.seekg(size - length);
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read(text.data(), length);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

std::string worker_log_path(const std::string& folder, const std::string& engine, const std::string& run,
                            int number) {
  return fmt::format("{}/{}-{}-{}.log", folder, engine, run, number);
}

void remove_old_logs(const std::string& folder) {
  std::error_code error;
  const auto oldest = std::filesystem::file_time_type::clock::now() - kKeptFor;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() != ".log" || !entry->is_regular_file(ignored)) continue;
    const auto written = entry->last_write_time(ignored);
    if (!ignored && written < oldest) std::filesystem::remove(entry->path(), ignored);
  }
}

std::string quote_log_end(const std::string& path, bool named) {
  if (path.empty()) return {};
  const std::string name = named ? " " + printable(path) : std::string();
  std::vector<std::string> lines;
  for (const std::string& line : split(tail_of(path), '\n')) {
    if (!trim(line).empty()) lines.push_back(printable(trim(line), kLineLength));
  }
  if (lines.empty()) return "; its log is empty";
  const std::size_t from = lines.size() > kLines ? lines.size() - kLines : 0;
  return fmt::format("; its log{} ends: {}", name, join(std::span(lines).subspan(from), " | "));
}

}  // namespace deepgap::run
