// Times and profiles: lists of objects.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "core/setting.h"
#include "trace/json_repair.h"
#include "trace/object_lists.h"
#include "trace/result_cell.h"
#include "trace/trtexec/trtexec.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kMostQueries = 20'000'000;
constexpr std::size_t kMostLayers = 1'000'000;
constexpr int kMostRuns = 1000;

using Json = nlohmann::json;

// Milliseconds of a member, in ns; nothing where it is not there, no number or no time of a run.
std::optional<std::int64_t> time_of(const Json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = object.find(name);
    if (found == object.end()) continue;
    if (!found->is_number()) return std::nullopt;
    const double ms = found->get<double>();
    if (!(ms >= 0) || ms > 1e11) return std::nullopt;  // 3 years
    return std::llround(ms * 1e6);
  }
  return std::nullopt;
}

// Reads the lists; `take` is given each object with the number of its list, and says whether it could use it.
template <typename Take>
Result<void> read_lists(ByteSource& source, FileContent& content, const Take& take) {
  ObjectLists lists(source);
  std::int64_t damaged = 0;
  std::int64_t mended = 0;
  for (std::string text;;) {
    DEEPGAP_ASSIGN(const bool more, lists.next(text));
    if (!more) break;
    Json object = Json::parse(text, nullptr, false);
    // Names are written as they are, backslashes too, and shares of nothing as "-nan".
    if (object.is_discarded()) {
      object = Json::parse(repaired(text), nullptr, false);
      mended += object.is_discarded() ? 0 : 1;
    }
    if (!object.is_object() || lists.list() >= kMostRuns || !take(object, lists.list())) ++damaged;
  }
  damaged += lists.too_large();
  if (lists.cut_off()) {
    content.diagnostics.push_back(
        diagnose(diagnostics::kFileCutOff, "", source.fault().value_or("the file ends within a list")));
  }
  if (mended > 0) {
    content.diagnostics.push_back(
        diagnose(diagnostics::kTextRepaired, "", fmt::format("{} entries were put right", mended), mended));
  }
  if (damaged > 0) {
    content.diagnostics.push_back(diagnose(diagnostics::kEventsLost, "",
                                           fmt::format("{} entries are damaged or hold no times", damaged),
                                           damaged));
  }
  return {};
}

// --- times

struct Query {
  std::int64_t start = 0, latency = 0;
  std::optional<std::int64_t> enqueue, compute;
};

// Before 8.0 the copies were called in and out.
std::optional<Query> query_of(const Json& object) {
  const auto start = time_of(object, {"startH2dMs", "startInMs", "startComputeMs", "startEnqMs"});
  const auto latency = time_of(object, {"latencyMs"});
  if (!start || !latency) return std::nullopt;
  Query query{.start = *start, .latency = *latency};
  auto enqueue_start = time_of(object, {"startEnqMs"});
  auto enqueue_end = time_of(object, {"endEnqMs"});
  // TensorRT 7.1 and 7.2 wrote the stamps of the two under each other's names.
  if (const auto in_start = time_of(object, {"startInMs"}); in_start && enqueue_start) {
    query.start = *enqueue_start;
    enqueue_start = in_start;
    enqueue_end = time_of(object, {"endInMs"});
  }
  if (enqueue_start && enqueue_end && *enqueue_end >= *enqueue_start)
    query.enqueue = *enqueue_end - *enqueue_start;
  query.compute = time_of(object, {"computeMs"});
  return query;
}

ProcessRun run_of(std::vector<Query>& queries, int index) {
  std::stable_sort(queries.begin(), queries.end(),
                   [](const Query& a, const Query& b) { return a.start < b.start; });
  ProcessRun run;
  run.index = index;
  run.stop_reason = StopReason::kFixedCount;
  const bool enqueued =
      std::all_of(queries.begin(), queries.end(), [](const Query& q) { return q.enqueue.has_value(); });
  const bool computed =
      std::all_of(queries.begin(), queries.end(), [](const Query& q) { return q.compute.has_value(); });
  for (const Query& query : queries) {
    run.samples.start_ns.push_back(query.start);
    run.samples.host_ns.push_back(query.latency);
    if (enqueued) run.samples.enqueue_ns.push_back(*query.enqueue);
    if (computed) run.samples.device_ns.push_back(*query.compute);
  }
  return run;
}

