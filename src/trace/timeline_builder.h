// Small timelines for tests: times in microseconds, thread 0 unless another is named.
//
//   TimelineBuilder builder;
//   builder.op("aten::relu", 10, 8);
//   builder.launch(12, 2, 1).kernel("relu", 20, 5, 1);      // joined by the correlation 1
//   Timeline timeline = builder.build();
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "trace/timeline.h"

namespace deepgap::trace {

class TimelineBuilder {
 public:
  TimelineBuilder() {
    for (const char* thread : {"main", "other", "stream 7"}) {
      timeline_.lanes.push_back({.process = "1", .thread = thread, .name = {}});
    }
  }

  TimelineBuilder& op(std::string_view name, std::int64_t start, std::int64_t duration,
                      std::uint32_t lane = 0) {
    return add(Role::kOp, name, start, duration, lane);
  }
  TimelineBuilder& annotation(std::string_view name, std::int64_t start, std::int64_t duration) {
    return add(Role::kAnnotation, name, start, duration, 0);
  }
  TimelineBuilder& call(std::string_view name, std::int64_t start, std::int64_t duration,
                        std::uint64_t correlation = kNoId, std::uint32_t lane = 0) {
    add(Role::kRuntimeCall, name, start, duration, lane);
    timeline_.events.back().correlation = correlation;
    return *this;
  }
  TimelineBuilder& launch(std::int64_t start, std::int64_t duration, std::uint64_t correlation,
                          std::uint32_t lane = 0) {
    return call("cudaLaunchKernel", start, duration, correlation, lane);
  }
  TimelineBuilder& kernel(std::string_view name, std::int64_t start, std::int64_t duration,
                          std::uint64_t correlation = kNoId, std::int32_t device = 0) {
    return work(Role::kKernel, name, start, duration, correlation, device);
  }
  TimelineBuilder& copy(std::string_view name, std::int64_t start, std::int64_t duration,
                        std::uint64_t correlation = kNoId) {
    return work(Role::kCopy, name, start, duration, correlation, 0);
  }

  Timeline build() {
    finish(timeline_);
    for (const Event& event : timeline_.events) {
      timeline_.window_start_ns = std::min(timeline_.window_start_ns, event.start_ns);
      timeline_.window_end_ns = std::max(timeline_.window_end_ns, event.end_ns());
    }
    return std::move(timeline_);
  }

 private:
  TimelineBuilder& add(Role role, std::string_view name, std::int64_t start, std::int64_t duration,
                       std::uint32_t lane) {
    Event event;
    event.role = role;
    event.name = timeline_.texts.id_of(name);
    event.start_ns = start * 1000;
    event.duration_ns = duration * 1000;
    event.lane = lane;
    timeline_.events.push_back(event);
    return *this;
  }
  TimelineBuilder& work(Role role, std::string_view name, std::int64_t start, std::int64_t duration,
                        std::uint64_t correlation, std::int32_t device) {
    add(role, name, start, duration, 2);
    timeline_.events.back().correlation = correlation;
    timeline_.events.back().detail = timeline_.launches.id_of({.device = device, .stream = 7});
    return *this;
  }

  Timeline timeline_;
};

}  // namespace deepgap::trace
