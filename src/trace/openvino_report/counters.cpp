#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/op_class.h"
#include "trace/line_reader.h"
#include "trace/openvino_report/openvino_report.h"
#include "trace/small_document.h"
#include "trace/tool_number.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;  // some 200 bytes a layer and inference
constexpr std::size_t kMostRows = 1'000'000;
constexpr double kRounding = 0.0006;  // of a time with three decimals, in its unit

// "brgconv_avx512_amx_bf16", "jit_avx512_I8": what stands behind the last underscore is the type it computes
// in.
std::optional<Precision> precision_of(std::string_view implementation) {
  const std::string_view type = implementation.substr(implementation.rfind('_') + 1);
  if (type == "f32" || type == "FP32") return Precision::kFp32;
  if (type == "f16" || type == "FP16") return Precision::kFp16;
  if (type == "bf16" || type == "BF16") return Precision::kBf16;
  if (type == "i8" || type == "I8" || type == "u8" || type == "U8") return Precision::kInt8;
  return std::nullopt;
}

// "Status.EXECUTED" in Python, "EXECUTED" in C++.
std::string_view status_of(std::string_view text) {
  return text.starts_with("Status.") ? text.substr(7) : text;
}

struct Layer {
  std::string_view name, status, type, implementation, real, cpu;
};

// One table, with the total that the file says.
class Table {
 public:
  explicit Table(std::string title) {
    table_.title = std::move(title);
    table_.per = OpTable::Per::kInference;
  }

  // False: no layer with a time.
  bool add(const Layer& layer, std::string_view unit) {
    const auto real = nanoseconds_of(layer.real, unit);
    if (!real || layer.name.empty() || table_.rows.size() >= kMostRows) return false;
    OpTable::Row& row = table_.rows.emplace_back();
    row.record.name = printable(layer.name);
    row.record.duration = Nanoseconds{*real};
    row.kind = printable(layer.type, 100);
    if (layer.implementation != "undef") row.implementation = printable(layer.implementation, 100);
    row.figures.push_back({"status", printable(status_of(layer.status), 40), ""});
    if (const auto cpu = nanoseconds_of(layer.cpu, unit))
      row.figures.push_back({"cpu_time", std::to_string(*cpu), "ns"});
    if (status_of(layer.status) == "EXECUTED") row.record.precision_path = precision_of(layer.implementation);
    if (const ops::OpName* known = ops::classify(ops::FrontEnd::kOpenVino, layer.type)) {
      row.record.op_class = ops::name_of(known->op_class);
    }
    sum_ += *real;
    return true;
  }

  void total(std::string_view text, std::string_view unit) { total_ = nanoseconds_of(text, unit); }

  bool empty() const { return table_.rows.empty(); }

  // A table ends with its total.
  bool is_whole() const { return total_.has_value(); }

  void into(FileContent& content, std::string_view unit) {
    const double rounding =
        kRounding * nanoseconds_in(unit).value_or(1) * static_cast<double>(table_.rows.size() + 1);
    if (total_ && std::abs(static_cast<double>(*total_ - sum_)) > rounding) {
      content.diagnostics.push_back(diagnose(
          diagnostics::kSumsDiffer, table_.title,
          fmt::format("the layers take {} together, and the file says {}: layers are missing, or damaged",
                      format_duration(Nanoseconds{sum_}), format_duration(Nanoseconds{*total_}))));
    }
    content.op_tables.push_back(std::move(table_));
  }

 private:
  OpTable table_;
  std::int64_t sum_ = 0;
  std::optional<std::int64_t> total_;
};

void lost(FileContent& content, std::int64_t damaged) {
  if (damaged == 0) return;
  content.diagnostics.push_back(diagnose(
      diagnostics::kEventsLost, "", fmt::format("{} rows are cut off or hold no times", damaged), damaged));
}

