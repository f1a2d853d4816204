// Output shapes that a record lacks, from inputs and attributes: traces give inputs only.
#include <algorithm>

#include "ops/cost.h"
#include "ops/einsum.h"
#include "ops/operands.h"
#include "ops/shape_aten.h"

namespace deepgap::ops {
namespace {

// numpy's rule, aligned at the right.
std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) return std::nullopt;
    result[result.size() - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

std::optional<Shape> broadcast_of_inputs(const OpSignature& op) {
  std::optional<Shape> result;
  for (const TensorShape& input : op.inputs) {
    if (!input.present) continue;
    if (!input.dims) return std::nullopt;
    result = result ? broadcast(*result, *input.dims) : input.dims;
    if (!result) return std::nullopt;
  }
  return result;
}

std::optional<Shape> product_shape(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const auto batch_of = [](const Shape& dims) {
    return dims.size() > 2 ? Shape(dims.begin(), dims.end() - 2) : Shape();
  };
  std::optional<Shape> result = broadcast(batch_of(a), batch_of(b));
  if (!result) return std::nullopt;
  if (a.size() > 1) result->push_back(a[a.size() - 2]);
  if (b.size() > 1) result->push_back(b.back());
  return result;
}

// Of a sliding window; `kernel` has the spatial dimensions.
std::optional<Shape> windowed(const OpSignature& op, const Shape& input, std::int64_t channels,
                              std::span<const std::int64_t> kernel) {
  if (input.size() != kernel.size() + 2) return std::nullopt;
  const auto at = [](const std::vector<std::int64_t>* values, std::size_t i, std::int64_t otherwise) {
    if (values == nullptr || values->empty()) return otherwise;
    return values->size() == 1 ? values->front() : i < values->size() ? (*values)[i] : otherwise;
  };
  const auto* strides = op.find_integers({"strides", "stride"});
  const auto* dilations = op.find_integers({"dilations", "dilation"});
  const auto* onnx_pads = op.find_integers({"pads"});
  const auto* padding = op.find_integers({"padding"});
  // torch's pooling: an empty stride is the kernel.
  const bool pooling = op.integers.contains("kernel_size");
  Shape result = {input[0], channels};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t stride = at(strides, i, pooling ? kernel[i] : 1);
    const std::int64_t dilation = at(dilations, i, 1);
    std::int64_t both = 2 * at(padding, i, 0);
    if (onnx_pads != nullptr && onnx_pads->size() == 2 * kernel.size()) {
      both = (*onnx_pads)[i] + (*onnx_pads)[i + kernel.size()];
    }
    Count extent = sum({Count{input[i + 2]}, Count{both}});
    const Count window = sum({product({Count{dilation}, Count{kernel[i] - 1}}), Count{1}});
    if (stride < 1 || !extent || !window || *window > *extent) return std::nullopt;
    result.push_back((*extent - *window) / stride + 1);
  }
  return result;
}

// Of a transposed convolution: what a convolution with the same window would make the input of.
std::optional<Shape> spread(const OpSignature& op, const Shape& input, const Shape& weight) {
  if (input.size() != weight.size() || weight.size() < 3) return std::nullopt;
  // Without strides nothing is known; a trace may lack them.
  const auto* strides = op.find_integers({"stride"});
  const auto* padding = op.find_integers({"padding"});
  const auto* extra = op.find_integers({"output_padding"});
  const auto* dilations = op.find_integers({"dilation"});
  if (strides == nullptr || padding == nullptr) return std::nullopt;
  const auto at = [](const std::vector<std::int64_t>* values, std::size_t i, std::int64_t otherwise) {
    if (values == nullptr || values->empty()) return otherwise;
    return values->size() == 1 ? values->front() : i < values->size() ? (*values)[i] : otherwise;
  };
  const Count channels = product({Count{weight[1]}, Count{op.integer({"groups"}, 1)}});
  if (!channels) return std::nullopt;
  Shape result = {input[0], *channels};
  for (std::size_t i = 2; i < input.size(); ++i) {
    const Count steps = product({Count{input[i] - 1}, Count{at(strides, i - 2, 1)}});
    const Count window = product({Count{weight[i] - 1}, Count{at(dilations, i - 2, 1)}});
    const Count cut = product({Count{2}, Count{at(padding, i - 2, 0)}});
    const Count whole = sum({steps, window, Count{at(extra, i - 2, 0)}, Count{1}});
    if (!whole || !cut || *cut >= *whole) return std::nullopt;
    result.push_back(*whole - *cut);
  }
  return result;
}

std::optional<Shape> inferred(const OpSignature& op, const OpName& row) {
  const auto dims = [&](std::size_t i) -> const Shape* {
    return i < op.inputs.size() && op.inputs[i].present && op.inputs[i].dims ? &*op.inputs[i].dims : nullptr;
  };
  const Operands places = operands_of(op, row);
  switch (row.rule) {
    case CostRule::kElementwise:
    case CostRule::kVariadic:
      return row.op_class == OpClass::kElementwise || row.op_class == OpClass::kActivation
                 ? broadcast_of_inputs(op)
                 : std::nullopt;
    case CostRule::kSoftmax:
    case CostRule::kNormalisation:
    case CostRule::kBatchNormalisation:
    case CostRule::kCast:
    case CostRule::kQuantise:
      return dims(0) != nullptr ? std::optional(*dims(0)) : std::nullopt;
    case CostRule::kMatmul:
    case CostRule::kAddMatmul: {
      const Shape* a = dims(places.a);
      const Shape* b = dims(places.b);
      if (a == nullptr || b == nullptr) return std::nullopt;
      if (op.integer({"transpose_a"}, 0) != 0 || op.integer({"transpose_b"}, 0) != 0) return std::nullopt;
      return product_shape(*a, *b);
    }
    case CostRule::kGemm: {
      const Shape* a = dims(places.a);
      const Shape* b = dims(places.b);
      if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) return std::nullopt;
      return Shape{(*a)[op.integer({"transA"}, 0) != 0 ? 1 : 0],
                   (*b)[op.integer({"transB"}, 0) != 0 ? 0 : 1]};
    }
    case CostRule::kLinear: {
      const Shape* a = dims(places.a);
      const Shape* b = dims(places.b);
      if (a == nullptr || b == nullptr || a->empty() || b->size() != 2) return std::nullopt;
      Shape result = *a;
      result.back() = b->front();
      return result;
    }
    case CostRule::kEinsum: {
      const auto equation = op.texts.find("equation");
      if (equation == op.texts.end()) return std::nullopt;
      const std::optional<Einsum> einsum = analyse_einsum(equation->second, op.inputs);
      return einsum ? std::optional(einsum->output) : std::nullopt;
    }
    case CostRule::kConvolution: {
      const Shape* x = dims(places.a);
      const Shape* w = dims(places.b);
      if (x == nullptr || w == nullptr || w->size() != x->size() || w->size() < 3) return std::nullopt;
      if (op.integer({"transposed"}, 0) != 0) return spread(op, *x, *w);
      return windowed(op, *x, w->front(), std::span(*w).subspan(2));
    }
    case CostRule::kConvolutionTransposed:
      if (dims(places.a) == nullptr || dims(places.b) == nullptr) return std::nullopt;
      return op.front_end == FrontEnd::kAten ? spread(op, *dims(places.a), *dims(places.b)) : std::nullopt;
    case CostRule::kPooling: {
      const Shape* x = dims(0);
      const auto* kernel = op.find_integers({"kernel_shape", "kernel_size", "kernel"});
      if (x == nullptr || kernel == nullptr || x->size() < 2 || op.integer({"ceil_mode"}, 0) != 0)
        return std::nullopt;
      return windowed(op, *x, (*x)[1], *kernel);
    }
    case CostRule::kAttention: {
      const Shape* q = dims(0);
      const Shape* v = dims(2);
      if (q == nullptr || v == nullptr || q->size() != 4 || v->size() != 4) return std::nullopt;
      return Shape{(*q)[0], (*q)[1], (*q)[2], (*v)[3]};
    }
    case CostRule::kGridSample: {
      const Shape* x = dims(0);
      const Shape* grid = dims(1);
      if (x == nullptr || grid == nullptr || x->size() < 3 || grid->size() != x->size()) return std::nullopt;
      Shape result = {(*x)[0], (*x)[1]};
      result.insert(result.end(), grid->begin() + 1, grid->end() - 1);
      return result;
    }
    default:
      return op.front_end == FrontEnd::kAten ? aten_output(op, row.rule) : std::nullopt;
  }
}

}  // namespace

std::optional<Shape> output_shape(const OpSignature& op) {
  if (!op.outputs.empty()) return op.outputs.front().dims;
  const OpName* row = classify(op.front_end, op.name);
  return row != nullptr ? inferred(op, *row) : std::nullopt;
}

}  // namespace deepgap::ops
