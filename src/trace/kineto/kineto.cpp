#include "trace/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "trace/json_damage.h"
#include "trace/json_events.h"
#include "trace/json_repair.h"
#include "trace/raw_event.h"

namespace deepgap::trace {
namespace {

struct Category {
  std::string_view name;
  Role role;
};

// As of torch 1.12; then, with a capital, as files of 2021 have them.
constexpr Category kCategories[] = {
    {"cpu_op", Role::kOp},
    {"kernel", Role::kKernel},
    {"cuda_runtime", Role::kRuntimeCall},
    {"cuda_driver", Role::kRuntimeCall},
    {"python_function", Role::kPythonCall},
    {"gpu_memcpy", Role::kCopy},
    {"gpu_memset", Role::kMemset},
    {"user_annotation", Role::kAnnotation},
    {"gpu_user_annotation", Role::kDeviceAnnotation},
    {"cuda_sync", Role::kWait},
    {"overhead", Role::kOverhead},
    {"Operator", Role::kOp},
    {"Kernel", Role::kKernel},
    {"Runtime", Role::kRuntimeCall},
    {"Memcpy", Role::kCopy},
    {"Memset", Role::kMemset},
};

std::optional<Role> role_of(std::string_view category) {
  for (const Category& each : kCategories) {
    if (each.name == category) return each.role;
  }
  return std::nullopt;
}

// "[2048, 1, 47]", once with quotes around it.
std::array<std::uint32_t, 3> sizes_of(std::string_view text) {
  std::array<std::uint32_t, 3> sizes{};
  std::size_t count = 0;
  std::uint64_t value = 0;
  bool in_number = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      value = std::min<std::uint64_t>(value * 10 + static_cast<std::uint64_t>(c - '0'), UINT32_MAX);
      in_number = true;
      continue;
    }
    if (in_number && count < sizes.size()) sizes[count++] = static_cast<std::uint32_t>(value);
    in_number = false;
    value = 0;
  }
  return sizes;
}

