#include "trace/host_compute.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace deepgap::trace {
namespace {

bool computes(OpWork work, bool innermost, bool is_long) {
  switch (work) {
    case OpWork::kComputes:
      return true;
    case OpWork::kUnknown:
    case OpWork::kMoves:
    case OpWork::kPlain:
    case OpWork::kWrapper:
      return innermost;
    case OpWork::kNone:
      return innermost && is_long;
    case OpWork::kRange:
      return false;
  }
  return false;
}

// Ops of PyTorch that no CPU has.
bool is_of_devices(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"aten::cudnn_",
                                            "aten::_cudnn_",
                                            "aten::miopen_",
                                            "aten::_miopen_",
                                            "aten::_thnn_fused_",
                                            "aten::_scaled_dot_product_efficient_attention",
                                            "aten::_scaled_dot_product_cudnn_attention",
                                            "aten::_efficient_attention_",
                                            "aten::_flash_attention_",
                                            "nccl:",
                                            "triton_"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

// By start; those that meet or overlap become one.
std::vector<Interval> united(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; });
  std::vector<Interval> all;
  for (const Interval& each : intervals) {
    if (!all.empty() && each.start_ns <= all.back().end_ns) {
      all.back().end_ns = std::max(all.back().end_ns, each.end_ns);
    } else {
      all.push_back(each);
    }
  }
  return all;
}

}  // namespace

std::optional<std::string> unrecorded_device(const Timeline& timeline) {
  const bool device_memory = std::any_of(timeline.memory.begin(), timeline.memory.end(),
                                         [](const MemoryEvent& event) { return event.device >= 0; });
  if (device_memory) return "memory of a device was allocated";
  std::vector<bool> seen(timeline.texts.size(), false);
  for (const Event& event : timeline.events) {
    if (event.role != Role::kOp || seen[event.name]) continue;
    seen[event.name] = true;
    const std::string_view name = timeline.texts[event.name];
    if (is_of_devices(name)) return printable(name, 100) + " runs on devices only";
  }
  return std::nullopt;
}

bool is_host_only(const Timeline& timeline, const HostNames& names) {
  bool any_op = false;
  for (const Event& event : timeline.events) {
    if (event.role == Role::kKernel || event.role == Role::kCopy || event.role == Role::kMemset) return false;
    if (event.role == Role::kRuntimeCall && puts_work(names.call(event))) return false;
    if (event.role == Role::kOp) any_op = true;
  }
  return any_op && !unrecorded_device(timeline);
}

std::vector<Interval> computing_times(const Timeline& timeline, const HostThreads& threads,
                                      const HostNames& names, std::int64_t long_view_ns) {
  struct Open {
    std::uint32_t event;
    std::int64_t end_ns;
    bool innermost;
  };
  std::vector<Interval> found;
  std::vector<Open> open;
  const auto close = [&] {
    const Event& event = timeline.events[open.back().event];
    if (computes(names.op(event), open.back().innermost, event.duration_ns > long_view_ns)) {
      found.push_back({event.start_ns, event.end_ns()});
    }
    open.pop_back();
  };
  for (std::uint32_t lane = 0; lane < threads.lanes(); ++lane) {
    for (const std::uint32_t index : threads.events_of(lane)) {
      const Event& event = timeline.events[index];
      if (event.role != Role::kOp) continue;
      while (!open.empty() && open.back().end_ns <= event.start_ns) close();
      if (!open.empty()) open.back().innermost = false;
      open.push_back({index, event.end_ns(), true});
    }
    while (!open.empty()) close();
  }
  return united(std::move(found));
}

}  // namespace deepgap::trace
