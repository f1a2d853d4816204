// What kind of work an operator is, whichever front end named it: the word that joins an ONNX node, an ATen
// call and an engine's layer.
//
//   classify(FrontEnd::kOnnx, "Conv")->op_class           -> OpClass::kConvolution
//   classify(FrontEnd::kAten, "aten::addmm")->op_class    -> OpClass::kMatmul
//   classify(FrontEnd::kOpenVino, "FullyConnected")       -> OpClass::kMatmul
//
// The names stand in sorted tables (names.h). Names of device kernels are another matter: they are
// parsed by patterns that will stand in data/ and give the same classes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace deepgap::ops {

enum class OpClass {
  kConvolution,           // also transposed and grouped
  kDepthwiseConvolution,  // one input channel a group: told from kConvolution by shapes, see class_of() in
                          // cost.h
  kMatmul,                // matrix products, fully connected layers, einsum with a contraction
  kAttention,             // fused scaled dot product attention
  kRecurrent,             // LSTM, GRU, RNN
  kNormalisation,         // batch, layer, group, instance, RMS
  kActivation,            // one input, one output of the same shape: ReLU, GELU, Sigmoid, Exp, ...
  kElementwise,           // several inputs: Add, Mul, Where, comparisons
  kSoftmax,
  kReduction,  // sums, means, maxima, arg max, cumulative sums, top-k, sort
  kPooling,
  kEmbedding,  // gather, scatter, one-hot: addressed by indices
  kSampling,   // grid sampling, resize, interpolation, region of interest
  kLayout,     // the same elements in another order: transpose, reorder
  kShapeOnly,  // a view: reshape, squeeze, and what computes shapes; free
  kCast,
  kQuantise,  // quantise and dequantise
  kCopy,      // concat, slice, pad, expand, copies between memories
  kControl,   // If, Loop, Scan, sequences
  kRandom,
  kConstant,  // inputs, constants, fills, ranges
  kOther,     // known, and none of the above (Fourier transforms, non-maximum suppression, strings)
};

// "convolution", "depthwise_convolution", ...: as in JSON and the store.
std::string_view name_of(OpClass op_class);
std::optional<OpClass> parse_op_class(std::string_view name);
std::span<const OpClass> all_op_classes();
// Classes whose work is multiply-adds on matrices (convolution, matmul, attention, recurrent): what tensor
// cores run and what a model's published "GMAC" counts.
bool is_contraction(OpClass op_class);

enum class FrontEnd { kOnnx, kAten, kOpenVino };  // "onnx", "aten", "openvino"
std::string_view name_of(FrontEnd front_end);
inline constexpr FrontEnd kAllFrontEnds[] = {FrontEnd::kOnnx, FrontEnd::kAten, FrontEnd::kOpenVino};

// Which formula of cost.cpp counts an operator's work.
enum class CostRule {
  kUnknown,      // no formula: the cost is not known
  kFree,         // a view or a constant: no arithmetic, no traffic
  kMove,         // reads its inputs, writes its outputs, computes nothing
  kFill,         // writes its outputs only
  kSelect,       // reads as many elements as it writes (gather, slice), besides its indices
  kScatter,      // writes what it puts into its data, and copies that where it is not in place
  kElementwise,  // `per_element` FLOPs for each output element
  kVariadic,     // the same for each input beyond the first
  kReduction,    // `per_element` FLOPs for each input element
  kSoftmax,
  kNormalisation,
  kBatchNormalisation,
  kLocalNormalisation,  // over neighbouring channels (LRN)
  kConvolution,
  kConvolutionTransposed,
  kMatmul,
  kGemm,       // ONNX Gemm: A, B, C with transA, transB
  kLinear,     // x, weight [out, in], bias
  kAddMatmul,  // C, A, B: torch.addmm, baddbmm
  kEinsum,
  kAttention,
  kRecurrent,
  kPooling,
  kGlobalPooling,
  kGridSample,
  kResize,
  kCast,
  kQuantise,
};

// One row of the table.
struct OpName {
  FrontEnd front_end;
  std::string_view
      name;  // ONNX op type, "aten::" and name without overload, OpenVINO layer or operation type
  OpClass op_class;
  CostRule rule;
  int per_element = 0;  // FLOPs an element, as docs/models.md defines them; for the rules that use it
};

// The row of a name, exact in letter case; an ATen name may lack "aten::" and may carry an overload
// (".Tensor") or a trailing underscore of an in-place form. Nothing for a name that the table lacks.
const OpName* classify(FrontEnd front_end, std::string_view name);
// Without namespace, overload and the mark of an in-place form: "aten::index_fill_.int_Scalar" ->
// "index_fill".
std::string_view aten_base_name(std::string_view name);
// All rows of a front end, sorted by name.
std::span<const OpName> op_names(FrontEnd front_end);

}  // namespace deepgap::ops
