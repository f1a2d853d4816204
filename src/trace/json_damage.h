// What was wrong with a profiler's JSON, in counts and words.
#pragma once

#include <cstdint>

#include "trace/byte_source.h"
#include "trace/json_events.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// Of events that were read one by one.
struct MendedEvents {
  std::int64_t mended = 0;    // put right
  std::int64_t negative = 0;  // that end before they begin; they are among the lost ones
};

// What was cut off is an event too. Once all events are read.
void count_damage(Timeline& timeline, const JsonEvents& events);
// As diagnostics of the timeline; behind count_damage().
void say_damage(Timeline& timeline, const JsonEvents& events, const ByteSource& source,
                const MendedEvents& mended);

}  // namespace deepgap::trace
