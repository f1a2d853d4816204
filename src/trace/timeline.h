// What a profiler saw, as one model for all formats: intervals on host threads and device streams, in whole
// nanoseconds. Compact, because a trace has millions of them: texts and details are kept once.
//
//   for (const Event& event : timeline.events)
//     if (event.role == Role::kKernel) total += event.duration_ns;
//   timeline.texts[event.name]                   // "aten::conv2d"
//   timeline.ops[event.detail].shapes            // the text of "[[47, 3, 256, 256], [64, 3, 7, 7]]"
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/diagnostic.h"
#include "trace/detail_table.h"
#include "trace/text_table.h"

namespace deepgap::trace {

enum class Role : std::uint8_t {
  kOp,           // an operator, on the host
  kRuntimeCall,  // of the device's runtime or driver, on the host
  kPythonCall,   // a function of the user's program
  kAnnotation,   // a range that the user or the profiler named, on the host
  kOverhead,     // the profiler's own work
  kKernel,       // on the device, as all that follow
  kCopy,
  kMemset,
  kWait,              // a stream or event waits for another
  kDeviceAnnotation,  // a host's range, as the device went through it
};

inline constexpr std::uint32_t kNoEvent = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoDetail = std::numeric_limits<std::uint32_t>::max();
// Ids count up to 2^64 - 2.
inline constexpr std::uint64_t kNoId = std::numeric_limits<std::uint64_t>::max();

struct Event {
  std::int64_t start_ns = 0;  // by the trace's clock
  std::int64_t duration_ns = 0;
  std::uint64_t correlation = kNoId;  // joins a call and what it put on the device
  std::uint64_t op = kNoId;           // the profiler's id of the op, or of the op that launched it
  std::uint32_t name = 0;             // of Timeline::texts
  std::uint32_t lane = 0;             // of Timeline::lanes
  std::uint32_t detail = kNoDetail;   // of Timeline::ops or, for what runs on a device, Timeline::launches
  Role role = Role::kOp;

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};
static_assert(sizeof(Event) == 48);

// A host thread or a device stream.
struct Lane {
  std::string process;
  std::string thread;
  std::string name;  // as the trace calls the thread; "" where it does not
};

// What an op was called with; texts of Timeline::texts, as the trace has them.
struct OpDetail {
  std::uint32_t shapes = 0;
  std::uint32_t dtypes = 0;
  std::uint32_t strides = 0;
  std::uint32_t values = 0;  // of inputs that are no tensors
  bool operator==(const OpDetail&) const = default;
};

// How work was put on the device.
struct LaunchDetail {
  std::int32_t device = -1;  // -1: not said
  std::int32_t context = -1;
  std::int64_t stream = -1;
  std::array<std::uint32_t, 3> grid{};  // 0: not said
  std::array<std::uint32_t, 3> block{};
  std::uint32_t registers = 0;
  std::uint32_t padding = 0;
  std::uint64_t shared_memory = 0;
  std::uint64_t bytes = 0;  // of a copy or memset
  std::uint64_t graph = 0;  // the graph node, where a graph was launched; 0: none
  bool operator==(const LaunchDetail&) const = default;
};

// The allocator's book: a size below 0 is given back.
struct MemoryEvent {
  std::int64_t at_ns = 0;
  std::int64_t bytes = 0;
  std::int64_t allocated = 0;  // all that is in use after it
  std::int32_t device = -1;    // -1: the host's
};

struct TraceDevice {
  std::int32_t id = 0;
  std::string name;  // may be "": some traces leave it out
  std::optional<int> multiprocessors;
  std::optional<std::string> compute_capability;  // "9.0"
  std::optional<std::int64_t> memory_bytes;
};

// read = kept + ignored + lost.
struct EventCounts {
  std::int64_t read = 0;
  std::int64_t kept = 0;
  std::int64_t ignored = 0;  // flows, names of threads, counters
  std::int64_t lost = 0;     // cut off, damaged beyond repair, without a usable time
};

struct Timeline {
  std::string format;  // "kineto"
  std::string engine;  // what ran the model, by deepgap's name: "torch"; "" where the format does not say
  std::string engine_version;  // "2.11.0"; "" likewise
  TextTable texts;
  std::vector<Lane> lanes;
  DetailTable<OpDetail> ops;
  DetailTable<LaunchDetail> launches;
  std::vector<Event> events;  // by start; of those that start together the longer first
  // For each event that ran on a device the index of the call that launched it, by correlation; kNoEvent for
  // others, and where the trace lacks the call. One call may have launched hundreds (a graph).
  std::vector<std::uint32_t> calls;
  std::vector<MemoryEvent> memory;
  std::vector<TraceDevice> devices;
  EventCounts counts;
  // From the first start to the last end of all intervals, also of those that are not kept; start > end:
  // none.
  std::int64_t window_start_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t window_end_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t base_realtime_ns = 0;  // add it to a time and it is one since 1970; 0: not known
  std::vector<std::pair<std::string, std::string>> facts;  // versions and flags that the trace says
  std::vector<Diagnostic> diagnostics;                     // what reading it brought up
};

// What every reader of a format ends with: puts the events in their order and finds their calls.
void finish(Timeline& timeline);

// Readers keep to these, so that sums of a start and a duration, and differences of two ends, are numbers
// too: from 73 years before 1970 to 146 years behind it, and 73 years long.
inline constexpr std::int64_t kEarliestNs = -(std::int64_t{1} << 61);
inline constexpr std::int64_t kLatestNs = std::int64_t{1} << 62;
inline constexpr std::int64_t kLongestNs = std::int64_t{1} << 61;

struct Total {
  std::int64_t count = 0;
  std::int64_t ns = 0;  // a plain sum, also of those that overlap; at most the largest number
};
Total total_of(const Timeline& timeline, Role role);
bool on_device(Role role);
std::string_view name_of(Role role);

}  // namespace deepgap::trace
