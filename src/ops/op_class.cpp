#include "ops/op_class.h"

#include <algorithm>
#include <array>

namespace deepgap::ops {
namespace {

struct Named {
  OpClass op_class;
  std::string_view name;
};

constexpr std::array kClasses = {
    Named{OpClass::kConvolution, "convolution"},
    Named{OpClass::kDepthwiseConvolution, "depthwise_convolution"},
    Named{OpClass::kMatmul, "matmul"},
    Named{OpClass::kAttention, "attention"},
    Named{OpClass::kRecurrent, "recurrent"},
    Named{OpClass::kNormalisation, "normalisation"},
    Named{OpClass::kActivation, "activation"},
    Named{OpClass::kElementwise, "elementwise"},
    Named{OpClass::kSoftmax, "softmax"},
    Named{OpClass::kReduction, "reduction"},
    Named{OpClass::kPooling, "pooling"},
    Named{OpClass::kEmbedding, "embedding"},
    Named{OpClass::kSampling, "sampling"},
    Named{OpClass::kLayout, "layout"},
    Named{OpClass::kShapeOnly, "shape_only"},
    Named{OpClass::kCast, "cast"},
    Named{OpClass::kQuantise, "quantise"},
    Named{OpClass::kCopy, "copy"},
    Named{OpClass::kControl, "control"},
    Named{OpClass::kRandom, "random"},
    Named{OpClass::kConstant, "constant"},
    Named{OpClass::kOther, "other"},
};

constexpr auto kAllClasses = [] {
  std::array<OpClass, kClasses.size()> all{};
  std::transform(kClasses.begin(), kClasses.end(), all.begin(),
                 [](const Named& row) { return row.op_class; });
  return all;
}();

}  // namespace

std::string_view name_of(OpClass op_class) {
  return kClasses[static_cast<std::size_t>(op_class)].name;
}

std::optional<OpClass> parse_op_class(std::string_view name) {
  for (const Named& row : kClasses) {
    if (row.name == name) return row.op_class;
  }
  return std::nullopt;
}

std::span<const OpClass> all_op_classes() {
  return kAllClasses;
}

bool is_contraction(OpClass op_class) {
  switch (op_class) {
    case OpClass::kConvolution:
    case OpClass::kDepthwiseConvolution:
    case OpClass::kMatmul:
    case OpClass::kAttention:
    case OpClass::kRecurrent:
      return true;
    default:
      return false;
  }
}

std::string_view name_of(FrontEnd front_end) {
  switch (front_end) {
    case FrontEnd::kOnnx:
      return "onnx";
    case FrontEnd::kAten:
      return "aten";
    case FrontEnd::kOpenVino:
      break;
  }
  return "openvino";
}

}  // namespace deepgap::ops
