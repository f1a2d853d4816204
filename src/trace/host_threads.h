// The ops and calls of each host thread, so that looking at one thread costs what that thread holds.
//
//   const HostThreads threads(timeline, names);
//   for (const std::uint32_t event : threads.events_of(lane)) ...
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/host_names.h"
#include "trace/timeline.h"

namespace deepgap::trace {

class HostThreads {
 public:
  HostThreads(const Timeline& timeline, const HostNames& names);

  // Ops and calls, by their index of Timeline::events: by start, what holds before what is held.
  std::span<const std::uint32_t> events_of(std::uint32_t lane) const { return part(events_, lane); }
  // The calls among them that put work on a device, by their kind or because some has them; in the same
  // order.
  std::span<const std::uint32_t> launches_of(std::uint32_t lane) const { return part(launches_, lane); }
  std::size_t lanes() const { return events_.begin.size() - 1; }

 private:
  struct ByLane {
    std::vector<std::size_t> begin;  // of `all`, one for each lane and one behind the last
    std::vector<std::uint32_t> all;
  };
  static std::span<const std::uint32_t> part(const ByLane& of, std::uint32_t lane) {
    return std::span(of.all).subspan(of.begin[lane], of.begin[lane + 1] - of.begin[lane]);
  }

  ByLane events_;
  ByLane launches_;
};

}  // namespace deepgap::trace
