#include "ops/cost.h"

#include <algorithm>
#include <cmath>

#include "ops/count.h"
#include "ops/einsum.h"
#include "ops/operands.h"

namespace deepgap::ops {
namespace {

// The view of one call that the formulas below share.
struct Call {
  const OpSignature& op;
  const OpName& row;
  std::optional<Shape> output;  // of the first output, inferred where it was not recorded

  const Shape* dims(std::size_t i) const {
    return i < op.inputs.size() && op.inputs[i].present && op.inputs[i].dims ? &*op.inputs[i].dims : nullptr;
  }
  Count in_elements(std::size_t i) const {
    return dims(i) != nullptr ? op.inputs[i].elements() : std::nullopt;
  }
  Count out_elements() const { return output ? product(*output) : std::nullopt; }
  bool has(std::size_t i) const { return i < op.inputs.size() && op.inputs[i].present; }
};

// OpenVINO's grouped weights have the group in front: [G, O/G, I/G, k...].
std::size_t group_offset(const Call& call) {
  return call.op.name.starts_with("GroupConvolution") ? 1 : 0;
}

// Each output element is a dot product over the kernel and the channels of its group: n multiplications and n
// - 1 additions, and the bias is the n-th. Layout [O, I/g, k...].
Count convolution(const Call& call) {
  const Operands places = operands_of(call.op, call.row);
  const Shape* w = call.dims(places.b);
  const std::size_t offset = group_offset(call);
  if (w == nullptr || w->size() < 3 + offset) return std::nullopt;
  return product({Count{2}, call.out_elements(), product(std::span(*w).subspan(1 + offset))});
}

// Each input element is scattered to the kernel and the output channels of its group. Layout [I, O/g, k...].
Count transposed_convolution(const Call& call) {
  const Shape* w = call.dims(1);
  const std::size_t offset = group_offset(call);
  if (w == nullptr || w->size() < 3 + offset) return std::nullopt;
  return product({Count{2}, call.in_elements(0), product(std::span(*w).subspan(1 + offset))});
}

// Any matrix product: 2 for each output element and each element of the dimension summed over.
Count matrix_product(const Call& call) {
  const Operands places = operands_of(call.op, call.row);
  const Shape* a = call.dims(places.a);
  if (a == nullptr || a->empty()) return std::nullopt;
  const bool transposed = call.op.integer({"transA", "transpose_a"}, 0) != 0 && a->size() > 1;
  const std::int64_t inner = transposed ? (*a)[a->size() - 2] : a->back();
  return product({Count{2}, call.out_elements(), Count{inner}});
}

// 2 L S E for Q K^T, 2 L S Ev for the product with V, a softmax over S between them, in each head. Masks
// (causal ones too) are not taken off, as in torch.utils.flop_counter: the shapes decide. ONNX gives [batch,
// length, heads x size] where the rank is 3.
Count attention(const Call& call) {
  const Shape* q = call.dims(0);
  const Shape* k = call.dims(1);
  const Shape* v = call.dims(2);
  if (q == nullptr || k == nullptr || v == nullptr || q->size() != k->size() || q->size() != v->size())
    return {};
  Count heads, queries, keys, size, value_size;
  if (q->size() == 4) {
    heads = (*q)[1];
    queries = (*q)[2];
    keys = (*k)[2];
    size = (*q)[3];
    value_size = (*v)[3];
  } else if (q->size() == 3 && call.op.integers.contains("q_num_heads")) {
    const std::int64_t q_heads = call.op.integer({"q_num_heads"}, 0);
    const std::int64_t kv_heads = call.op.integer({"kv_num_heads"}, 0);
    if (q_heads < 1 || kv_heads < 1) return std::nullopt;
    heads = q_heads;
    queries = (*q)[1];
    keys = (*k)[1];
    size = (*q)[2] / q_heads;
    value_size = (*v)[2] / kv_heads;
  } else if (q->size() == 3) {  // torch without a head dimension
    heads = 1;
    queries = (*q)[1];
    keys = (*k)[1];
    size = (*q)[2];
    value_size = (*v)[2];
  } else {
    return std::nullopt;
  }
  // ONNX: keys of earlier steps are put in front.
  if (call.op.front_end == FrontEnd::kOnnx && call.has(4)) {
    const Shape* past = call.dims(4);
    if (past == nullptr || past->size() != 4) return std::nullopt;
    keys = sum({keys, Count{(*past)[2]}});
  }
  constexpr int kSoftmaxAndScale = 15 + kSimpleFlops;
  const Count per_score =
      sum({product({Count{2}, size}), product({Count{2}, value_size}), Count{kSoftmaxAndScale}});
  return product({Count{(*q)[0]}, heads, queries, keys, per_score});
}

// ONNX: X [time, batch, input] (or batch first), W [directions, gates H, input], R [directions, gates H, H].
Count recurrent(const Call& call) {
  if (call.op.front_end != FrontEnd::kOnnx) return std::nullopt;
  const Shape* x = call.dims(0);
  const Shape* r = call.dims(2);
  if (x == nullptr || r == nullptr || x->size() != 3 || r->size() != 3) return std::nullopt;
  const std::int64_t hidden = (*r)[2];
  // Gate arithmetic a hidden element, besides the products: sigmoid 14, tanh 8, the sums and products of the
  // cell.
  const int gates = call.op.name == "LSTM" ? 4 : call.op.name == "GRU" ? 3 : 1;
  const int cell = gates == 4 ? 3 * 14 + 2 * 8 + 4 + 4 : gates == 3 ? 2 * 14 + 8 + 4 + 4 : 8 + 1;
  const Count products =
      product({Count{2}, Count{gates}, Count{hidden}, sum({Count{(*x)[2]}, Count{hidden}})});
  return product({Count{(*x)[0]}, Count{(*x)[1]}, Count{(*r)[0]},
                  sum({products, product({Count{hidden}, Count{cell}})})});
}

// x / (bias + alpha / n sum of n squares) ^ beta: a square and a sum for each neighbour, product, sum, power
// and division.
Count local_normalisation(const Call& call) {
  const Count neighbours{call.op.integer({"size"}, -1)};
  return product(
      {call.in_elements(0), sum({product({Count{2}, neighbours}), Count{1 + 1 + 17 + kDivideFlops}})});
}

bool averages(const OpSignature& op) {
  return op.name.find("Average") != std::string::npos || op.name.find("Avg") != std::string::npos ||
         op.name.find("avg") != std::string::npos;
}

Count pooling(const Call& call) {
  const auto* kernel = call.op.find_integers({"kernel_shape", "kernel_size", "kernel"});
  if (kernel == nullptr) return std::nullopt;
  std::vector<std::int64_t> window = *kernel;
  if (window.size() == 1 && call.op.name.find("2d") != std::string::npos) window.push_back(window.front());
  const Count each = sum(
      {product({product(window), Count{call.row.per_element}}), Count{averages(call.op) ? kDivideFlops : 0}});
  return product({call.out_elements(), each});
}

Count global_pooling(const Call& call) {
  const Count sums = product({call.in_elements(0), Count{call.row.per_element}});
  if (!averages(call.op)) return sums;
  return sum({sums, product({call.out_elements(), Count{kDivideFlops}})});
}

// Interpolation over d dimensions from t taps each: t^d multiply-adds an output element.
Count taps(std::string_view mode, std::int64_t d) {
  if (d < 0 || d > 4) return std::nullopt;
  if (mode == "nearest" || mode == "nearest-exact") return 0;
  const bool cubic = mode.find("cubic") != std::string_view::npos;
  if (!cubic && mode.find("linear") == std::string_view::npos) return std::nullopt;
  std::int64_t count = 1;
  for (std::int64_t i = 0; i < d; ++i) count *= cubic ? 4 : 2;
  return count;
}

std::string sampling_mode(const Call& call, std::string_view otherwise) {
  if (const auto mode = call.op.texts.find("mode"); mode != call.op.texts.end()) return mode->second;
  if (call.op.front_end == FrontEnd::kAten) {
    // grid_sampler(input, grid, interpolation_mode, ...): 0 bilinear, 1 nearest, 2 bicubic.
    const std::int64_t code = call.op.integer({"interpolation_mode"}, -1);
    if (code >= 0) return code == 0 ? "bilinear" : code == 1 ? "nearest" : "bicubic";
    for (const char* mode : {"nearest", "cubic", "linear"}) {
      if (call.op.name.find(mode) != std::string::npos) return mode;
    }
  }
  return std::string(otherwise);
}

// An output element: its taps. A location, shared by the channels: coordinate (4), floor, fraction,
// complement in each dimension, and the products of the weights.
Count grid_sample(const Call& call) {
  const Shape* x = call.dims(0);
  if (x == nullptr || x->size() < 4 || !call.output || call.output->size() != x->size()) return std::nullopt;
  const auto d = static_cast<std::int64_t>(x->size()) - 2;
  const Count tap = taps(sampling_mode(call, "linear"), d);
  if (!tap) return std::nullopt;
  const Count locations = product({Count{call.output->front()}, product(std::span(*call.output).subspan(2))});
  const Count per_location = *tap == 0 ? Count{5 * d} : Count{7 * d + *tap * (d - 1)};
  return sum({product({Count{2}, tap, call.out_elements()}), product({locations, per_location})});
}

Count resize(const Call& call) {
  const Shape* x = call.dims(0);
  if (x == nullptr || !call.output || call.output->size() != x->size()) return std::nullopt;
  std::int64_t resized = 0;
  for (std::size_t i = 0; i < x->size(); ++i) resized += (*x)[i] != (*call.output)[i] ? 1 : 0;
  const Count tap = taps(sampling_mode(call, "nearest"), resized);
  return resized == 0 ? Count{0} : product({Count{2}, tap, call.out_elements()});
}

Count einsum(const Call& call) {
  const auto equation = call.op.texts.find("equation");
  if (equation == call.op.texts.end()) return std::nullopt;
  const std::optional<Einsum> analysed = analyse_einsum(equation->second, call.op.inputs);
  return analysed ? analysed->flops : std::nullopt;
}

Count flops_of(const Call& call) {
  const Count each{call.row.per_element};
  switch (call.row.rule) {
    case CostRule::kUnknown:
      return std::nullopt;
    case CostRule::kFree:
    case CostRule::kMove:
    case CostRule::kFill:
    case CostRule::kSelect:
    case CostRule::kScatter:
    case CostRule::kCast:
      return 0;
    case CostRule::kElementwise:
      return product({call.out_elements(), each});
    case CostRule::kVariadic: {
      const auto operands = std::count_if(call.op.inputs.begin(), call.op.inputs.end(),
                                          [](const TensorShape& input) { return input.present; });
      return product({call.out_elements(), each, Count{std::max<std::int64_t>(operands - 1, 1)}});
    }
    case CostRule::kReduction:
    case CostRule::kSoftmax:
    case CostRule::kNormalisation:
    case CostRule::kQuantise:
      return product({call.in_elements(0), each});
    case CostRule::kBatchNormalisation:
      return product({call.in_elements(0), Count{2}});  // at inference a factor and an offset a channel
    case CostRule::kLocalNormalisation:
      return local_normalisation(call);
    case CostRule::kConvolution:
      return call.op.integer({"transposed"}, 0) != 0 ? transposed_convolution(call) : convolution(call);
    case CostRule::kConvolutionTransposed:
      return transposed_convolution(call);
    case CostRule::kMatmul:
    case CostRule::kGemm:
    case CostRule::kLinear:
    case CostRule::kAddMatmul:
      return matrix_product(call);
    case CostRule::kEinsum:
      return einsum(call);
    case CostRule::kAttention:
      return attention(call);
    case CostRule::kRecurrent:
      return recurrent(call);
    case CostRule::kPooling:
      return pooling(call);
    case CostRule::kGlobalPooling:
      return global_pooling(call);
    case CostRule::kGridSample:
      return grid_sample(call);
    case CostRule::kResize:
      return resize(call);
  }
  return std::nullopt;
}

Count value_of(const std::optional<Bytes>& bytes) {
  return bytes ? Count{bytes->value} : std::nullopt;
}

std::optional<Bytes> as_bytes(const Count& count) {
  return count ? std::optional(Bytes{*count}) : std::nullopt;
}

// torch's in-place forms: "scatter_", "_index_put_impl_".
bool scatters_in_place(const Call& call) {
  return call.row.rule == CostRule::kScatter && call.op.front_end == FrontEnd::kAten &&
         call.op.name.ends_with('_');
}

// What an in-place scatter puts into its data: the last input of the data's type. Which data that reads,
// where it adds to it, is not told apart: reads are the indices and what is put in.
Count scattered_bytes(const Call& call) {
  for (std::size_t i = call.op.inputs.size(); i-- > 1;) {
    const TensorShape& input = call.op.inputs[i];
    if (input.present && input.dims && input.dtype == call.op.inputs[0].dtype) return value_of(input.bytes());
  }
  return std::nullopt;
}

Count written_bytes(const Call& call) {
  if (scatters_in_place(call)) return scattered_bytes(call);
  if (call.op.outputs.empty()) {
    const DataType type = call.op.inputs.empty() ? DataType::kUnknown : call.op.inputs.front().dtype;
    const Count elements = call.out_elements();
    return elements ? value_of(bytes_of(type, *elements)) : std::nullopt;
  }
  Count total = 0;
  for (const TensorShape& output : call.op.outputs) {
    if (output.present) total = sum({total, value_of(output.bytes())});
  }
  return total;
}

}  // namespace

Cost cost_of(const OpSignature& op) {
  const OpName* row = classify(op.front_end, op.name);
  if (row == nullptr) return {};
  if (row->rule == CostRule::kFree) return {Flops{0}, Bytes{0}, Bytes{0}, Bytes{0}};
  const Call call{op, *row, output_shape(op)};

  Cost cost;
  if (const Count flops = flops_of(call)) cost.flops = Flops{*flops};
  const Count written = written_bytes(call);
  cost.written = as_bytes(written);

  Count read = 0;
  Count weights = 0;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorShape& input = op.inputs[i];
    if (!input.present || row->rule == CostRule::kFill) continue;
    if (i == 0 && scatters_in_place(call)) continue;
    // A selection touches as much of its data as it gives out.
    const Count bytes = row->rule == CostRule::kSelect && i == 0 ? written : value_of(input.bytes());
    read = sum({read, bytes});
    if (input.constant) weights = sum({weights, bytes});
  }
  cost.read = as_bytes(read);
  cost.weights = as_bytes(weights);
  return cost;
}

