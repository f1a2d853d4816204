// When ops computed on the host, for traces whose device is the CPU.
//
//   for (const Interval& busy : computing_times(timeline, threads, names)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/host_names.h"
#include "trace/host_threads.h"
#include "trace/timeline.h"

namespace deepgap::trace {

struct Interval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// What shows that ops ran on a device although none of its work is on record, in words: memory of a device in
// the allocator's book, or an op that only devices have. Nothing where there is no such sign.
std::optional<std::string> unrecorded_device(const Timeline& timeline);

// Whether ops are all the work that the trace has: nothing ran on a device, nothing was launched there, and
// nothing shows that the record leaves it out.
bool is_host_only(const Timeline& timeline, const HostNames& names);

// The union over all threads of the ops that compute, by start and apart. An op that the table of ops does
// not know, or that moves data, does so where it holds no other op: else it wraps what does. A view does
// where it takes long_view_ns.
std::vector<Interval> computing_times(const Timeline& timeline, const HostThreads& threads,
                                      const HostNames& names, std::int64_t long_view_ns);

}  // namespace deepgap::trace
