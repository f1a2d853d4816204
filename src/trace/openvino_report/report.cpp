#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "core/setting.h"
#include "trace/line_reader.h"
#include "trace/openvino_report/openvino_report.h"
#include "trace/result_cell.h"
#include "trace/small_document.h"
#include "trace/tool_number.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 20;  // a few kB are usual

// Of the three sections, whose names differ between CSV and JSON.
struct Values {
  std::map<std::string, std::string, std::less<>> options;  // "-m": "resnet50.xml"
  std::map<std::string, std::string, std::less<>> setup;    // "batch size": "1"
  std::map<std::string, std::string, std::less<>> results;  // "throughput": "4316.49"
};

std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

Result<Values> read_json(ByteSource& source) {
  DEEPGAP_ASSIGN(const nlohmann::json document, read_small_document(source, kLargestFile));
  Values values;
  const auto take = [&document](const char* section, auto& into) {
    const auto found = document.find(section);
    if (found == document.end() || !found->is_object()) return;
    for (const auto& [name, value] : found->items()) into.emplace(name, text_of(value));
  };
  take("cmd_options", values.options);
  take("configuration_setup", values.setup);
  take("execution_results", values.results);
  return values;
}

Result<Values> read_csv(ByteSource& source) {
  Values values;
  auto* section = &values.setup;
  LineReader lines(source);
  for (std::string line;;) {
    DEEPGAP_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    const std::string_view text = trim(line);
    if (text == "Command line parameters") section = &values.options;
    if (text == "Configuration setup") section = &values.setup;
    if (text == "Execution results") section = &values.results;
    const std::size_t separator = text.find(';');
    if (separator == std::string_view::npos) continue;
    std::string_view value = text.substr(separator + 1);
    if (value.ends_with(';')) value.remove_suffix(1);
    section->emplace(text.substr(0, separator), trim(value));
  }
  if (const auto fault = lines.cut_off()) {
    return bad_input(
        fmt::format("{}: {}: copy or compress the file again", printable(source.path()), *fault));
  }
  return values;
}

template <typename Map>
std::string value_of(const Map& map, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto found = map.find(name); found != map.end()) return printable(found->second);
  }
  return "";
}

std::optional<std::int64_t> whole_of(const std::string& text) {
  const auto number = tool_number(text);
  if (!number || *number < 1 || *number > 1e9 || *number != std::floor(*number)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.find_last_of("/\\") + 1);
  return name.substr(0, name.rfind('.'));
}

std::optional<Precision> precision_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (name == "f32") return Precision::kFp32;
  if (name == "f16") return Precision::kFp16;
  if (name == "i8" || name == "u8") return Precision::kInt8;
  return parse_precision(name);
}