bool is_in_range(std::int64_t start, std::int64_t duration) {
  return start >= kEarliestNs && start < kLatestNs && duration < kLongestNs;
}

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(&source), events_(source) {}

  Result<Timeline> read() {
    timeline_.format = "kineto";
    RawEvent raw;
    for (;;) {
      DEEPGAP_ASSIGN(const std::optional<JsonText> text, events_.next());
      if (!text) break;
      ++timeline_.counts.read;
      if (parse(*text, raw)) {
        add(raw);
      } else {
        ++timeline_.counts.lost;
      }
    }
    if (!events_.has_list()) {
      return bad_input(fmt::format("{}: expected a list of events called traceEvents, found none",
                                   printable(source_->path())));
    }
    count_damage(timeline_, events_);
    for (auto& [lane, open] : open_) timeline_.counts.lost += static_cast<std::int64_t>(open.size());
    take_members();
    say_damage(timeline_, events_, *source_, {.mended = mended_count_, .negative = negative_});
    finish(timeline_);
    return std::move(timeline_);
  }

 private:
  bool parse(const JsonText& text, RawEvent& raw) {
    if (!text.suspect && parser_.parse(text.text, raw)) return true;
    mended_ = repaired(text.text);
    const std::size_t size = mended_.size();
    mended_.append(kJsonPadding, '\0');
    if (!parser_.parse(std::string_view(mended_).substr(0, size), raw)) return false;
    ++mended_count_;
    return true;
  }

  void add(const RawEvent& raw) {
    const char phase = raw.phase.empty() ? '\0' : raw.phase.front();
    const std::optional<Role> role = role_of(raw.category);
    if (phase == 'X') {
      add_interval(raw, role);
    } else if ((phase == 'B' || phase == 'E') && (role || phase == 'E')) {
      add_end(raw, phase, role);
    } else if (phase == 'i' && raw.name == "[memory]") {
      add_memory(raw);
    } else {
      if (phase == 'M' && raw.name == "thread_name") lane_names_[lane_of(raw)] = std::string(raw.title);
      ++timeline_.counts.ignored;
    }
  }

  void add_interval(const RawEvent& raw, std::optional<Role> role) {
    const std::optional<std::int64_t> start = nanoseconds_of(raw.time);
    const std::optional<std::int64_t> duration =
        raw.duration.empty() ? std::optional<std::int64_t>(0) : nanoseconds_of(raw.duration);
    if (!start || !duration || *duration < 0 || !is_in_range(*start, *duration)) {
      ++timeline_.counts.lost;
      if (duration && *duration < 0) ++negative_;
      return;
    }
    widen_window(*start, *start + *duration);
    if (!role) {
      ++timeline_.counts.ignored;
      return;
    }
    timeline_.events.push_back(event_of(raw, *role, *start, *duration));
    ++timeline_.counts.kept;
  }

  void widen_window(std::int64_t start, std::int64_t end) {
    timeline_.window_start_ns = std::min(timeline_.window_start_ns, start);
    timeline_.window_end_ns = std::max(timeline_.window_end_ns, end);
  }

  Event event_of(const RawEvent& raw, Role role, std::int64_t start, std::int64_t duration) {
    Event event;
    event.start_ns = start;
    event.duration_ns = duration;
    event.role = role;
    event.name = timeline_.texts.id_of(raw.name);
    event.lane = lane_of(raw);
    if (const auto id = id_of(raw.correlation)) event.correlation = *id;
    if (const auto id = id_of(raw.external_id)) event.op = *id;
    if (role == Role::kOp) {
      if (!raw.shapes.empty() || !raw.dtypes.empty()) {
        TextTable& texts = timeline_.texts;
        event.detail = timeline_.ops.id_of({.shapes = texts.id_of(raw.shapes),
                                            .dtypes = texts.id_of(raw.dtypes),
                                            .strides = texts.id_of(raw.strides),
                                            .values = texts.id_of(raw.values)});
      }
    } else if (on_device(role)) {
      event.detail = timeline_.launches.id_of(launch_of(raw));
    }
    return event;
  }

  static LaunchDetail launch_of(const RawEvent& raw) {
    LaunchDetail launch;
    launch.device = static_cast<std::int32_t>(whole_of(raw.device).value_or(-1));
    launch.context = static_cast<std::int32_t>(whole_of(raw.context).value_or(-1));
    launch.stream = whole_of(raw.stream).value_or(-1);
    launch.grid = sizes_of(raw.grid);
    launch.block = sizes_of(raw.block);
    launch.registers = static_cast<std::uint32_t>(id_of(raw.registers).value_or(0));
    launch.shared_memory = id_of(raw.shared_memory).value_or(0);
    launch.bytes = id_of(raw.bytes).value_or(0);
    launch.graph = id_of(raw.graph_node).value_or(0);
    return launch;
  }

  // Pairs of a begin and an end, innermost first, as other writers of this format have them.
  void add_end(const RawEvent& raw, char phase, std::optional<Role> role) {
    const std::optional<std::int64_t> at = nanoseconds_of(raw.time);
    std::vector<Event>& open = open_[lane_of(raw)];
    if (!at || !is_in_range(*at, 0) || (phase == 'E' && open.empty())) {
      ++timeline_.counts.lost;
    } else if (phase == 'B') {
      open.push_back(event_of(raw, *role, *at, 0));
    } else {
      Event event = open.back();
      open.pop_back();
      event.duration_ns = *at - event.start_ns;
      if (event.duration_ns < 0 || event.duration_ns > kLongestNs) {
        timeline_.counts.lost += 2;
        if (event.duration_ns < 0) ++negative_;
        return;
      }
      widen_window(event.start_ns, event.end_ns());
      timeline_.events.push_back(event);
      ++timeline_.counts.kept;
      ++timeline_.counts.ignored;  // the end, which is in the event now
    }
  }

  void add_memory(const RawEvent& raw) {
    const std::optional<std::int64_t> at = nanoseconds_of(raw.time);
    const std::optional<std::int64_t> bytes = whole_of(raw.bytes);
    if (!at || !bytes) {
      ++timeline_.counts.lost;
      return;
    }
    const bool on_host = whole_of(raw.device_type).value_or(0) == 0;
    timeline_.memory.push_back(
        {.at_ns = *at,
         .bytes = *bytes,
         .allocated = whole_of(raw.total_allocated).value_or(0),
         .device = on_host ? -1 : static_cast<std::int32_t>(whole_of(raw.device).value_or(-1))});
    ++timeline_.counts.kept;
  }

  std::uint32_t lane_of(const RawEvent& raw) {
    if (raw.process == last_process_ && raw.thread == last_thread_) return last_lane_;
    last_process_ = raw.process;
    last_thread_ = raw.thread;
    key_.assign(raw.process).append("\n").append(raw.thread);
    const auto [found, fresh] = lanes_.try_emplace(key_, static_cast<std::uint32_t>(timeline_.lanes.size()));
    if (fresh) timeline_.lanes.push_back({.process = last_process_, .thread = last_thread_, .name = {}});
    return last_lane_ = found->second;
  }

  void take_members();

  ByteSource* source_;
  JsonEvents events_;
  RawEventParser parser_;
  Timeline timeline_;
  std::string mended_;
  std::int64_t mended_count_ = 0;
  std::int64_t negative_ = 0;
  std::unordered_map<std::string, std::uint32_t> lanes_;
  std::unordered_map<std::uint32_t, std::string> lane_names_;
  std::unordered_map<std::uint32_t, std::vector<Event>> open_;
  std::string key_, last_process_ = "\n", last_thread_;
  std::uint32_t last_lane_ = 0;
};