std::optional<OpClass> class_of(const OpSignature& op) {
  const OpName* row = classify(op.front_end, op.name);
  if (row == nullptr) return std::nullopt;
  if (row->rule == CostRule::kConvolution) {
    const Operands places = operands_of(op, *row);
    const Shape* w =
        places.b < op.inputs.size() && op.inputs[places.b].dims ? &*op.inputs[places.b].dims : nullptr;
    const bool leading_group = op.name.starts_with("GroupConvolution");
    const std::int64_t groups =
        leading_group && w != nullptr && !w->empty() ? w->front() : op.integer({"group", "groups"}, 1);
    const std::size_t channel = leading_group ? 2 : 1;
    if (op.name.find("depthwise") != std::string::npos) return OpClass::kDepthwiseConvolution;
    if (groups > 1 && w != nullptr && w->size() > channel && (*w)[channel] == 1)
      return OpClass::kDepthwiseConvolution;
  }
  if (row->rule == CostRule::kEinsum) {
    const auto equation = op.texts.find("equation");
    const auto analysed =
        equation != op.texts.end() ? analyse_einsum(equation->second, op.inputs) : std::nullopt;
    if (analysed && !analysed->contracts)
      return op.inputs.size() > 1 ? OpClass::kElementwise : OpClass::kLayout;
  }
  return row->op_class;
}

}  // namespace deepgap::ops
