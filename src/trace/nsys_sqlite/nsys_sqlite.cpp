#include "trace/nsys_sqlite/nsys_sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "trace/nsys_sqlite/foreign_database.h"

namespace deepgap::trace {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "SQLite format 3\0"sv;
constexpr std::string_view kStoresId = "DGap";  // at 68 of a store of deepgap's own

// Of NVTX_EVENTS.eventType: ranges that one thread pushed and popped, and that were started and ended.
constexpr std::int64_t kPushedRange = 59;
constexpr std::int64_t kStartedRange = 60;

// "Memcpy HtoD (Pageable -> Device)", as other profilers call it.
std::string copy_name(std::optional<std::int64_t> kind, std::optional<std::int64_t> from,
                      std::optional<std::int64_t> to) {
  static constexpr const char* kKinds[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                           "DtoA", "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
  static constexpr const char* kMemory[] = {"Pageable", "Pinned",        "Device",         "Array",
                                            "Managed",  "Device static", "Managed static", "Unknown"};
  const auto memory = [](std::optional<std::int64_t> which) {
    return which && *which >= 0 && *which < std::ssize(kMemory) ? kMemory[*which] : "Unknown";
  };
  std::string name = "Memcpy";
  if (kind && *kind > 0 && *kind < std::ssize(kKinds)) name += fmt::format(" {}", kKinds[*kind]);
  if (from || to) name += fmt::format(" ({} -> {})", memory(from), memory(to));
  return name;
}

// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel"; "cuGetProcAddress_v2" keeps what is a name of its own.
std::string_view without_version(std::string_view name) {
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos || name.size() - mark < 6) return name;
  const std::string_view version = name.substr(mark + 2);
  const bool digits =
      std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? name.substr(0, mark) : name;
}

// Process and thread of a serialised id: 24 bits each at the end.
std::int64_t process_of(std::int64_t id) {
  return id >> 24 & 0xFFFFFF;
}
std::int64_t thread_of(std::int64_t id) {
  return id & 0xFFFFFF;
}

class Reader {
 public:
  explicit Reader(ForeignDatabase& database) : database_(database) {}

  Timeline read() {
    timeline_.format = nsys_sqlite_importer().format().id;
    read_strings();
    read_facts();
    read_kernels();
    read_copies();
    read_memsets();
    read_graphs();
    read_calls();
    read_synchronisations();
    read_ranges();
    read_overhead();
    name_threads();
    say_what_was_wrong();
    finish(timeline_);
    return std::move(timeline_);
  }

 private:
  // Names of all other tables, by id.
  void read_strings() {
    ForeignRows rows = database_.rows("StringIds", {"id", "value"});
    while (rows.next()) {
      const auto id = rows.whole(0);
      if (id) strings_.emplace(*id, timeline_.texts.id_of(rows.text(1)));
    }
  }

  std::optional<std::uint32_t> string(std::optional<std::int64_t> id) const {
    if (!id) return std::nullopt;
    const auto found = strings_.find(*id);
    return found == strings_.end() ? std::nullopt : std::optional(found->second);
  }

  void read_facts() {
    for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
      ForeignRows rows = database_.rows(table, {"name", "value"});
      while (rows.next()) {
        if (rows.text(0) == "EXPORT_PRODUCT_VERSION")
          timeline_.facts.emplace_back("nsys", printable(rows.text(1), 60));
        if (rows.text(0) == "EXPORT_SCHEMA_VERSION")
          timeline_.facts.emplace_back("schema", printable(rows.text(1), 60));
      }
    }
    ForeignRows start = database_.rows("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
    if (start.next()) {
      const std::int64_t at = start.whole(0).value_or(0);
      if (at > 0 && at < kLatestNs) timeline_.base_realtime_ns = at;
    }
    ForeignRows devices = database_.rows("TARGET_INFO_GPU", {"id", "name", "smCount", "totalMemory",
                                                             "computeMajor", "computeMinor", "cuDevice"});
    while (devices.next()) add_device(devices);
  }

