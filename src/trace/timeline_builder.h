// Small timelines for tests: times in microseconds, thread 0 unless another is named.
//
//   TimelineBuilder builder;
//   builder.op("aten::relu", 10, 8);
//   builder.launch(12, 2, 1).kernel("relu", 20, 5, 1);      // joined by the correlation 1
//   builder.on(0, 13).kernel("nccl", 30, 5, 2);             // on stream 13 of device 0, as all that follows
//   builder.shaped("[[8, 3]]").op("aten::relu", 40, 8);     // so too
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
    for (const char* thread : {"main", "other", "stream"}) {
      timeline_.lanes.push_back({.process = "1", .thread = thread, .name = {}});
    }
  }

  // Where the kernels and copies that follow run.
  TimelineBuilder& on(std::int32_t device, std::int64_t stream) {
    device_ = device;
    stream_ = stream;
    return *this;
  }
  // What the ops that follow were called with.
  TimelineBuilder& shaped(std::string_view shapes, std::string_view dtypes = {},
                          std::string_view values = {}) {
    TextTable& texts = timeline_.texts;
    called_with_ = {
        .shapes = texts.id_of(shapes), .dtypes = texts.id_of(dtypes), .values = texts.id_of(values)};
    return *this;
  }
  // A function of the user's program.
  TimelineBuilder& python(std::string_view name, std::int64_t start, std::int64_t duration,
                          std::uint32_t lane = 0) {
    return add(Role::kPythonCall, name, start, duration, lane);
  }
  TimelineBuilder& op(std::string_view name, std::int64_t start, std::int64_t duration,
                      std::uint32_t lane = 0) {
    add(Role::kOp, name, start, duration, lane);
    if (called_with_ != OpDetail{}) timeline_.events.back().detail = timeline_.ops.id_of(called_with_);
    return *this;
  }
  TimelineBuilder& annotation(std::string_view name, std::int64_t start, std::int64_t duration,
                              std::uint32_t lane = 0) {
    return add(Role::kAnnotation, name, start, duration, lane);
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
                          std::uint64_t correlation = kNoId) {
    return work(Role::kKernel, name, start, duration, correlation);
  }
  TimelineBuilder& copy(std::string_view name, std::int64_t start, std::int64_t duration,
                        std::uint64_t correlation = kNoId) {
    return work(Role::kCopy, name, start, duration, correlation);
  }

  // The profiler's id of what was added last.
  TimelineBuilder& id(std::uint64_t op) {
    timeline_.events.back().op = op;
    return *this;
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
    while (lane >= timeline_.lanes.size())
      timeline_.lanes.push_back({.process = "1", .thread = "more", .name = {}});
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
                        std::uint64_t correlation) {
    add(role, name, start, duration, 2);
    timeline_.events.back().correlation = correlation;
    timeline_.events.back().detail = timeline_.launches.id_of({.device = device_, .stream = stream_});
    return *this;
  }

  Timeline timeline_;
  std::int32_t device_ = 0;
  std::int64_t stream_ = 7;
  OpDetail called_with_;
};

}  // namespace deepgap::trace
