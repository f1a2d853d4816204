// Layer information and summaries: one object a file.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "core/setting.h"
#include "ops/kernel_name.h"
#include "ops/op_class.h"
#include "trace/result_cell.h"
#include "trace/small_document.h"
#include "trace/trtexec/trtexec.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kLargestFile = std::size_t{128} << 20;  // a kB a layer

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>(), 1000)
                                                     : std::string();
}

// --- layers

// TensorRT's own words for what a layer computes.
std::string_view op_class_of(std::string_view parameter_type, std::string_view layer_type) {
  struct Known {
    std::string_view type;
    ops::OpClass op_class;
  };
  static constexpr Known kKnown[] = {{"Convolution", ops::OpClass::kConvolution},
                                     {"Deconvolution", ops::OpClass::kConvolution},
                                     {"MatrixMultiply", ops::OpClass::kMatmul},
                                     {"FullyConnected", ops::OpClass::kMatmul},
                                     {"gemm", ops::OpClass::kMatmul},
                                     {"Pooling", ops::OpClass::kPooling},
                                     {"Activation", ops::OpClass::kActivation},
                                     {"ElementWise", ops::OpClass::kElementwise},
                                     {"PointWise", ops::OpClass::kElementwise},
                                     {"PointWiseV2", ops::OpClass::kElementwise},
                                     {"SoftMax", ops::OpClass::kSoftmax},
                                     {"Reduce", ops::OpClass::kReduction},
                                     {"Shuffle", ops::OpClass::kLayout},
                                     {"Reformat", ops::OpClass::kLayout},
                                     {"Concatenation", ops::OpClass::kCopy},
                                     {"Slice", ops::OpClass::kCopy},
                                     {"Resize", ops::OpClass::kSampling},
                                     {"Gather", ops::OpClass::kEmbedding},
                                     {"Constant", ops::OpClass::kConstant},
                                     {"Normalization", ops::OpClass::kNormalisation}};
  for (const std::string_view type : {parameter_type, layer_type}) {
    for (const Known& known : kKnown) {
      if (type == known.type) return ops::name_of(known.op_class);
    }
  }
  return "";
}

// "Channel major FP16 format where channel % 8 == 0", "Row major linear FP32"; of later versions the type
// alone: "Half", "Float", "BFloat16".
std::string type_in(const std::string& format) {
  struct Known {
    std::string_view word;
    std::string_view type;
  };
  static constexpr Known kKnown[] = {
      {"BFloat16", "BF16"}, {"FP32", "FP32"},   {"FP16", "FP16"},   {"BF16", "BF16"}, {"FP8", "FP8"},
      {"Int8", "Int8"},     {"Int32", "Int32"}, {"Int64", "Int64"}, {"Bool", "Bool"}, {"FP4", "FP4"},
      {"Int4", "Int4"},     {"Half", "FP16"},   {"Float", "FP32"}};
  for (const Known& known : kKnown) {
    if (format.find(known.word) != std::string::npos) return std::string(known.type);
  }
  return "unknown";
}

void add_inputs(const Json& layer, OpRecord& record) {
  const auto inputs = layer.find("Inputs");
  if (inputs == layer.end() || !inputs->is_array()) return;
  for (const Json& input : *inputs) {
    if (!input.is_object()) continue;
    std::vector<std::int64_t> shape;
    const auto dimensions = input.find("Dimensions");
    if (dimensions != input.end() && dimensions->is_array()) {
      for (const Json& size : *dimensions) {
        if (size.is_number_integer()) shape.push_back(size.get<std::int64_t>());
      }
    }
    record.shapes.push_back(std::move(shape));
    const std::string type = text_of(input, "Datatype");
    record.dtypes.push_back(type_in(type.empty() ? text_of(input, "Format/Datatype") : type));
  }
}

// Detailed information is an object; without --profilingVerbosity=detailed it is the name alone.
bool add_layer(const Json& layer, OpTable& table) {
  OpTable::Row row;
  if (layer.is_string()) {
    row.record.name = printable(layer.get<std::string>(), 1000);
  } else {
    row.record.name = text_of(layer, "Name");
    row.kind = text_of(layer, "LayerType");
    row.implementation = text_of(layer, "TacticName");
    row.record.op_class = op_class_of(text_of(layer, "ParameterType"), row.kind);
    if (layer.is_object()) add_inputs(layer, row.record);
    if (!row.implementation.empty())
      row.record.precision_path = ops::parse_kernel_name(row.implementation).precision;
    if (const std::string value = text_of(layer, "TacticValue"); !value.empty()) {
      row.figures.push_back({"tactic", value, ""});
    }
  }
  if (row.record.name.empty()) return false;
  table.rows.push_back(std::move(row));
  return true;
}