  void add_device(const ForeignRows& row) {
    const auto id = row.whole(6) ? row.whole(6) : row.whole(0);
    if (!id || *id < 0 || *id > 4096) return;
    TraceDevice device{.id = static_cast<std::int32_t>(*id), .name = printable(row.text(1), 100)};
    if (row.whole(2) && *row.whole(2) > 0 && *row.whole(2) < 100'000) {
      device.multiprocessors = static_cast<int>(*row.whole(2));
    }
    if (row.whole(3) && *row.whole(3) > 0) device.memory_bytes = row.whole(3);
    if (row.whole(4) && row.whole(5))
      device.compute_capability = fmt::format("{}.{}", *row.whole(4), *row.whole(5));
    // Rows repeat where several processes were recorded.
    const bool known = std::any_of(timeline_.devices.begin(), timeline_.devices.end(),
                                   [&device](const TraceDevice& each) { return each.id == device.id; });
    if (!known) timeline_.devices.push_back(std::move(device));
  }

  // Adds an interval with the name `name`; nothing where it has no usable time.
  Event* add(std::optional<std::int64_t> start, std::optional<std::int64_t> end, Role role,
             std::uint32_t name) {
    ++timeline_.counts.read;
    if (!start || !end || *start < kEarliestNs || *start >= kLatestNs || *end < kEarliestNs ||
        *end >= kLatestNs || *end - *start >= kLongestNs) {
      ++timeline_.counts.lost;
      return nullptr;
    }
    if (*end < *start) {
      ++timeline_.counts.lost;
      ++negative_;
      return nullptr;
    }
    ++timeline_.counts.kept;
    timeline_.window_start_ns = std::min(timeline_.window_start_ns, *start);
    timeline_.window_end_ns = std::max(timeline_.window_end_ns, *end);
    Event& event = timeline_.events.emplace_back();
    event.start_ns = *start;
    event.duration_ns = *end - *start;
    event.role = role;
    event.name = name;
    return &event;
  }

  void put_on_device(Event& event, const LaunchDetail& launch) {
    event.detail = timeline_.launches.id_of(launch);
    event.lane = lane_of(fmt::format("device {}", launch.device), fmt::format("stream {}", launch.stream));
  }

  // Correlations count anew in each process.
  std::uint64_t correlation_of(std::optional<std::int64_t> correlation, std::optional<std::int64_t> global) {
    if (!correlation || *correlation < 0 || *correlation > 0xFFFFFFFF) return kNoId;
    const std::int64_t process = global ? process_of(*global) : -1;
    const auto index = processes_.emplace(process, processes_.size()).first->second;
    return (static_cast<std::uint64_t>(index) << 32U) | static_cast<std::uint64_t>(*correlation);
  }

  static LaunchDetail launch_of(std::optional<std::int64_t> device, std::optional<std::int64_t> context,
                                std::optional<std::int64_t> stream) {
    const auto small = [](std::optional<std::int64_t> value) {
      return value && *value >= 0 && *value <= INT32_MAX ? static_cast<std::int32_t>(*value) : -1;
    };
    return {.device = small(device), .context = small(context), .stream = stream.value_or(-1)};
  }

  static std::uint32_t size_of(std::optional<std::int64_t> value) {
    return value && *value > 0 && *value <= UINT32_MAX ? static_cast<std::uint32_t>(*value) : 0;
  }

