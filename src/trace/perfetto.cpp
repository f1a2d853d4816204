#include "trace/perfetto.h"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace deepgap::trace {
namespace {

constexpr int kOwnProcess = 1;  // of the steps and labels, above the trace's own
constexpr int kStepsThread = 1;
constexpr int kLabelsThread = 2;
// Further tracks of one lane; slices that would need more stand on the last one.
constexpr std::size_t kMostTracks = 32;
constexpr std::size_t kPiece = 1 << 20;  // bytes gathered before they are written

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// The ends of the slices that are open on each track of a lane, outermost first.
class LaneTracks {
 public:
  // The track on which the slice nests in what is open there. Slices come by start, longer ones first.
  std::size_t place(std::int64_t start_ns, std::int64_t end_ns) {
    for (std::size_t track = 0; track < open_.size(); ++track) {
      std::vector<std::int64_t>& ends = open_[track];
      while (!ends.empty() && ends.back() <= start_ns) ends.pop_back();
      if (!ends.empty() && ends.back() < end_ns) continue;
      ends.push_back(end_ns);
      return track;
    }
    if (open_.size() < kMostTracks) {
      open_.push_back({end_ns});
      return open_.size() - 1;
    }
    return kMostTracks - 1;
  }
  std::size_t count() const { return open_.size(); }

 private:
  std::vector<std::vector<std::int64_t>> open_;
};

class Writer {
 public:
  Writer(const Timeline& timeline, const ByteSink& write) : timeline_(timeline), write_(write) {
    quoted_.resize(timeline.texts.size());
  }

  Result<void> all(const Steps& steps, const Attribution& attribution) {
    piece_ = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
    place_lanes();
    own_tracks(steps, attribution);
    for (std::size_t i = 0; i < timeline_.events.size(); ++i) {
      event(i);
      if (piece_.size() >= kPiece) DEEPGAP_RETURN_IF_ERROR(flush());
    }
    lane_names();
    piece_ += "\n]}\n";
    return flush();
  }

 private:
  struct Place {
    int process = 0;
    int thread = 0;  // of the lane's first track; further ones follow
  };

  Result<void> flush() {
    DEEPGAP_RETURN_IF_ERROR(write_(piece_));
    piece_.clear();
    return {};
  }

  void begin() {
    piece_ += first_ ? "\n" : ",\n";
    first_ = false;
  }

