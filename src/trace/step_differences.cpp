#include "trace/step_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "core/estimate.h"

namespace deepgap::trace {
namespace {

struct Content {
  std::int64_t ops = 0;
  std::int64_t kernels = 0;  // that were launched in it
  std::uint64_t order = 0;   // of the ops of one thread
};

std::vector<Content> contents_of(const Timeline& timeline, const Steps& steps, std::uint32_t lane) {
  std::vector<Content> contents(steps.steps.size());
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const Event& event = timeline.events[i];
    if (event.role != Role::kOp && event.role != Role::kKernel) continue;
    const std::int64_t at =
        timeline.calls[i] == kNoEvent ? event.start_ns : timeline.events[timeline.calls[i]].start_ns;
    const std::optional<std::size_t> step = timeline.calls[i] == kNoEvent && event.role == Role::kKernel
                                                ? steps.of_device(at)
                                                : steps.of_host(at);
    if (!step) continue;
    Content& content = contents[*step];
    if (event.role == Role::kKernel) {
      ++content.kernels;
      continue;
    }
    ++content.ops;
    // Any odd factor: the sums of two orders meet by chance only.
    if (event.lane == lane) content.order = content.order * 0x9E3779B97F4A7C15 + event.name + 1;
  }
  return contents;
}

std::string time_text(std::int64_t ns) {
  return format_value(static_cast<double>(ns), Unit::kNanoseconds);
}

}  // namespace

std::vector<std::string> step_differences(const Timeline& timeline, const Steps& steps,
                                          const std::vector<std::size_t>& chosen, std::uint32_t lane,
                                          double time_share, double count_share) {
  std::vector<std::string> differences;
  if (chosen.size() < 2) return differences;
  std::vector<std::int64_t> walls;
  std::vector<Content> alike;
  const std::vector<Content> contents = contents_of(timeline, steps, lane);
  for (const std::size_t step : chosen) {
    walls.push_back(steps.steps[step].wall_ns());
    alike.push_back(contents[step]);
  }
  std::sort(walls.begin(), walls.end());
  const double median = static_cast<double>(walls[walls.size() / 2]);
  if (static_cast<double>(walls.back()) - median > time_share * median ||
      median - static_cast<double>(walls.front()) > time_share * median) {
    differences.push_back(
        fmt::format("steps take from {} to {}", time_text(walls.front()), time_text(walls.back())));
  }
  const auto range = [&](std::int64_t Content::*part, std::string_view what) {
    const auto [least, most] = std::minmax_element(
        alike.begin(), alike.end(), [part](const Content& a, const Content& b) { return a.*part < b.*part; });
    if ((*least).*part == (*most).*part) return true;
    const auto spread = static_cast<double>((*most).*part - (*least).*part);
    if (spread <= count_share * static_cast<double>((*most).*part)) return false;
    differences.push_back(fmt::format("they run from {} to {} {}", (*least).*part, (*most).*part, what));
    return false;
  };
  const bool same_ops = range(&Content::ops, "ops");
  const bool same_kernels = range(&Content::kernels, "kernels");
  const bool same_order = std::all_of(alike.begin(), alike.end(), [&](const Content& content) {
    return content.order == alike.front().order;
  });
  if (same_ops && same_kernels && !same_order)
    differences.emplace_back("they run other ops, or in another order");
  return differences;
}

}  // namespace deepgap::trace