  void read_kernels() {
    ForeignRows rows = database_.rows("CUPTI_ACTIVITY_KIND_KERNEL", {"start",
                                                                     "end",
                                                                     "deviceId",
                                                                     "contextId",
                                                                     "streamId",
                                                                     "correlationId",
                                                                     "globalPid",
                                                                     "demangledName",
                                                                     "shortName",
                                                                     "mangledName",
                                                                     "gridX",
                                                                     "gridY",
                                                                     "gridZ",
                                                                     "blockX",
                                                                     "blockY",
                                                                     "blockZ",
                                                                     "registersPerThread",
                                                                     "staticSharedMemory",
                                                                     "dynamicSharedMemory",
                                                                     "graphNodeId"});
    const std::uint32_t unnamed = timeline_.texts.id_of("kernel");
    while (rows.next()) {
      std::uint32_t name = unnamed;
      for (const int column : {7, 9, 8}) {
        if (const auto text = string(rows.whole(column)); text && !timeline_.texts[*text].empty()) {
          name = *text;
          break;
        }
      }
      Event* const event = add(rows.whole(0), rows.whole(1), Role::kKernel, name);
      if (event == nullptr) continue;
      LaunchDetail launch = launch_of(rows.whole(2), rows.whole(3), rows.whole(4));
      launch.grid = {size_of(rows.whole(10)), size_of(rows.whole(11)), size_of(rows.whole(12))};
      launch.block = {size_of(rows.whole(13)), size_of(rows.whole(14)), size_of(rows.whole(15))};
      launch.registers = size_of(rows.whole(16));
      launch.shared_memory = std::uint64_t{size_of(rows.whole(17))} + size_of(rows.whole(18));
      if (rows.whole(19) && *rows.whole(19) > 0) launch.graph = static_cast<std::uint64_t>(*rows.whole(19));
      processes_known_ = processes_known_ || rows.whole(6).has_value();
      event->correlation = correlation_of(rows.whole(5), rows.whole(6));
      put_on_device(*event, launch);
    }
  }

  void read_copies() {
    ForeignRows rows =
        database_.rows("CUPTI_ACTIVITY_KIND_MEMCPY",
                       {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                        "copyKind", "srcKind", "dstKind", "bytes", "graphNodeId"});
    while (rows.next()) {
      const std::uint32_t name =
          timeline_.texts.id_of(copy_name(rows.whole(7), rows.whole(8), rows.whole(9)));
      add_transfer(rows, Role::kCopy, name, rows.whole(10), rows.whole(11));
    }
  }

  void read_memsets() {
    ForeignRows rows =
        database_.rows("CUPTI_ACTIVITY_KIND_MEMSET", {"start", "end", "deviceId", "contextId", "streamId",
                                                      "correlationId", "globalPid", "bytes", "graphNodeId"});
    const std::uint32_t name = timeline_.texts.id_of("Memset (Device)");
    while (rows.next()) add_transfer(rows, Role::kMemset, name, rows.whole(7), rows.whole(8));
  }

  // The first seven columns are those of all work on a device.
  void add_transfer(const ForeignRows& row, Role role, std::uint32_t name, std::optional<std::int64_t> bytes,
                    std::optional<std::int64_t> graph) {
    Event* const event = add(row.whole(0), row.whole(1), role, name);
    if (event == nullptr) return;
    LaunchDetail launch = launch_of(row.whole(2), row.whole(3), row.whole(4));
    if (bytes && *bytes > 0) launch.bytes = static_cast<std::uint64_t>(*bytes);
    if (graph && *graph > 0) launch.graph = static_cast<std::uint64_t>(*graph);
    event->correlation = correlation_of(row.whole(5), row.whole(6));
    put_on_device(*event, launch);
  }