Result<FileContent> read_times(ByteSource& source, const ImportOptions& options, std::string_view format) {
  FileContent content;
  std::vector<std::vector<Query>> runs;
  std::size_t count = 0;
  DEEPGAP_RETURN_IF_ERROR(read_lists(source, content, [&](const Json& object, int list) {
    const auto query = query_of(object);
    if (!query || ++count > kMostQueries) return false;
    runs.resize(std::max(runs.size(), static_cast<std::size_t>(list) + 1));
    runs[static_cast<std::size_t>(list)].push_back(*query);
    return true;
  }));
  ResultCell cell(source, format, options);
  cell.says_engine("tensorrt");
  cell.usual_device("cuda:0", DeviceKind::kGpu);
  cell.set("trtexec.latency", "copies and computation, between device events");
  Measurement& measurement = cell.measurement();
  for (std::vector<Query>& queries : runs) {
    if (queries.empty()) continue;
    measurement.processes.push_back(run_of(queries, static_cast<int>(measurement.processes.size())));
  }
  if (measurement.processes.empty()) {
    content.diagnostics.push_back(
        diagnose(diagnostics::kNoResults, "", "expected queries with their times, found none"));
    return content;
  }
  measurement.planned_processes = static_cast<int>(measurement.processes.size());
  content.measurements.push_back(cell.finished());
  return content;
}

// --- profiles

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>(), 1000)
                                                     : std::string();
}

std::optional<double> number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

Result<FileContent> read_profile(ByteSource& source) {
  FileContent content;
  struct Profile {
    OpTable table;
    std::optional<std::int64_t> count;
    double percent = 0;
  };
  std::vector<Profile> profiles;
  std::size_t rows = 0;
  DEEPGAP_RETURN_IF_ERROR(read_lists(source, content, [&](const Json& object, int list) {
    profiles.resize(std::max(profiles.size(), static_cast<std::size_t>(list) + 1));
    Profile& profile = profiles[static_cast<std::size_t>(list)];
    if (const auto count = number_of(object, "count"); count && !object.contains("name")) {
      if (*count >= 1 && *count < 1e15) profile.count = static_cast<std::int64_t>(*count);
      return true;
    }
    const std::string name = text_of(object, "name");
    const auto average = time_of(object, {"averageMs"});
    if (name.empty() || !average || ++rows > kMostLayers) return false;
    OpTable::Row& row = profile.table.rows.emplace_back();
    row.record.name = name;
    row.record.duration = Nanoseconds{*average};
    row.count = profile.count;
    if (const auto median = time_of(object, {"medianMs"}))
      row.figures.push_back({"median", std::to_string(*median), "ns"});
    if (const auto total = time_of(object, {"timeMs"}))
      row.figures.push_back({"total", std::to_string(*total), "ns"});
    profile.percent += number_of(object, "percentage").value_or(0);
    return true;
  }));
  for (Profile& profile : profiles) {
    if (profile.table.rows.empty()) continue;
    const std::size_t number = content.op_tables.size() + 1;
    profile.table.title = number == 1 ? "layers" : fmt::format("layers, run {}", number);
    profile.table.per = OpTable::Per::kInference;
    // Shares are written with six digits; a layer that is missing takes its share with it.
    if (profile.percent > 0 && std::abs(profile.percent - 100) > 0.1) {
      content.diagnostics.push_back(
          diagnose(diagnostics::kSumsDiffer, profile.table.title,
                   fmt::format("the layers have {} % of the time together: some are missing or damaged",
                               format_number(profile.percent))));
    }
    content.op_tables.push_back(std::move(profile.table));
  }
  if (content.op_tables.empty()) {
    content.diagnostics.push_back(
        diagnose(diagnostics::kNoResults, "", "expected layers with their times, found none"));
  }
  return content;
}

bool begins_list_with(std::string_view head, std::string_view member) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::string_view text = trim(head);
  if (!text.starts_with('[')) return false;
  const std::size_t open = text.find('{');
  const std::size_t close = text.find('}');
  if (open == std::string_view::npos) return false;
  return text.substr(open, close == std::string_view::npos ? close : close - open).find(member) !=
         std::string_view::npos;
}

class Times final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{.id = "trtexec-times",
                               .title = "TensorRT trtexec --exportTimes",
                               .content = "each query: start, latency, time to enqueue, time on the device",
                               .basis = "real files of the names since 8.0; those before from its source"};
    return format;
  }
  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    return begins_list_with(head, "\"latencyMs\"") || begins_list_with(head, "\"startComputeMs\"")
               ? Match::kSurely
               : Match::kNo;
  }
  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    return read_times(source, options, format().id);
  }
};

class Profile final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "trtexec-profile",
        .title = "TensorRT trtexec --exportProfile",
        .content = "layers with their mean and median times and the number of inferences",
        .basis = "real files with medians; files without them from its source"};
    return format;
  }
  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    const bool count =
        begins_list_with(head, "\"count\"") && head.find("\"averageMs\"") != std::string_view::npos;
    return count || begins_list_with(head, "\"averageMs\"") ? Match::kSurely : Match::kNo;
  }
  Result<FileContent> import(ByteSource& source, const ImportOptions& /*options*/) const override {
    return read_profile(source);
  }
};

}  // namespace

const Importer& trtexec_times_importer() {
  static const Times importer;
  return importer;
}

const Importer& trtexec_profile_importer() {
  static const Profile importer;
  return importer;
}

}  // namespace deepgap::trace
