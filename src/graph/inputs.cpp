#include "graph/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "graph/dims_plan.h"

namespace deepgap::graph {
namespace {

constexpr std::array<std::string_view, 5> kKindNames = {"normal", "uniform", "integers", "bits", "ones"};

// Operators that hand indices on as they are.
bool passes_values(const std::string& op_type) {
  static const std::set<std::string> kPassing = {"Cast",    "Identity",  "Reshape",   "Flatten",
                                                 "Squeeze", "Unsqueeze", "Transpose", "Slice",
                                                 "Split",   "Expand",    "Tile",      "Concat"};
  return kPassing.contains(op_type);
}

// Names of the values that carry an input's numbers unchanged, the input included.
std::set<std::string> carriers_of(const GraphView& view, const std::string& input) {
  std::set<std::string> carriers = {input};
  for (const GraphNode& node : view.nodes) {  // in the order of execution: one pass is enough
    if (!passes_values(node.op_type) || node.inputs.empty()) continue;
    // Of all but Concat only the first operand is data.
    const std::size_t operands = node.op_type == "Concat" ? node.inputs.size() : 1;
    const bool carries =
        std::any_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(operands),
                    [&](const std::string& name) { return carriers.contains(name); });
    if (carries) carriers.insert(node.outputs.begin(), node.outputs.end());
  }
  return carriers;
}

struct Table {
  std::int64_t rows = 0;
  std::string node;
};

std::optional<Table> smallest_table(const GraphView& view, const std::set<std::string>& carriers) {
  std::optional<Table> smallest;
  for (const GraphNode& node : view.nodes) {
    const bool gathers = node.op_type == "Gather" || node.op_type == "GatherElements";
    if (!gathers || node.inputs.size() < 2 || !carriers.contains(node.inputs[1])) continue;
    const GraphTensor* data = view.find(node.inputs[0]);
    if (data == nullptr || !data->dims || data->dims->empty()) continue;
    const auto found = node.integers.find("axis");
    std::int64_t axis = found != node.integers.end() && found->second.size() == 1 ? found->second.front() : 0;
    const auto rank = static_cast<std::int64_t>(data->dims->size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) continue;
    const std::optional<std::int64_t> rows = (*data->dims)[static_cast<std::size_t>(axis)].size;
    if (rows && *rows > 0 && (!smallest || *rows < smallest->rows)) smallest = Table{*rows, node.name};
  }
  return smallest;
}

bool is_grid(const GraphView& view, const std::string& input) {
  return std::any_of(view.nodes.begin(), view.nodes.end(), [&](const GraphNode& node) {
    return node.op_type == "GridSample" && node.inputs.size() > 1 && node.inputs[1] == input;
  });
}

Result<InputSpec> spec_of(const GraphView& view, const TensorInfo& input, std::vector<std::int64_t> shape) {
  InputSpec spec;
  spec.name = input.name;
  spec.dtype = input.dtype;
  spec.shape = std::move(shape);
  const bool mask = lower(input.name).find("mask") != std::string::npos;
  const bool integer = ops::is_integer(input.dtype);
  if (integer) {
    if (const std::optional<Table> table = smallest_table(view, carriers_of(view, input.name))) {
      spec.kind = InputKind::kIntegers;
      spec.upper = static_cast<double>(table->rows - 1);
      spec.reason = fmt::format("indexes the {} rows of node '{}'", table->rows, printable(table->node, 80));
      return spec;
    }
  }
  if (mask) {
    spec.kind = InputKind::kOnes;
    spec.reason = "a mask: everything counts";
  } else if (integer && ops::bits_of(input.dtype) == 8) {
    const bool is_signed = input.dtype == ops::DataType::kInt8;
    spec.kind = InputKind::kIntegers;
    spec.lower = is_signed ? -128 : 0;
    spec.upper = is_signed ? 127 : 255;
    spec.reason = "8 bits: pixels or quantised numbers, all of them";
  } else if (integer) {
    spec.kind = InputKind::kIntegers;
    spec.reason = "no table tells its range: 0 and 1 are valid for flags and types";
  } else if (input.dtype == ops::DataType::kBool) {
    spec.kind = InputKind::kBits;
    spec.reason = "bool";
  } else if (is_grid(view, input.name)) {
    spec.kind = InputKind::kUniform;
    spec.lower = -1;
    spec.reason = "the grid of a GridSample";
  } else if (ops::is_floating(input.dtype)) {
    spec.reason = "floating";
  } else {
    return bad_input(fmt::format(
        "input '{}' was expected to hold numbers, found type {}, which deepgap cannot make: export "
        "the model with numbers as its inputs",
        printable(input.name, 60), ops::name_of(input.dtype)));
  }
  return spec;
}

// What no size makes measurable.
Result<void> check_measurable(const GraphView& view) {
  if (view.outputs.empty()) {
    return bad_input(
        "expected a model with an output, found none: there is nothing that an engine would have to compute; "
        "export it with its outputs");
  }
  for (const TensorInfo& input : view.inputs) {
    if (!input.dims || std::find(input.dims->begin(), input.dims->end(), fixed(0)) == input.dims->end())
      continue;
    return bad_input(fmt::format(
        "expected inputs with elements, found '{}', one of whose dimensions is 0: export the model "
        "with that dimension open, or with a size of 1 or more",
        printable(input.describe())));
  }
  return {};
}

// Whether it is the model's own dimensions that are too large, whatever sizes the open ones get.
bool is_too_large_by_itself(const TensorInfo& input) {
  std::vector<std::int64_t> sizes;
  for (const Dim& dim : *input.dims) {
    if (dim.size) sizes.push_back(*dim.size);
  }
  return !ops::tensor(input.dtype, sizes).bytes();
}

// Tensors between the inputs and the outputs.
Result<void> check_addressable(const GraphView& view, bool sizes_given) {
  for (const auto& [name, tensor] : view.tensors) {
    if (!tensor.shape() || !ops::bits_of(tensor.dtype) || tensor.described().bytes()) continue;
    const std::string found =
        fmt::format("expected tensors that can be addressed, found '{}', whose size no machine can address",
                    printable(TensorInfo{name, tensor.dtype, tensor.dims}.describe(), 200));
    if (sizes_given) return usage_error(found + ": give smaller --dim sizes");
    return bad_input(found + ": check the model");
  }
  return {};
}

}  // namespace