Result<FileContent> read_layers(ByteSource& source) {
  DEEPGAP_ASSIGN(const Json document, read_small_document(source, kLargestFile));
  FileContent content;
  const Json layers = document.is_object() ? document.value("Layers", Json()) : Json();
  OpTable table{.title = "layers of the engine", .per = OpTable::Per::kInference, .timed = false};
  std::int64_t damaged = 0;
  if (layers.is_array()) {
    for (const Json& layer : layers) damaged += add_layer(layer, table) ? 0 : 1;
  }
  if (damaged > 0) {
    content.diagnostics.push_back(
        diagnose(diagnostics::kEventsLost, "", fmt::format("{} layers have no name", damaged), damaged));
  }
  if (table.rows.empty()) {
    content.diagnostics.push_back(diagnose(diagnostics::kNoResults, "", "expected layers, found none"));
  } else {
    content.op_tables.push_back(std::move(table));
  }
  return content;
}

// --- summaries

std::optional<double> number_of(const Json& object, const char* name) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

// The first size of "input.1=32x3x224x224"
std::optional<std::int64_t> batch_of(const std::string& shape) {
  const std::size_t equals = shape.rfind('=');
  if (equals == std::string::npos) return std::nullopt;
  std::int64_t batch = 0;
  const char* const begin = shape.data() + equals + 1;
  const auto [end, error] = std::from_chars(begin, shape.data() + shape.size(), batch);
  if (error != std::errc{} || end == begin || batch < 1 || batch > kLargestBatch) return std::nullopt;
  return batch;
}

// [least, largest, mean, median, percentile], in ms.
void report_times(ResultCell& cell, const Json& times) {
  static constexpr const char* kMetrics[] = {"minimum", "maximum", "mean", "p50", "p99"};
  if (!times.is_array()) return;
  for (std::size_t i = 0; i < std::min(times.size(), std::size(kMetrics)); ++i) {
    if (!times[i].is_number()) continue;
    const double ms = times[i].get<double>();
    if (ms >= 0 && ms < 1e11) cell.report(kMetrics[i], ms * 1e6, Unit::kNanoseconds);
  }
}

Result<FileContent> read_summary(ByteSource& source, const ImportOptions& options, std::string_view format) {
  DEEPGAP_ASSIGN(const Json document, read_small_document(source, kLargestFile));
  const auto part = [&document](const char* name) {
    return document.is_object() ? document.value(name, Json()) : Json();
  };
  const Json summary = part("performance_summary");
  const Json run = part("inference_options");
  const Json device = part("device_information");
  FileContent content;
  ResultCell cell(source, format, options);
  cell.says_engine("tensorrt");
  cell.says_device("cuda:0", text_of(device, "Selected Device"), DeviceKind::kGpu);
  const auto batch = batch_of(text_of(run, "Input inference shape"));
  if (batch) cell.says_batch(*batch);
  if (summary.is_object() && summary.contains("Latency")) report_times(cell, summary["Latency"]);
  // Queries a second, of a batch each.
  const auto throughput = number_of(summary, "Throughput");
  if (throughput && batch && *throughput > 0 && *throughput < 1e12) {
    cell.report("throughput", *throughput * static_cast<double>(*batch), Unit::kSamplesPerSecond);
  }
  for (const auto& [name, setting] : {std::pair{"Streams", "trtexec.streams"},
                                      {"Data transfers", "trtexec.transfers"},
                                      {"Spin-wait", "trtexec.spin_wait"},
                                      {"CUDA Graph", "trtexec.cuda_graph"},
                                      {"Multithreading", "trtexec.multithreading"}}) {
    if (const std::string value = text_of(run, name); !value.empty()) cell.set(setting, value);
  }
  if (cell.measurement().reported.empty()) {
    content.diagnostics.push_back(
        diagnose(diagnostics::kNoResults, "", "expected latency or throughput, found none"));
    return content;
  }
  content.measurements.push_back(cell.finished());
  return content;
}

class Layers final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "trtexec-layers",
        .title = "TensorRT trtexec --exportLayerInfo",
        .content =
            "layers of the engine with their tactic, precision, inputs; names alone where it is not detailed",
        .basis = "real detailed files; names alone from its source"};
    return format;
  }
  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
    const std::string_view text = trim(head);
    if (!text.starts_with('{')) return Match::kNo;
    const std::string_view start = text.substr(0, 200);
    return start.find("\"Layers\"") != std::string_view::npos ? Match::kSurely : Match::kNo;
  }
  Result<FileContent> import(ByteSource& source, const ImportOptions& /*options*/) const override {
    return read_layers(source);
  }
};

class Summary final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "trtexec-summary",
        .title = "TensorRT Engine Explorer's summary of a trtexec run (profile.metadata.json)",
        .content = "latency, throughput, device, batch, how it was run",
        .basis = "real files"};
    return format;
  }
  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    return trim(head).starts_with('{') && head.find("\"performance_summary\"") != std::string_view::npos
               ? Match::kSurely
               : Match::kNo;
  }
  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    return read_summary(source, options, format().id);
  }
};

}  // namespace

const Importer& trtexec_layers_importer() {
  static const Layers importer;
  return importer;
}

const Importer& trtexec_summary_importer() {
  static const Summary importer;
  return importer;
}

}  // namespace deepgap::trace
