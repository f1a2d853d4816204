#include "trace/ort_profile/ort_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

constexpr std::string_view kFormat = "onnxruntime-profile";
constexpr std::string_view kNodeTime = "_kernel_time";
constexpr std::int64_t kProfilersLimit = 1'000'000;  // ONNX Runtime's own

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"'))
    text = text.substr(1, text.size() - 2);
  return text;
}

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(&source), events_(source) {}

  Result<Timeline> read() {
    timeline_.format = kFormat;
    timeline_.engine = "onnxruntime";
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
      return bad_input(fmt::format("{}: expected a list of events, found none", printable(source_->path())));
    }
    count_damage(timeline_, events_);
    say_damage(timeline_, events_, *source_, mended_);
    std::string providers;
    for (const auto& [name, nodes] : providers_) {
      providers += fmt::format("{}{} ({} nodes)", providers.empty() ? "" : ", ", name, nodes);
    }
    if (!providers.empty()) timeline_.facts.emplace_back("providers", providers);
    if (timeline_.counts.read == kProfilersLimit) {
      timeline_.diagnostics.push_back(diagnose(
          diagnostics::kFileCutOff, {},
          fmt::format("it has exactly {} events, beyond which the profiler keeps none", kProfilersLimit)));
    }
    finish(timeline_);
    return std::move(timeline_);
  }

 private:
  bool parse(const JsonText& text, RawEvent& raw) {
    if (!text.suspect && parser_.parse(text.text, raw)) return true;
    repaired_ = repaired(text.text);
    const std::size_t size = repaired_.size();
    repaired_.append(kJsonPadding, '\0');
    if (!parser_.parse(std::string_view(repaired_).substr(0, size), raw)) return false;
    ++mended_.mended;
    return true;
  }

  void add(const RawEvent& raw) {
    if (raw.phase != "X") {
      ++timeline_.counts.ignored;
      return;
    }
    const std::optional<std::int64_t> start = nanoseconds_of(raw.time);
    const std::optional<std::int64_t> duration = nanoseconds_of(raw.duration);
    if (!start || !duration || *duration < 0 || *start < kEarliestNs || *start >= kLatestNs ||
        *duration >= kLongestNs) {
      ++timeline_.counts.lost;
      if (duration && *duration < 0) ++mended_.negative;
      return;
    }
    timeline_.window_start_ns = std::min(timeline_.window_start_ns, *start);
    timeline_.window_end_ns = std::max(timeline_.window_end_ns, *start + *duration);
    Event event{.start_ns = *start, .duration_ns = *duration};
    if (!describe(raw, event)) {
      ++timeline_.counts.ignored;
      return;
    }
    event.lane = lane_of(raw);
    timeline_.events.push_back(event);
    ++timeline_.counts.kept;
  }

  // False: it tells nothing (the executor's own range within a run, fences around nodes).
  bool describe(const RawEvent& raw, Event& event) {
    if (raw.category == "Session") {
      if (raw.name.find("::") != std::string_view::npos) return false;
      event.role = Role::kAnnotation;
      event.name = timeline_.texts.id_of(raw.name);
      return true;
    }
    if (raw.category == "Kernel") {
      event.role = raw.name.starts_with("Memcpy") ? Role::kCopy : Role::kKernel;  // "MemcpyHostToDevice"
      event.name = timeline_.texts.id_of(raw.name);
      event.detail = timeline_.launches.id_of({.device = 0, .stream = whole_of(raw.stream).value_or(-1)});
      return true;
    }
    if (raw.category != "Node" || !raw.name.ends_with(kNodeTime)) return false;
    const std::string_view op = unquoted(raw.op_name);
    event.role = Role::kOp;
    event.name =
        timeline_.texts.id_of(op.empty() ? raw.name.substr(0, raw.name.size() - kNodeTime.size()) : op);
    if (!raw.input_type_shape.empty()) event.detail = detail_of(raw.input_type_shape);
    if (const std::string_view provider = unquoted(raw.provider);
        !provider.empty() && providers_.size() < 100) {
      ++providers_[printable(provider, 100)];
    }
    return true;
  }

  // [{"float":[1,3,224,224]},{"float":[64]}] as [[1,3,224,224],[64]] and ["float","float"].
  std::uint32_t detail_of(std::string_view text) {
    const auto [found, is_new] = details_.try_emplace(std::string(text), kNoDetail);
    if (!is_new) return found->second;
    const nlohmann::json inputs = nlohmann::json::parse(text, nullptr, false);
    if (!inputs.is_array()) return kNoDetail;
    nlohmann::json shapes = nlohmann::json::array();
    nlohmann::json types = nlohmann::json::array();
    for (const nlohmann::json& input : inputs) {
      if (!input.is_object() || input.empty()) return kNoDetail;
      shapes.push_back(input.begin().value());
      types.push_back(input.begin().key());
    }
    const auto id_of = [this](const nlohmann::json& list) {
      return timeline_.texts.id_of(list.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    };
    found->second = timeline_.ops.id_of({.shapes = id_of(shapes), .dtypes = id_of(types)});
    return found->second;
  }

  std::uint32_t lane_of(const RawEvent& raw) {
    std::string key = fmt::format("{}\n{}", raw.process, raw.thread);
    const auto [found, is_new] =
        lanes_.try_emplace(std::move(key), static_cast<std::uint32_t>(timeline_.lanes.size()));
    if (is_new) {
      timeline_.lanes.push_back({.process = std::string(unquoted(raw.process)),
                                 .thread = std::string(unquoted(raw.thread)),
                                 .name = {}});
    }
    return found->second;
  }

  ByteSource* source_;
  JsonEvents events_;
  RawEventParser parser_;
  Timeline timeline_;
  std::string repaired_;
  MendedEvents mended_;
  std::unordered_map<std::string, std::uint32_t> details_;  // by their text: some dozens of a million nodes
  std::unordered_map<std::string, std::uint32_t> lanes_;
  std::map<std::string, std::int64_t> providers_;
};

class OrtProfileImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = kFormat,
        .title = "ONNX Runtime profile (JSON)",
        .content = "runs, nodes with operator, shapes and types, providers; kernels of the CUDA provider",
        .basis =
            "real files of a CPU, with the providers CPU and MKLDNN, of 2020 and of version 1.30; kernels "
            "from "
            "its source"};
    return format;
  }

  // A list of events like others, of categories that only this profiler has.
  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
    if (!trim(head).starts_with('[')) return Match::kNo;
    for (const std::string_view mark : {"\"cat\" : \"Session\"", "\"cat\" :\"Session\"",
                                        "\"cat\": \"Session\"", "\"cat\":\"Session\"", "_kernel_time\""}) {
      if (head.find(mark) != std::string_view::npos) return Match::kSurely;
    }
    return Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& /*options*/) const override {
    FileContent content;
    DEEPGAP_ASSIGN(content.timeline, Reader(source).read());
    return content;
  }
};

}  // namespace

const Importer& ort_profile_importer() {
  static const OrtProfileImporter importer;
  return importer;
}

}  // namespace deepgap::trace