Result<FileContent> read_csv(ByteSource& source) {
  FileContent content;
  LineReader lines(source);
  std::vector<Table> tables;
  std::string unit = "ms";
  std::int64_t damaged = 0;
  for (std::string line;;) {
    DEEPGAP_ASSIGN(const bool more, lines.next(line));
    if (!more) break;
    if (trim(line).empty()) continue;
    const std::vector<std::string> fields = split(line, ';');
    if (fields[0] == "layerName") {
      // "realTime (ms)"
      const std::string& column = fields.size() > 4 ? fields[4] : "";
      const std::size_t open = column.find('(');
      if (open != std::string::npos) unit = column.substr(open + 1, column.find(')') - open - 1);
      tables.emplace_back(tables.empty() ? "layers" : fmt::format("layers, {}", tables.size() + 1));
      continue;
    }
    const bool whole = !tables.empty() && fields.size() >= 6;
    if (whole && fields[0] == "Total") {
      tables.back().total(fields[4], unit);
      continue;
    }
    const bool added =
        whole && tables.back().add({fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]}, unit);
    if (!added) ++damaged;
  }
  if (const auto fault = lines.cut_off()) {
    content.diagnostics.push_back(diagnose(diagnostics::kFileCutOff, "", *fault));
  }
  lost(content, damaged);
  if (!tables.empty() && !tables.back().is_whole()) {
    content.diagnostics.push_back(
        diagnose(diagnostics::kFileCutOff, "", "expected the row of the total at its end, found none"));
  }
  for (Table& table : tables) {
    if (!table.empty()) table.into(content, unit);
  }
  return content;
}

std::string text_of(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return "";
  return found->is_string() ? found->get<std::string>()
                            : found->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// {"nodes": [{"name", "node_type", "status", "real_time", "cpu_time", "exec_type"}], "total_real_time"}
void read_profile(const nlohmann::json& profile, std::string title, FileContent& content,
                  std::int64_t& damaged) {
  if (!profile.is_object() || !profile.contains("nodes") || !profile["nodes"].is_array()) {
    ++damaged;
    return;
  }
  Table table(std::move(title));
  for (const nlohmann::json& node : profile["nodes"]) {
    if (!node.is_object()) {
      ++damaged;
      continue;
    }
    const std::string name = text_of(node, "name");
    const std::string status = text_of(node, "status");
    const std::string type = text_of(node, "node_type");
    const std::string implementation = text_of(node, "exec_type");
    const std::string real = text_of(node, "real_time");
    const std::string cpu = text_of(node, "cpu_time");
    if (!table.add({name, status, type, implementation, real, cpu}, "ms")) ++damaged;
  }
  table.total(text_of(profile, "total_real_time"), "ms");
  if (!table.empty()) table.into(content, "ms");
}

Result<FileContent> read_json(ByteSource& source) {
  DEEPGAP_ASSIGN(const nlohmann::json document, read_small_document(source, kLargestFile));
  FileContent content;
  std::int64_t damaged = 0;
  if (document.contains("avg_performance"))
    read_profile(document["avg_performance"], "layers", content, damaged);
  if (document.contains("detailed_performance") && document["detailed_performance"].is_array()) {
    std::size_t number = 0;
    for (const nlohmann::json& profile : document["detailed_performance"]) {
      ++number;
      read_profile(profile, fmt::format("layers, inference {}", number), content, damaged);
    }
  }
  lost(content, damaged);
  return content;
}

class Counters final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{.id = "openvino-counters",
                               .title = "OpenVINO benchmark_app counters, CSV or JSON",
                               .content = "layers with their type, implementation, precision and times",
                               .basis =
                                   "files of the tool of OpenVINO 2026.4 in Python; what the C++ tool writes "
                                   "otherwise from its source"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    const auto has = [head](std::string_view text) { return head.find(text) != std::string_view::npos; };
    if (trim(head).starts_with("layerName;execStatus;layerType")) return Match::kSurely;
    return has("\"avg_performance\"") || has("\"detailed_performance\"") ? Match::kSurely : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& /*options*/) const override {
    const bool json = trim(source.head()).starts_with('{');
    DEEPGAP_ASSIGN(FileContent content, json ? read_json(source) : read_csv(source));
    if (content.op_tables.empty()) {
      content.diagnostics.push_back(
          diagnose(diagnostics::kNoResults, "", "expected layers with their times, found none"));
    }
    return content;
  }
};

}  // namespace

const Importer& openvino_counters_importer() {
  static const Counters importer;
  return importer;
}

}  // namespace deepgap::trace