void say_key(ResultCell& cell, const Values& values) {
  cell.says_engine("openvino");
  const std::string model = value_of(values.options, {"-m", "--path_to_model", "m"});
  if (!model.empty()) cell.says_model(stem_of(model));
  std::string device = value_of(values.setup, {"target device"});
  if (!device.empty()) {
    std::transform(device.begin(), device.end(), device.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::replace(device.begin(), device.end(), '/', '_');
    cell.says_device(device, "", device == "cpu" ? DeviceKind::kCpu : DeviceKind::kGpu);
  }
  if (const auto batch = whole_of(value_of(values.setup, {"batch size"})); batch && *batch <= kLargestBatch) {
    cell.says_batch(*batch);
  }
  if (const auto precision = precision_of(value_of(values.setup, {"precision"})))
    cell.says_precision(*precision);
}

void say_settings(ResultCell& cell, const Values& values) {
  const auto requests = whole_of(value_of(values.setup, {"number of parallel infer requests"}));
  const bool several = requests && *requests > 1 && value_of(values.setup, {"API"}) != "sync";
  cell.measurement().key.workload.mode = several ? Mode::kThroughput : Mode::kLatency;
  const auto set = [&cell](std::string_view name, const std::string& value) {
    if (!value.empty()) cell.set(name, value);
  };
  set(settings::kInFlight, value_of(values.setup, {"number of parallel infer requests"}));
  set(settings::kStreams, value_of(values.setup, {"number of CPU streams", "number of streams"}));
  set(settings::kThreads, value_of(values.setup, {"number of CPU threads", "number of threads"}));
  set("openvino.api", value_of(values.setup, {"API"}));
  set("openvino.hint", value_of(values.options, {"-hint", "--perf_hint", "hint"}));
  set("openvino.inference_only", value_of(values.setup, {"inference_only"}));
}

// Which percentile "latency (ms)" is: the median unless the option says otherwise.
std::string percentile_of(const Values& values) {
  const std::string option =
      value_of(values.options, {"-latency_percentile", "--latency_percentile", "latency_percentile"});
  if (option.empty() || option == "50") return "p50";
  for (const char* known : {"90", "95", "97", "99"}) {
    if (option == known) return std::string("p") + known;
  }
  return "";
}

void report(ResultCell& cell, const Values& values) {
  const auto calls = whole_of(value_of(values.results, {"total number of iterations"}));
  const auto time = [&](std::string_view metric, std::initializer_list<std::string_view> names) {
    const auto ns = nanoseconds_of(value_of(values.results, names), "ms");
    if (ns && !metric.empty()) cell.report(metric, static_cast<double>(*ns), Unit::kNanoseconds, calls);
    return ns;
  };
  time(percentile_of(values), {"latency (ms)", "Median latency (ms)"});
  time("mean", {"avg latency", "Average latency (ms)"});
  time("minimum", {"min latency", "Min latency (ms)"});
  time("maximum", {"max latency", "Max latency (ms)"});
  const auto throughput = tool_number(value_of(values.results, {"throughput", "throughput (FPS)"}));
  if (throughput && *throughput > 0 && *throughput < 1e12) {
    cell.report("throughput", *throughput, Unit::kSamplesPerSecond, calls);
  }
  const auto read = time("", {"read model time (ms)"});
  const auto compile = time("", {"compile model time (ms)", "load network time (ms)"});
  if (read && compile) cell.report("load_time", static_cast<double>(*read + *compile), Unit::kNanoseconds);
  time("first_call", {"first inference time (ms)"});
}

class Report final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "openvino-report",
        .title = "OpenVINO benchmark_app report, CSV or JSON",
        .content = "latency, throughput, times to load and of the first call, how it was run",
        .basis =
            "files of the tool of OpenVINO 2026.4 in Python; names of the C++ tool and of older versions "
            "from their "
            "sources"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    const auto has = [head](std::string_view text) { return head.find(text) != std::string_view::npos; };
    const bool csv = has("Configuration setup\n") || has("Configuration setup\r");
    const bool json = head.find_first_not_of(" \t\r\n") != std::string_view::npos &&
                      has("\"configuration_setup\"") &&
                      (has("\"execution_results\"") || has("\"cmd_options\""));
    return csv || json ? Match::kSurely : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    const bool json = trim(source.head()).starts_with('{');
    DEEPGAP_ASSIGN(const Values values, json ? read_json(source) : read_csv(source));
    FileContent content;
    ResultCell cell(source, format().id, options);
    say_key(cell, values);
    say_settings(cell, values);
    report(cell, values);
    // The throughput is what both forms end with.
    if (!values.results.empty() && value_of(values.results, {"throughput", "throughput (FPS)"}).empty()) {
      content.diagnostics.push_back(
          diagnose(diagnostics::kFileCutOff, "", "expected the throughput at its end, found none"));
    }
    if (cell.measurement().reported.empty()) {
      content.diagnostics.push_back(
          diagnose(diagnostics::kNoResults, "",
                   "expected results such as 'throughput', found none: the run did not end"));
      return content;
    }
    content.measurements.push_back(cell.finished());
    return content;
  }
};

}  // namespace

const Importer& openvino_report_importer() {
  static const Report importer;
  return importer;
}

}  // namespace deepgap::trace