std::string_view name_of(InputKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<InputKind> parse_input_kind(std::string_view name) {
  const auto* found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<InputKind>(found - kKindNames.begin());
}

std::optional<Bytes> InputSpec::bytes() const {
  return ops::tensor(dtype, shape).bytes();
}

Result<std::vector<InputSpec>> input_specs(const Model& model, const Dims& dims, std::int64_t batch) {
  const GraphView unbound = view_of(model);
  DEEPGAP_RETURN_IF_ERROR(check_measurable(unbound));
  DEEPGAP_ASSIGN(const GraphView view, bound_view(model, dims, batch));
  std::vector<InputSpec> specs;
  for (const TensorInfo& input : view.inputs) {
    std::vector<std::int64_t> shape;
    for (const Dim& dim : *input.dims) shape.push_back(dim.size.value_or(0));
    DEEPGAP_ASSIGN(InputSpec spec, spec_of(view, input, std::move(shape)));
    if (!spec.bytes()) {
      const TensorInfo& written = unbound.inputs[specs.size()];
      if (is_too_large_by_itself(written)) {
        return bad_input(
            fmt::format("expected inputs that can be addressed, found '{}', whose size no machine can "
                        "address: export the model with smaller ones",
                        printable(written.describe(), 200)));
      }
      return usage_error(
          fmt::format("input '{}' is larger than can be addressed: give a smaller batch or smaller --dim "
                      "sizes",
                      printable(input.name, 60)));
    }
    specs.push_back(std::move(spec));
  }
  DEEPGAP_RETURN_IF_ERROR(check_addressable(view, !dims.empty()));
  return specs;
}

}  // namespace deepgap::graph
