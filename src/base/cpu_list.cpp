#include "base/cpu_list.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/text.h"

namespace deepgap {

namespace {

std::optional<int> parse_cpu(std::string_view text) {
  text = trim(text);
  int cpu = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc{} || end != text.data() + text.size() || cpu < 0 || cpu > kLargestCpu)
    return std::nullopt;
  return cpu;
}

}  // namespace

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  text = trim(text);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (comma != std::string_view::npos && text.empty()) return std::nullopt;  // "0-3,"
    const std::size_t dash = range.find('-');
    const auto first = parse_cpu(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_cpu(range.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    // Repeated ranges would grow without bound.
    if (cpus.size() > static_cast<std::size_t>(kLargestCpu) + 1) return std::nullopt;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string format_cpu_list(std::span<const int> cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

std::vector<int> common_cpus(std::span<const int> a, std::span<const int> b) {
  std::vector<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace deepgap
