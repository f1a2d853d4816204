#include "trace/op_signature.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <unordered_map>

#include "ops/cost.h"

namespace deepgap::trace {
namespace {

using nlohmann::json;

// Where an attribute stands among the arguments of an op.
struct Argument {
  std::string_view name;
  std::size_t place;
};

// Of the ops by name without "aten::" and the underscore of an in-place form. The places are those of torch's
// native_functions.yaml of 1.12. Ops that the project's traces of 2.11 have stand there alike; the others
// were not looked up in later versions.
using Signatures = std::unordered_map<std::string_view, std::vector<Argument>>;

const Signatures& signatures() {
  static const std::vector<Argument> window = {{"stride", 3}, {"padding", 4}, {"dilation", 5}, {"groups", 6}};
  static const std::vector<Argument> general = {{"stride", 3},     {"padding", 4},        {"dilation", 5},
                                                {"transposed", 6}, {"output_padding", 7}, {"groups", 8}};
  static const std::vector<Argument> transposed = {
      {"stride", 3}, {"padding", 4}, {"output_padding", 5}, {"groups", 6}, {"dilation", 7}};
  static const std::vector<Argument> biased = {{"padding", 3}, {"stride", 4}, {"dilation", 5}, {"groups", 6}};
  static const std::vector<Argument> slow = {{"stride", 4}, {"padding", 5}};
  static const std::vector<Argument> depthwise = {{"stride", 4}, {"padding", 5}, {"dilation", 6}};
  static const std::vector<Argument> max_pool = {
      {"kernel_size", 1}, {"stride", 2}, {"padding", 3}, {"dilation", 4}, {"ceil_mode", 5}};
  static const std::vector<Argument> average_pool = {
      {"kernel_size", 1}, {"stride", 2}, {"padding", 3}, {"ceil_mode", 4}};
  static const std::vector<Argument> output_size = {{"output_size", 1}};
  static const std::vector<Argument> reduction = {{"dim", 1}, {"keepdim", 2}};
  static const std::vector<Argument> dim = {{"dim", 1}};
  static const std::vector<Argument> size = {{"size", 0}};
  static const std::vector<Argument> mode = {{"interpolation_mode", 2}};
  static const Signatures all = {
      {"_conv_depthwise2d", depthwise},
      {"_scaled_mm", {{"out_dtype", 6}}},
      {"_convolution", general},
      {"_slow_conv2d_forward", slow},
      {"_upsample_bicubic2d_aa", output_size},
      {"_upsample_bilinear2d_aa", output_size},
      {"_upsample_nearest_exact2d", output_size},
      {"adaptive_avg_pool1d", output_size},
      {"adaptive_avg_pool2d", output_size},
      {"adaptive_avg_pool3d", output_size},
      {"adaptive_max_pool2d", output_size},
      {"all", reduction},
      {"amax", reduction},
      {"amin", reduction},
      {"any", reduction},
      {"argmax", reduction},
      {"argmin", reduction},
      {"avg_pool1d", average_pool},
      {"avg_pool2d", average_pool},
      {"avg_pool3d", average_pool},
      {"cat", dim},
      {"concat", dim},
      {"constant_pad_nd", {{"pad", 1}}},
      {"conv1d", window},
      {"conv2d", window},
      {"conv3d", window},
      {"conv_depthwise3d", depthwise},
      {"conv_transpose1d", transposed},
      {"conv_transpose2d", transposed},
      {"conv_transpose3d", transposed},
      {"convolution", general},
      {"convolution_overrideable", general},
      {"cudnn_convolution", {{"padding", 2}, {"stride", 3}, {"dilation", 4}, {"groups", 5}}},
      {"cudnn_convolution_add_relu", {{"stride", 5}, {"padding", 6}, {"dilation", 7}, {"groups", 8}}},
      {"cudnn_convolution_relu", window},
      {"empty", size},
      {"full", size},
      {"grid_sampler", mode},
      {"grid_sampler_2d", mode},
      {"grid_sampler_3d", mode},
      {"index_select", dim},
      {"linalg_vector_norm", {{"dim", 2}, {"keepdim", 3}}},
      {"logsumexp", reduction},
      {"max_pool1d", max_pool},
      {"max_pool2d", max_pool},
      {"max_pool2d_with_indices", max_pool},
      {"max_pool3d", max_pool},
      {"max_pool3d_with_indices", max_pool},
      {"mean", reduction},
      {"miopen_convolution", biased},
      {"miopen_depthwise_convolution", biased},
      {"mkldnn_convolution", biased},
      {"mkldnn_max_pool2d", max_pool},
      {"norm", {{"dim", 2}, {"keepdim", 3}}},
      {"ones", size},
      {"pad", {{"pad", 1}}},
      {"rand", size},
      {"randn", size},
      {"reflection_pad1d", {{"pad", 1}}},
      {"reflection_pad2d", {{"pad", 1}}},
      {"repeat", {{"repeats", 1}}},
      {"replication_pad2d", {{"pad", 1}}},
      {"slow_conv3d", slow},
      {"slow_conv_dilated2d", depthwise},
      {"stack", dim},
      {"sum", reduction},
      {"thnn_conv2d", slow},
      {"upsample_bicubic2d", output_size},
      {"upsample_bilinear2d", output_size},
      {"upsample_linear1d", output_size},
      {"upsample_nearest1d", output_size},
      {"upsample_nearest2d", output_size},
      {"upsample_nearest3d", output_size},
      {"upsample_trilinear3d", output_size},
      {"zeros", size},
  };
  return all;
}

std::span<const Argument> arguments_of(std::string_view name) {
  const auto found = signatures().find(name);
  if (found == signatures().end()) return {};
  return found->second;
}

// Real ones are short and three deep; others are not looked into.
json parsed(std::string_view text) {
  constexpr std::size_t kLongest = 1 << 20;
  constexpr int kDeepest = 8;
  if (text.empty() || text.size() > kLongest) return {};
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth > kDeepest) return {};
  }
  json value = json::parse(text, nullptr, false);
  // Some writers put the list into a text.
  if (value.is_string()) value = json::parse(value.get<std::string>(), nullptr, false);
  return value.is_array() ? value : json();
}

