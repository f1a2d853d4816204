#include "trace/early_returns.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/runtime_calls.h"

namespace deepgap::trace {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

enum class Wait : std::uint8_t { kUnseen, kNone, kDevice, kStream };

Wait wait_of(std::string_view name) {
  if (call_kind(name) != CallKind::kSynchronise) return Wait::kNone;
  if (name.find("DeviceSynchronize") != std::string_view::npos ||
      name.find("CtxSynchronize") != std::string_view::npos)
    return Wait::kDevice;
  return name.find("StreamSynchronize") != std::string_view::npos ? Wait::kStream : Wait::kNone;
}

}  // namespace

EarlyReturns early_returns(const Timeline& timeline, std::int64_t rounding_ns) {
  EarlyReturns found;
  const std::vector<Event>& events = timeline.events;
  // The last end of what each call launched.
  std::vector<std::int64_t> ends(events.size(), kNever);
  std::vector<bool> copies(events.size(), false);
  for (std::size_t i = 0; i < timeline.calls.size(); ++i) {
    const std::uint32_t call = timeline.calls[i];
    const Role role = events[i].role;
    if (call == kNoEvent || role == Role::kDeviceAnnotation || role == Role::kWait) continue;
    ends[call] = std::max(ends[call], events[i].end_ns());
    copies[call] = role == Role::kCopy;
  }
  std::vector<Wait> kinds(timeline.texts.size(), Wait::kUnseen);
  std::unordered_map<std::string, std::int64_t> launched;  // the last end of all before, by process
  std::vector<std::int64_t> last_copy(timeline.lanes.size(), kNever);  // of the thread's last launch
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& call = events[i];
    if (call.role != Role::kRuntimeCall) continue;
    std::int64_t& all = launched.try_emplace(timeline.lanes[call.lane].process, kNever).first->second;
    if (ends[i] != kNever) {
      all = std::max(all, ends[i]);
      last_copy[call.lane] = copies[i] ? ends[i] : kNever;
      continue;
    }
    Wait& kind = kinds[call.name];
    if (kind == Wait::kUnseen) kind = wait_of(timeline.texts[call.name]);
    if (kind == Wait::kNone) continue;
    const std::int64_t ended = kind == Wait::kDevice ? all : last_copy[call.lane];
    if (ended == kNever) continue;
    ++found.waits;
    const std::int64_t by = ended - call.end_ns();
    if (by <= rounding_ns) continue;
    ++found.count;
    found.most_ns = std::max(found.most_ns, by);
  }
  return found;
}

}  // namespace deepgap::trace