// A number or a text of a member, for facts.
std::string plain(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void Reader::take_members() {
  for (const auto& [lane, name] : lane_names_) timeline_.lanes[lane].name = name;
  const auto parsed = [this](std::string_view name) {
    const auto text = events_.member(name);
    return text ? nlohmann::json::parse(repaired(*text), nullptr, false) : nlohmann::json();
  };
  if (const auto base = events_.member("baseTimeNanoseconds")) {
    timeline_.base_realtime_ns = whole_of(*base).value_or(0);
  }
  for (const char* name : {"cuda_runtime_version", "cuda_driver_version", "cupti_version", "record_shapes",
                           "profile_memory", "with_flops", "with_stack", "with_modules", "displayTimeUnit"}) {
    const nlohmann::json value = parsed(name);
    if (value.is_primitive() && !value.is_null()) timeline_.facts.emplace_back(name, plain(value));
  }
  timeline_.engine = "torch";
  // Added by programs through the profiler's add_metadata; the profiler itself does not say it.
  if (const nlohmann::json version = parsed("torch_version"); version.is_string()) {
    timeline_.engine_version = printable(version.get<std::string>());
  }
  const nlohmann::json devices = parsed("deviceProperties");
  if (!devices.is_array()) return;
  for (const nlohmann::json& each : devices) {
    if (!each.is_object()) continue;
    TraceDevice device;
    const auto number = [&each](const char* name) -> std::optional<std::int64_t> {
      const auto found = each.find(name);
      if (found == each.end() || !found->is_number_integer()) return std::nullopt;
      return found->get<std::int64_t>();
    };
    device.id =
        static_cast<std::int32_t>(number("id").value_or(static_cast<std::int64_t>(timeline_.devices.size())));
    if (const auto found = each.find("name"); found != each.end() && found->is_string()) {
      device.name = found->get<std::string>();
    }
    if (const auto count = number("numSms")) device.multiprocessors = static_cast<int>(*count);
    const auto major = number("computeMajor");
    const auto minor = number("computeMinor");
    if (major && minor) device.compute_capability = fmt::format("{}.{}", *major, *minor);
    device.memory_bytes = number("totalGlobalMem");
    timeline_.devices.push_back(std::move(device));
  }
}

}  // namespace

Result<Timeline> read_kineto(ByteSource& source) {
  return Reader(source).read();
}

namespace {

class KinetoImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "kineto",
        .title = "PyTorch profiler trace (Kineto, Chrome JSON), also compressed",
        .content = "ops with shapes, runtime calls, kernels, copies, annotations, memory, devices",
        .basis = "real files: torch 1.9 to 2.11, CUDA and ROCm"};
    return format;
  }

  // A list of events, at once or as a member; a large preface may push the member out of sight.
  Match sniff(std::string_view head, std::int64_t size) const override {
    if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
    const std::string_view text = trim(head);
    if (text.starts_with('{')) {
      if (text.find("\"traceEvents\"") != std::string_view::npos) return Match::kSurely;
      const bool longer = size > static_cast<std::int64_t>(head.size());
      return longer && text.find('"') != std::string_view::npos ? Match::kPerhaps : Match::kNo;
    }
    if (!text.starts_with('[')) return Match::kNo;
    return text.find("\"ph\"") != std::string_view::npos && text.find("\"ts\"") != std::string_view::npos
               ? Match::kSurely
               : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions&) const override {
    FileContent content;
    DEEPGAP_ASSIGN(content.timeline, read_kineto(source));
    return content;
  }
};

}  // namespace

const Importer& kineto_importer() {
  static const KinetoImporter importer;
  return importer;
}

}  // namespace deepgap::trace