  static std::string micros(std::int64_t ns) {
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns / 1000), std::abs(ns % 1000));
  }
  std::string at(std::int64_t ns) const { return micros(ns - timeline_.window_start_ns); }

  const std::string& text(std::uint32_t id) {
    if (quoted_[id].empty()) quoted_[id] = json_text(timeline_.texts[id]);
    return quoted_[id];
  }

  // Lists stand in the table as the trace's own JSON.
  const std::string& list(std::uint32_t id) {
    if (quoted_[id].empty() && nlohmann::json::accept(timeline_.texts[id])) quoted_[id] = timeline_.texts[id];
    return text(id);
  }

  // A process of its own for each process of the trace and for each device.
  void place_lanes() {
    std::vector<std::int32_t> device(timeline_.lanes.size(), -1);
    std::vector<bool> on_one(timeline_.lanes.size(), false);
    for (const Event& each : timeline_.events) {
      if (!on_device(each.role) || each.detail == kNoDetail) continue;
      on_one[each.lane] = true;
      device[each.lane] = timeline_.launches[each.detail].device;
    }
    std::map<std::string, int> processes;
    for (std::size_t i = 0; i < timeline_.lanes.size(); ++i) {
      const Lane& lane = timeline_.lanes[i];
      std::string name = "process " + lane.process;
      if (on_one[i]) {
        name = fmt::format("device {}", device[i]);
        for (const TraceDevice& each : timeline_.devices) {
          if (each.id == device[i] && !each.name.empty()) name += " (" + each.name + ")";
        }
      }
      const auto [place, added] =
          processes.emplace(name, kOwnProcess + 1 + static_cast<int>(processes.size()));
      if (added) metadata("process_name", place->second, 0, name);
      places_.push_back({place->second, static_cast<int>(i * kMostTracks) + 1});
    }
    tracks_.resize(timeline_.lanes.size());
  }

  void lane_names() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const Lane& lane = timeline_.lanes[i];
      const std::string name = lane.name.empty() ? lane.thread : lane.name;
      for (std::size_t track = 0; track < tracks_[i].count(); ++track) {
        metadata("thread_name", places_[i].process, places_[i].thread + static_cast<int>(track),
                 track == 0 ? name : fmt::format("{} ({})", name, track + 1));
      }
    }
  }

  void metadata(std::string_view kind, int process, int thread, std::string_view name) {
    begin();
    fmt::format_to(std::back_inserter(piece_),
                   R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", process, thread,
                   kind, json_text(name));
  }

  void slice(int process, int thread, std::int64_t start_ns, std::int64_t duration_ns,
             std::string_view quoted_name, std::string_view category, std::string_view arguments = {}) {
    begin();
    fmt::format_to(std::back_inserter(piece_),
                   R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}")", process, thread,
                   at(start_ns), micros(duration_ns), quoted_name, category);
    if (!arguments.empty()) piece_.append(R"(,"args":{)").append(arguments).append("}");
    piece_ += "}";
  }

  void own_tracks(const Steps& steps, const Attribution& attribution) {
    metadata("process_name", kOwnProcess, 0, "deepgap: where the time went");
    metadata("thread_name", kOwnProcess, kStepsThread, "steps");
    metadata("thread_name", kOwnProcess, kLabelsThread,
             attribution.device ? fmt::format("labels of device {}", *attribution.device) : "labels");
    for (const Step& step : steps.steps) {
      slice(kOwnProcess, kStepsThread, step.start_ns, step.wall_ns(), json_text(step.name), "step");
    }
    for (const Segment& segment : attribution.segments) {
      slice(kOwnProcess, kLabelsThread, segment.start_ns, segment.end_ns - segment.start_ns,
            fmt::format("\"{}\"", name_of(segment.label)), "label");
    }
  }

  void event(std::size_t index) {
    const Event& each = timeline_.events[index];
    const std::size_t track = tracks_[each.lane].place(each.start_ns, each.end_ns());
    const int process = places_[each.lane].process;
    const int thread = places_[each.lane].thread + static_cast<int>(track);
    std::string arguments;
    const auto argument = [&arguments](std::string_view name, const auto& value) {
      fmt::format_to(std::back_inserter(arguments), R"({}"{}":{})", arguments.empty() ? "" : ",", name,
                     value);
    };
    if (each.correlation != kNoId) argument("correlation", each.correlation);
    if (each.op != kNoId) argument("External id", each.op);
    if (each.detail != kNoDetail && on_device(each.role)) {
      const LaunchDetail& launch = timeline_.launches[each.detail];
      if (launch.device >= 0) argument("device", launch.device);
      if (launch.stream >= 0) argument("stream", launch.stream);
      if (launch.grid[0] > 0) argument("grid", fmt::format("[{}]", fmt::join(launch.grid, ",")));
      if (launch.block[0] > 0) argument("block", fmt::format("[{}]", fmt::join(launch.block, ",")));
      if (launch.bytes > 0) argument("bytes", launch.bytes);
    } else if (each.detail != kNoDetail && each.role == Role::kOp) {
      const OpDetail& op = timeline_.ops[each.detail];
      if (op.shapes != 0) argument("Input Dims", list(op.shapes));
      if (op.dtypes != 0) argument("Input type", list(op.dtypes));
    }
    slice(process, thread, each.start_ns, each.duration_ns, text(each.name), category_of(each.role),
          arguments);
    if (timeline_.calls[index] != kNoEvent) arrow(index, process, thread);
  }

  // From the call to what it put on the device.
  void arrow(std::size_t index, int process, int thread) {
    const Event& work = timeline_.events[index];
    const Event& call = timeline_.events[timeline_.calls[index]];
    const Place& from = places_[call.lane];
    begin();
    fmt::format_to(
        std::back_inserter(piece_),
        R"({{"ph":"s","id":{0},"pid":{1},"tid":{2},"ts":{3},"name":"launch","cat":"launch"}},)"
        "\n"
        R"({{"ph":"f","bp":"e","id":{0},"pid":{4},"tid":{5},"ts":{6},"name":"launch","cat":"launch"}})",
        index, from.process, from.thread, at(call.start_ns), process, thread, at(work.start_ns));
  }

  // The profilers' own words, so that what reads their traces reads this one.
  static std::string_view category_of(Role role) {
    switch (role) {
      case Role::kOp:
        return "cpu_op";
      case Role::kRuntimeCall:
        return "cuda_runtime";
      case Role::kPythonCall:
        return "python_function";
      case Role::kAnnotation:
        return "user_annotation";
      case Role::kOverhead:
        return "overhead";
      case Role::kKernel:
        return "kernel";
      case Role::kCopy:
        return "gpu_memcpy";
      case Role::kMemset:
        return "gpu_memset";
      case Role::kWait:
        return "cuda_sync";
      case Role::kDeviceAnnotation:
        return "gpu_user_annotation";
    }
    return "";
  }

  const Timeline& timeline_;
  const ByteSink& write_;
  std::string piece_;
  bool first_ = true;
  std::vector<std::string> quoted_;  // texts by their id, each made once
  std::vector<Place> places_;        // of the lanes
  std::vector<LaneTracks> tracks_;
};

}  // namespace

Result<void> write_perfetto(const Timeline& timeline, const Steps& steps, const Attribution& attribution,
                            const ByteSink& write) {
  return Writer(timeline, write).all(steps, attribution);
}

}  // namespace deepgap::trace