std::optional<ops::Shape> shape_of(const json& dims) {
  ops::Shape shape;
  for (const json& each : dims) {
    if (!each.is_number_integer()) return std::nullopt;
    shape.push_back(each.get<std::int64_t>());
  }
  return shape;
}

// Traces of torch 1.8 to 1.10 spell numbers with a capital.
bool is_tensor(std::string_view type) {
  constexpr std::string_view kOthers[] = {"",       "Scalar", "ScalarList", "TensorList", "GenericList",
                                          "Device", "str",    "Int",        "Double",     "Bool",
                                          "__int64"};
  return std::find(std::begin(kOthers), std::end(kOthers), type) == std::end(kOthers);
}

// Each argument: the tensors in it, none where it is none.
using Inputs = std::vector<std::vector<ops::TensorShape>>;

Inputs inputs_of(std::string_view shapes_text, std::string_view dtypes_text) {
  const json shapes = parsed(shapes_text);
  const json dtypes = parsed(dtypes_text);
  Inputs inputs(std::max(shapes.size(), dtypes.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string type =
        i < dtypes.size() && dtypes[i].is_string() ? dtypes[i].get<std::string>() : std::string();
    const json dims = i < shapes.size() ? shapes[i] : json();
    const bool list = dims.is_array() && !dims.empty() && dims.front().is_array();
    // A trace with shapes alone: what has dimensions is a tensor.
    if (!list && !is_tensor(type) && !(dtypes.empty() && dims.is_array() && !dims.empty())) continue;
    const auto add = [&](const json& each) {
      ops::TensorShape tensor;
      tensor.dtype = ops::parse_data_type(type);
      if (each.is_array()) tensor.dims = shape_of(each);
      inputs[i].push_back(std::move(tensor));
    };
    if (list) {
      for (const json& each : dims) add(each);
    } else {
      add(dims);
    }
  }
  return inputs;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  if (text == "True") return 1;
  if (text == "False") return 0;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "[2, 2]", "1", "False".
std::optional<std::vector<std::int64_t>> integers_of(std::string_view text) {
  if (!text.starts_with('[')) {
    const std::optional<std::int64_t> number = number_of(text);
    return number ? std::optional(std::vector<std::int64_t>{*number}) : std::nullopt;
  }
  const json list = parsed(text);
  return list.is_array() ? shape_of(list) : std::nullopt;
}

// c10::ScalarType by its number.
ops::DataType scalar_type(std::int64_t code) {
  using D = ops::DataType;
  constexpr D kTypes[] = {D::kUInt8,   D::kInt8,    D::kInt16,   D::kInt32,     D::kInt64,      D::kFloat16,
                          D::kFloat32, D::kFloat64, D::kUnknown, D::kComplex64, D::kComplex128, D::kBool,
                          D::kUnknown, D::kUnknown, D::kUnknown, D::kBFloat16};
  return code >= 0 && code < static_cast<std::int64_t>(std::size(kTypes)) ? kTypes[code] : D::kUnknown;
}

bool is_convolution(const ops::OpSignature& op) {
  const ops::OpName* row = ops::classify(op.front_end, op.name);
  return row != nullptr &&
         (row->rule == ops::CostRule::kConvolution || row->rule == ops::CostRule::kConvolutionTransposed);
}

// Padding "same": the stride is 1 and the size stays.
std::optional<ops::Shape> same_size(const ops::OpSignature& op) {
  if (op.inputs.size() < 2 || !op.inputs[0].dims || !op.inputs[1].dims) return std::nullopt;
  ops::Shape shape = *op.inputs[0].dims;
  if (shape.size() < 3 || op.inputs[1].dims->empty()) return std::nullopt;
  shape[1] = op.inputs[1].dims->front();
  return shape;
}

void add_arguments(ops::OpSignature& op, std::string_view values_text) {
  const std::string_view name = ops::aten_base_name(op.name);
  const std::span<const Argument> arguments = arguments_of(name);
  const bool casts = name == "to" || name == "_to_copy" || name == "zeros" || name == "ones";
  const json values = arguments.empty() && !casts ? json() : parsed(values_text);
  const auto value = [&values](std::size_t place) {
    return place < values.size() && values[place].is_string() ? values[place].get<std::string>()
                                                              : std::string();
  };
  bool all = true;
  for (const Argument& argument : arguments) {
    const std::string text = value(argument.place);
    if (const auto integers = integers_of(text)) {
      op.integers[std::string(argument.name)] = *integers;
    } else if (argument.name == "padding" && text == "same") {
      op.outputs = {
          {.dtype = op.inputs.empty() ? ops::DataType::kUnknown : op.inputs[0].dtype, .dims = same_size(op)}};
    } else {
      all = all && text == "valid";
    }
  }
  // Products of 8-bit numbers are made for another type: FP8's is an argument or follows from the version.
  if (op.outputs.empty() && (name == "_scaled_mm" || name == "_int_mm")) {
    const ops::DataType type =
        name == "_int_mm" ? ops::DataType::kInt32 : scalar_type(op.integer({"out_dtype"}, -1));
    op.outputs = {{.dtype = type, .dims = ops::output_shape(op)}};
  }
  // Without its strides the output of a convolution is not known, and with it nothing is.
  if (!all && op.outputs.empty() && is_convolution(op)) op.outputs = {ops::TensorShape{}};
  if (casts) {
    // Of the overloads the one that has a number there.
    for (const std::size_t place : {std::size_t{1}, std::size_t{2}}) {
      const std::optional<std::int64_t> code = number_of(value(place));
      if (!code || value(place).size() > 2) continue;
      std::optional<ops::Shape> dims;
      if (const auto* size = op.find_integers({"size"})) dims = *size;
      if (!op.inputs.empty()) dims = op.inputs[0].dims;
      op.outputs = {{.dtype = scalar_type(*code), .dims = std::move(dims)}};
      break;
    }
  }
}

// A product that was told where to put its result has it behind its operands, as compilers call them.
void take_output(ops::OpSignature& op) {
  const ops::OpName* row = ops::classify(op.front_end, op.name);
  if (row == nullptr || (row->rule != ops::CostRule::kMatmul && row->rule != ops::CostRule::kAddMatmul))
    return;
  if (ops::aten_base_name(op.name) == "_scaled_mm") return;  // its scales stand there
  std::size_t operands = row->rule == ops::CostRule::kMatmul ? 2 : 3;
  for (std::size_t i = operands; i < op.inputs.size(); ++i) {
    if (!op.inputs[i].present) continue;
    op.outputs = {op.inputs[i]};
    op.inputs.resize(operands);
    return;
  }
}

// Of names without a namespace, which PyTorch's ops have.
ops::FrontEnd front_end_of(std::string_view name) {
  for (const ops::FrontEnd each : {ops::FrontEnd::kOnnx, ops::FrontEnd::kOpenVino}) {
    if (name.find("::") == std::string_view::npos && ops::classify(each, name) != nullptr) return each;
  }
  return ops::FrontEnd::kAten;
}

}  // namespace

TensorInputs tensor_inputs(std::string_view shapes, std::string_view dtypes) {
  TensorInputs found;
  bool all = true;
  for (const std::vector<ops::TensorShape>& argument : inputs_of(shapes, dtypes)) {
    for (const ops::TensorShape& tensor : argument) {
      all = all && tensor.dims.has_value();
      found.shapes.push_back(tensor.dims.value_or(ops::Shape()));
      found.dtypes.emplace_back(ops::name_of(tensor.dtype));
    }
  }
  if (!all) found.shapes.clear();
  return found;
}

TensorInputs tensor_inputs(const Timeline& timeline, const Event& op) {
  if (op.role != Role::kOp || op.detail == kNoDetail) return {};
  const OpDetail& detail = timeline.ops[op.detail];
  return tensor_inputs(timeline.texts[detail.shapes], timeline.texts[detail.dtypes]);
}

ops::OpSignature signature_of(std::string_view name, std::string_view shapes, std::string_view dtypes,
                              std::string_view values) {
  ops::OpSignature op;
  op.front_end = front_end_of(name);
  op.name = name;
  Inputs inputs = inputs_of(shapes, dtypes);
  // Each argument keeps its place, and those of a list take as many as there are.
  for (std::vector<ops::TensorShape>& argument : inputs) {
    if (argument.empty()) {
      ops::TensorShape none;
      none.present = false;
      op.inputs.push_back(none);
    }
    std::move(argument.begin(), argument.end(), std::back_inserter(op.inputs));
  }
  // What a copy goes to is no input of it.
  if (ops::aten_base_name(name) == "copy" && op.inputs.size() > 1) {
    op.outputs = {op.inputs[0]};
    op.inputs = {op.inputs[1]};
  }
  take_output(op);
  add_arguments(op, values);
  return op;
}

ops::OpSignature signature_of(const Timeline& timeline, const Event& op) {
  if (op.role != Role::kOp || op.detail == kNoDetail) {
    return signature_of(timeline.texts[op.name], {}, {}, {});
  }
  const OpDetail& detail = timeline.ops[op.detail];
  return signature_of(timeline.texts[op.name], timeline.texts[detail.shapes], timeline.texts[detail.dtypes],
                      timeline.texts[detail.values]);
}

}  // namespace deepgap::trace