  // Graphs that were recorded as wholes (--cuda-graph-trace=graph): their kernels are not known.
  void read_graphs() {
    ForeignRows rows =
        database_.rows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                       {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"});
    const std::uint32_t name = timeline_.texts.id_of("CUDA graph");
    while (rows.next()) add_transfer(rows, Role::kKernel, name, std::nullopt, std::nullopt);
  }

  void read_calls() {
    ForeignRows rows = database_.rows("CUPTI_ACTIVITY_KIND_RUNTIME",
                                      {"start", "end", "globalTid", "correlationId", "nameId"});
    const std::uint32_t unnamed = timeline_.texts.id_of("call");
    while (rows.next()) {
      std::uint32_t name = unnamed;
      if (const auto text = string(rows.whole(4))) name = plain_name(*text);
      Event* const event = add(rows.whole(0), rows.whole(1), Role::kRuntimeCall, name);
      if (event == nullptr) continue;
      event->correlation = correlation_of(rows.whole(3), processes_known_ ? rows.whole(2) : std::nullopt);
      event->lane = host_lane(rows.whole(2));
    }
  }

  std::uint32_t plain_name(std::uint32_t name) {
    const auto [found, is_new] = plain_names_.try_emplace(name, name);
    if (is_new) found->second = timeline_.texts.id_of(std::string(without_version(timeline_.texts[name])));
    return found->second;
  }

  void read_synchronisations() {
    ForeignRows rows =
        database_.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                       {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"});
    const std::uint32_t name = timeline_.texts.id_of("Synchronize");
    while (rows.next()) add_transfer(rows, Role::kWait, name, std::nullopt, std::nullopt);
  }

  void read_ranges() {
    ForeignRows rows =
        database_.rows("NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "text", "textId"});
    while (rows.next()) {
      const std::int64_t type = rows.whole(2).value_or(kPushedRange);
      if ((type != kPushedRange && type != kStartedRange) || !rows.whole(1)) {
        ++timeline_.counts.read;
        ++timeline_.counts.ignored;  // marks, names of domains, ranges that never ended
        continue;
      }
      std::string_view text = rows.text(4);
      if (text.empty()) {
        if (const auto registered = string(rows.whole(5))) text = timeline_.texts[*registered];
      }
      add_range(rows, std::string(text));
    }
  }

  // torch.autograd.profiler.emit_nvtx names ops "aten::add, op_id = 12, sizes = [[2, 3]]".
  void add_range(const ForeignRows& row, const std::string& text) {
    const bool is_op = text.find(", op_id = ") != std::string::npos;
    const std::string name = is_op ? text.substr(0, text.find(", ")) : text;
    Event* const event =
        add(row.whole(0), row.whole(1), is_op ? Role::kOp : Role::kAnnotation, timeline_.texts.id_of(name));
    if (event == nullptr) return;
    event->lane = host_lane(row.whole(3));
    const std::size_t sizes = is_op ? text.find("sizes = [") : std::string::npos;
    if (sizes == std::string::npos) return;
    const std::size_t end = text.find("]]", sizes);
    const std::string shapes = text.substr(sizes + 8, end == std::string::npos ? end : end + 2 - sizes - 8);
    event->detail = timeline_.ops.id_of({.shapes = timeline_.texts.id_of(shapes)});
  }

  void read_overhead() {
    ForeignRows rows = database_.rows("PROFILER_OVERHEAD", {"start", "end", "globalTid", "nameId"});
    const std::uint32_t unnamed = timeline_.texts.id_of("profiler");
    while (rows.next()) {
      Event* const event =
          add(rows.whole(0), rows.whole(1), Role::kOverhead, string(rows.whole(3)).value_or(unnamed));
      if (event != nullptr) event->lane = host_lane(rows.whole(2));
    }
  }

  std::uint32_t host_lane(std::optional<std::int64_t> global) {
    if (!global) return lane_of("process", "thread");
    const auto [found, is_new] = host_lanes_.try_emplace(*global, 0);
    if (is_new) {
      found->second = lane_of(std::to_string(process_of(*global)), std::to_string(thread_of(*global)));
    }
    return found->second;
  }

  std::uint32_t lane_of(const std::string& process, const std::string& thread) {
    const auto [found, is_new] = lanes_.try_emplace(std::make_pair(process, thread),
                                                    static_cast<std::uint32_t>(timeline_.lanes.size()));
    if (is_new) timeline_.lanes.push_back({.process = process, .thread = thread, .name = {}});
    return found->second;
  }

  void name_threads() {
    ForeignRows rows = database_.rows("ThreadNames", {"nameId", "globalTid"});
    while (rows.next()) {
      const auto name = string(rows.whole(0));
      const auto lane = rows.whole(1) ? host_lanes_.find(*rows.whole(1)) : host_lanes_.end();
      if (name && lane != host_lanes_.end())
        timeline_.lanes[lane->second].name = printable(timeline_.texts[*name], 100);
    }
  }

  void say_what_was_wrong() {
    const auto say = [this](const DiagnosticKind& kind, std::string text, std::int64_t count) {
      timeline_.diagnostics.push_back(diagnose(kind, {}, std::move(text), count));
    };
    if (database_.fault()) {
      say(diagnostics::kFileCutOff,
          fmt::format("SQLite says: {}; the rows before it were used", *database_.fault()), 1);
    }
    if (negative_ > 0) {
      say(diagnostics::kNegativeDurations, counted(negative_, "event") + " with an end before the beginning",
          negative_);
    }
    if (const std::int64_t others = timeline_.counts.lost - negative_; others > 0) {
      say(diagnostics::kEventsLost,
          fmt::format("{} of {} lost", others, counted(timeline_.counts.read, "event")), others);
    }
  }

  ForeignDatabase& database_;
  Timeline timeline_;
  std::unordered_map<std::int64_t, std::uint32_t> strings_;
  std::unordered_map<std::uint32_t, std::uint32_t> plain_names_;
  std::unordered_map<std::int64_t, std::uint32_t> host_lanes_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> lanes_;
  std::map<std::int64_t, std::size_t> processes_;
  // Whether kernels say their process; where they do not, calls must not either, or they do not meet.
  bool processes_known_ = false;
  std::int64_t negative_ = 0;
};

class NsysSqliteImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "nsys-sqlite",
        .title = "Nsight Systems, SQLite export of a report",
        .content = "kernels, copies, memsets, calls, synchronisation, NVTX ranges and ops, devices",
        .basis =
            "real files of versions 2024.6, 2026.1 and 2026.2; tables and columns of others may be absent"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    if (!head.starts_with(kMagic)) return Match::kNo;
    if (head.size() >= 72 && head.substr(68, 4) == kStoresId) return Match::kNo;
    // The schema of a large one lies farther behind.
    return head.find("CUPTI_ACTIVITY_KIND") != std::string_view::npos ? Match::kSurely : Match::kPerhaps;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& /*options*/) const override {
    if (source.packing() != Packing::kNone) {
      return bad_input(
          fmt::format("{}: expected an SQLite file as it is, found a compressed one: unpack it first",
                      printable(source.path())));
    }
    DEEPGAP_ASSIGN(ForeignDatabase database, ForeignDatabase::open(source.path()));
    const bool known =
        std::any_of(database.tables().begin(), database.tables().end(), [](const std::string& table) {
          return table.starts_with("CUPTI_ACTIVITY_KIND") || table == "NVTX_EVENTS";
        });
    if (!known && !database.fault()) {
      return bad_input(
          fmt::format("{}: expected tables of an export by Nsight Systems such as "
                      "CUPTI_ACTIVITY_KIND_KERNEL, found {}",
                      printable(source.path()), tables_text(database)));
    }
    FileContent content;
    content.timeline = Reader(database).read();
    return content;
  }

 private:
  static std::string tables_text(const ForeignDatabase& database) {
    if (database.tables().empty()) return "no tables: what runs was not recorded, or not exported";
    std::vector<std::string> names;
    for (const std::string& table : database.tables()) {
      if (names.size() < 8) names.push_back(printable(table, 40));
    }
    return join(names, ", ");
  }
};

}  // namespace

const Importer& nsys_sqlite_importer() {
  static const NsysSqliteImporter importer;
  return importer;
}

}  // namespace deepgap::trace
