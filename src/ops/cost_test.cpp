// The expected figures are worked out by hand in the comments, not by the code under test.
#include "ops/cost.h"

#include <gtest/gtest.h>

#include "ops/einsum.h"

namespace deepgap::ops {
namespace {

constexpr DataType kF32 = DataType::kFloat32;

OpSignature onnx(const char* name, std::vector<TensorShape> inputs, std::vector<TensorShape> outputs) {
  OpSignature op;
  op.front_end = FrontEnd::kOnnx;
  op.name = name;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  return op;
}

OpSignature aten(const char* name, std::vector<TensorShape> inputs) {
  OpSignature op = onnx(name, std::move(inputs), {});
  op.front_end = FrontEnd::kAten;
  return op;
}

TEST(Cost, ConvolutionOfResNetsFirstLayer) {
  const OpSignature op = onnx("Conv", {tensor(kF32, {8, 3, 224, 224}), weight(kF32, {64, 3, 7, 7})},
                              {tensor(kF32, {8, 64, 112, 112})});
  const Cost cost = cost_of(op);
  EXPECT_EQ(cost.flops, Flops{1'888'223'232});  // 8 x 64 x 112 x 112 outputs, each 2 x 3 x 7 x 7
  EXPECT_EQ(cost.read, Bytes{4'854'528});       // (8 x 3 x 224 x 224 + 64 x 147) x 4
  EXPECT_EQ(cost.weights, Bytes{37'632});
  EXPECT_EQ(cost.written, Bytes{25'690'112});
  EXPECT_EQ(class_of(op), OpClass::kConvolution);
}

TEST(Cost, GroupedAndDepthwise) {
  OpSignature op =
      onnx("Conv", {tensor(kF32, {1, 32, 112, 112}), weight(kF32, {32, 1, 3, 3}), weight(kF32, {32})},
           {tensor(kF32, {1, 32, 112, 112})});
  op.integers["group"] = {32};
  EXPECT_EQ(cost_of(op).flops,
            Flops{7'225'344});  // 32 x 12544 x 2 x 9; the bias is the dot product's last addition
  EXPECT_EQ(class_of(op), OpClass::kDepthwiseConvolution);
  op.integers["group"] = {1};  // one input channel alone is no depthwise convolution
  EXPECT_EQ(class_of(op), OpClass::kConvolution);

  OpSignature openvino = op;
  openvino.front_end = FrontEnd::kOpenVino;
  openvino.name = "GroupConvolution";
  openvino.inputs[1] = weight(kF32, {32, 1, 1, 3, 3});
  EXPECT_EQ(cost_of(openvino).flops, Flops{7'225'344});
  EXPECT_EQ(class_of(openvino), OpClass::kDepthwiseConvolution);
}

TEST(Cost, TransposedConvolution) {
  // A 2x2 kernel of stride 2 from 4x4 to 8x8: each of 16 x 8 inputs meets 5 channels x 4 taps.
  const OpSignature op = onnx("ConvTranspose", {tensor(kF32, {1, 8, 4, 4}), weight(kF32, {8, 5, 2, 2})},
                              {tensor(kF32, {1, 5, 8, 8})});
  EXPECT_EQ(cost_of(op).flops, Flops{5120});
}

TEST(Cost, DilatedConvolutionOfATraceWithoutOutputs) {
  OpSignature op = aten("aten::conv2d", {tensor(kF32, {2, 4, 10, 12}), weight(kF32, {6, 4, 3, 3})});
  op.integers["stride"] = {2, 1};
  op.integers["padding"] = {1, 0};
  op.integers["dilation"] = {1, 2};
  // (10 + 2 - 3) / 2 + 1 = 5; (12 - 5) / 1 + 1 = 8
  EXPECT_EQ(output_shape(op), (Shape{2, 6, 5, 8}));
  EXPECT_EQ(cost_of(op).flops, Flops{2LL * 6 * 5 * 8 * 2 * 36});
  EXPECT_EQ(cost_of(op).written, Bytes{2 * 6 * 5 * 8 * 4});
}

TEST(Cost, QuantisedConvolutionTakesItsWeightAtPlaceThree) {
  const TensorShape scale = weight(kF32, {});
  const TensorShape zero = weight(DataType::kUInt8, {});
  const OpSignature op = onnx("QLinearConv",
                              {tensor(DataType::kUInt8, {1, 1, 7, 7}), scale, zero,
                               weight(DataType::kUInt8, {1, 1, 1, 1}), scale, zero, scale, zero},
                              {tensor(DataType::kUInt8, {1, 1, 7, 7})});
  EXPECT_EQ(cost_of(op).flops, Flops{98});
  EXPECT_EQ(cost_of(op).read, Bytes{49 + 1 + 3 * 4 + 3});
}

TEST(Cost, ProductsAndBroadcasting) {
  EXPECT_EQ(cost_of(onnx("MatMul", {tensor(kF32, {8, 12, 128, 64}), tensor(kF32, {8, 12, 64, 128})},
                         {tensor(kF32, {8, 12, 128, 128})}))
                .flops,
            Flops{2LL * 8 * 12 * 128 * 128 * 64});
  const OpSignature wide = aten("aten::matmul", {tensor(kF32, {5, 1, 3, 4}), tensor(kF32, {7, 4, 2})});
  EXPECT_EQ(output_shape(wide), (Shape{5, 7, 3, 2}));
  EXPECT_EQ(cost_of(wide).flops, Flops{5 * 7 * 3 * 2 * 4 * 2});
  EXPECT_EQ(cost_of(aten("aten::mv", {tensor(kF32, {3, 4}), tensor(kF32, {4})})).flops, Flops{24});
  EXPECT_EQ(
      cost_of(aten("aten::addmm", {tensor(kF32, {10}), tensor(kF32, {6, 4}), tensor(kF32, {4, 10})})).flops,
      Flops{480});
  EXPECT_EQ(cost_of(aten("aten::linear", {tensor(kF32, {2, 3, 4}), weight(kF32, {5, 4})})).flops, Flops{240});
  OpSignature gemm = onnx("Gemm", {tensor(kF32, {4, 6}), weight(kF32, {10, 4})}, {});
  gemm.integers["transA"] = {1};
  gemm.integers["transB"] = {1};
  EXPECT_EQ(output_shape(gemm), (Shape{6, 10}));
  EXPECT_EQ(cost_of(gemm).flops, Flops{2 * 6 * 10 * 4});
}

TEST(Cost, FusedAttentionIsItsPartsTogether) {
  const TensorShape qkv = tensor(kF32, {2, 12, 128, 64});
  const OpSignature op = aten("aten::_scaled_dot_product_flash_attention", {qkv, qkv, qkv});
  const std::int64_t scores = 2 * 12 * 128 * 128;
  EXPECT_EQ(cost_of(op).flops, Flops{scores * (2 * 64 + 2 * 64 + 16)});
  EXPECT_EQ(cost_of(op).written, Bytes{2 * 12 * 128 * 64 * 4});
  OpSignature three = onnx(
      "Attention", {tensor(kF32, {2, 128, 768}), tensor(kF32, {2, 128, 768}), tensor(kF32, {2, 128, 768})},
      {tensor(kF32, {2, 128, 768})});
  three.integers["q_num_heads"] = {12};
  three.integers["kv_num_heads"] = {12};
  EXPECT_EQ(cost_of(three).flops, cost_of(op).flops);
}

TEST(Cost, Recurrent) {
  // One direction, 5 steps, batch 2, input 3, hidden 4: gates 2 x 4 x 4 x (3 + 4), cell 66 x 4.
  const OpSignature op =
      onnx("LSTM", {tensor(kF32, {5, 2, 3}), weight(kF32, {1, 16, 3}), weight(kF32, {1, 16, 4})},
           {tensor(kF32, {5, 1, 2, 4})});
  EXPECT_EQ(cost_of(op).flops, Flops{5 * 2 * (2 * 4 * 4 * 7 + 66 * 4)});
}

TEST(Cost, PoolingCountsItsWindow) {
  OpSignature op = onnx("MaxPool", {tensor(kF32, {1, 64, 112, 112})}, {tensor(kF32, {1, 64, 56, 56})});
  EXPECT_EQ(cost_of(op).flops, std::nullopt);  // no kernel, no figure
  op.integers["kernel_shape"] = {3, 3};
  EXPECT_EQ(cost_of(op).flops, Flops{64 * 56 * 56 * 9});
  const OpSignature global =
      onnx("GlobalAveragePool", {tensor(kF32, {1, 8, 7, 7})}, {tensor(kF32, {1, 8, 1, 1})});
  EXPECT_EQ(cost_of(global).flops, Flops{8 * 49 + 8 * 4});
  OpSignature torch = aten("aten::max_pool2d", {tensor(kF32, {1, 4, 8, 8})});
  torch.integers["kernel_size"] = {2, 2};
  EXPECT_EQ(output_shape(torch), (Shape{1, 4, 4, 4}));  // the stride is the kernel
}

TEST(Cost, LocalNormalisation) {
  OpSignature op = onnx("LRN", {tensor(kF32, {1, 10})}, {tensor(kF32, {1, 10})});
  EXPECT_EQ(cost_of(op).flops, std::nullopt);
  op.integers["size"] = {5};
  EXPECT_EQ(cost_of(op).flops, Flops{10 * (2 * 5 + 23)});
}

TEST(Cost, GridSampling) {
  // 2 x 100 locations with 7 x 2 + 4 each; 3 channels of 4 multiply-adds.
  const OpSignature op = onnx("GridSample", {tensor(kF32, {2, 3, 16, 16}), tensor(kF32, {2, 10, 10, 2})},
                              {tensor(kF32, {2, 3, 10, 10})});
  EXPECT_EQ(cost_of(op).flops, Flops{200 * 18 + 600 * 8});
  OpSignature nearest = op;
  nearest.texts["mode"] = "nearest";
  EXPECT_EQ(cost_of(nearest).flops, Flops{200 * 10});
}

TEST(Cost, MovementHasNoArithmeticAndViewsCostNothing) {
  const Cost transpose = cost_of(onnx("Transpose", {tensor(kF32, {4, 5})}, {tensor(kF32, {5, 4})}));
  EXPECT_EQ(transpose, (Cost{Flops{0}, Bytes{80}, Bytes{80}, Bytes{0}}));
  const Cost view =
      cost_of(onnx("Reshape", {tensor(kF32, {4, 5}), weight(DataType::kInt64, {1})}, {tensor(kF32, {20})}));
  EXPECT_EQ(view, (Cost{Flops{0}, Bytes{0}, Bytes{0}, Bytes{0}}));
  const Cost cast = cost_of(onnx("Cast", {tensor(kF32, {100})}, {tensor(DataType::kFloat16, {100})}));
  EXPECT_EQ(cast, (Cost{Flops{0}, Bytes{400}, Bytes{200}, Bytes{0}}));
}

TEST(Cost, AnEmbeddingReadsTheRowsItGives) {
  const Cost cost = cost_of(onnx("Gather", {weight(kF32, {30522, 768}), tensor(DataType::kInt64, {1, 128})},
                                 {tensor(kF32, {1, 128, 768})}));
  EXPECT_EQ(cost.flops, Flops{0});
  EXPECT_EQ(cost.read, Bytes{128 * 768 * 4 + 128 * 8});
  EXPECT_EQ(cost.weights, Bytes{128 * 768 * 4});
}

TEST(Cost, ElementwiseBroadcastsAndWeighsTranscendentals) {
  EXPECT_EQ(cost_of(aten("aten::add.Tensor", {tensor(kF32, {4, 1}), tensor(kF32, {3})})).flops, Flops{12});
  EXPECT_EQ(cost_of(aten("aten::sigmoid_", {tensor(kF32, {10})})).flops, Flops{140});
  EXPECT_EQ(
      cost_of(onnx("Sum", {tensor(kF32, {6}), tensor(kF32, {6}), tensor(kF32, {6})}, {tensor(kF32, {6})}))
          .flops,
      Flops{12});
  EXPECT_EQ(cost_of(aten("aten::add", {tensor(kF32, {4}), tensor(kF32, {3})})).flops, std::nullopt);
}

OpSignature aten_with(const char* name, std::vector<TensorShape> inputs,
                      std::map<std::string, std::vector<std::int64_t>> integers) {
  OpSignature op = aten(name, std::move(inputs));
  op.integers = std::move(integers);
  return op;
}

TEST(Cost, MovementOfATraceWithoutOutputs) {
  const auto shape = [](const OpSignature& op) { return output_shape(op); };
  const TensorShape a = tensor(kF32, {2, 3, 4});
  EXPECT_EQ(shape(aten("aten::clone", {a})), (Shape{2, 3, 4}));
  EXPECT_EQ(cost_of(aten("aten::clone", {a})), (Cost{Flops{0}, Bytes{96}, Bytes{96}, Bytes{0}}));
  EXPECT_EQ(shape(aten_with("aten::cat", {a, tensor(kF32, {2, 5, 4}), tensor(kF32, {0})}, {{"dim", {-2}}})),
            (Shape{2, 8, 4}));
  EXPECT_EQ(shape(aten_with("aten::cat", {a, tensor(kF32, {2, 5})}, {{"dim", {1}}})), std::nullopt);
  EXPECT_EQ(shape(aten_with("aten::cat", {a, a}, {{"dim", {3}}})), std::nullopt);
  EXPECT_EQ(shape(aten_with("aten::stack", {a, a}, {{"dim", {-1}}})), (Shape{2, 3, 4, 2}));
  EXPECT_EQ(shape(aten_with("aten::constant_pad_nd", {a}, {{"pad", {1, 2, 0, 3}}})), (Shape{2, 6, 7}));
  EXPECT_EQ(shape(aten_with("aten::repeat", {a}, {{"repeats", {5, 1, 2, 1}}})), (Shape{5, 2, 6, 4}));
  EXPECT_EQ(shape(aten("aten::im2col", {a})), std::nullopt);
  EXPECT_EQ(shape(aten("aten::fill_", {a})), (Shape{2, 3, 4}));
  EXPECT_EQ(cost_of(aten("aten::fill_", {a})).written, Bytes{96});
  EXPECT_EQ(cost_of(aten("aten::fill_", {a})).read, Bytes{0});
}

TEST(Cost, SelectionOfATraceWithoutOutputs) {
  const TensorShape table = tensor(kF32, {30522, 768});
  const Cost embedding = cost_of(aten("aten::embedding", {table, tensor(DataType::kInt64, {16, 256})}));
  EXPECT_EQ(embedding.written, Bytes{16 * 256 * 768 * 4});
  EXPECT_EQ(embedding.read,
            Bytes{16 * 256 * 768 * 4 + 16 * 256 * 8});  // the rows it gives, and where they are
  TensorShape none;
  none.present = false;
  EXPECT_EQ(output_shape(aten_with("aten::index_select", {table, none, tensor(DataType::kInt64, {9})},
                                   {{"dim", {0}}})),
            (Shape{9, 768}));
  EXPECT_EQ(output_shape(aten("aten::gather", {table, none, tensor(DataType::kInt64, {5, 6})})),
            (Shape{5, 6}));
  EXPECT_EQ(output_shape(aten("aten::index", {table, none})), std::nullopt);  // its indices are not recorded
}

// 64 KiB put into a cache of 17 GB: the cache is not touched elsewhere.
TEST(Cost, AScatterInPlaceTouchesWhatItPutsIn) {
  constexpr DataType kBf16 = DataType::kBFloat16;
  TensorShape list = tensor(DataType::kUnknown, {});
  list.present = false;
  const Cost cache = cost_of(
      aten("aten::index_put_", {tensor(kBf16, {32, 8, 131072, 128}), list, tensor(kBf16, {32, 8, 1, 128})}));
  EXPECT_EQ(cache.read, Bytes{65'536});
  EXPECT_EQ(cache.written, Bytes{65'536});
  const auto scatter = [](const char* name) {
    return cost_of(aten(
        name, {tensor(kF32, {1000, 128}), tensor(DataType::kInt64, {16, 128}), tensor(kF32, {16, 128})}));
  };
  EXPECT_EQ(scatter("aten::scatter_").read, Bytes{16'384 + 8'192});
  EXPECT_EQ(scatter("aten::scatter_").written, Bytes{8'192});
  EXPECT_EQ(scatter("aten::scatter").read, Bytes{512'000 + 16'384 + 8'192});
  EXPECT_EQ(scatter("aten::scatter").written, Bytes{512'000}) << "a copy";
  EXPECT_FALSE(
      cost_of(aten("aten::index_fill_", {tensor(kF32, {1000, 128}), tensor(DataType::kInt64, {3})})).written)
      << "how much an index stands for is not known";
}

// (16 - 1) x 2 - 2 x 1 + (4 - 1) + 1 + 1 = 33 in each dimension.
TEST(Cost, TransposedConvolutionOfATraceWithoutOutputs) {
  OpSignature op =
      aten("aten::conv_transpose2d", {tensor(kF32, {2, 128, 16, 16}), tensor(kF32, {128, 64, 4, 4})});
  op.integers["stride"] = {2, 2};
  op.integers["padding"] = {1, 1};
  op.integers["output_padding"] = {1};
  EXPECT_EQ(output_shape(op), (Shape{2, 64, 33, 33}));
  EXPECT_EQ(cost_of(op).written, Bytes{2 * 64 * 33 * 33 * 4});
  op.name = "aten::convolution";
  op.integers["transposed"] = {1};
  op.integers["groups"] = {4};
  EXPECT_EQ(output_shape(op), (Shape{2, 256, 33, 33}));
  op.integers["padding"] = {1 << 20, 1};
  EXPECT_EQ(output_shape(op), std::nullopt);
}

TEST(Cost, ReductionAndResizingOfATraceWithoutOutputs) {
  const TensorShape a = tensor(kF32, {2, 3, 8, 8});
  EXPECT_EQ(output_shape(aten_with("aten::mean", {a}, {{"dim", {-1, -2}}, {"keepdim", {1}}})),
            (Shape{2, 3, 1, 1}));
  EXPECT_EQ(output_shape(aten_with("aten::sum", {a}, {{"dim", {}}, {"keepdim", {0}}})), Shape{});
  EXPECT_EQ(output_shape(aten_with("aten::sum", {a}, {{"dim", {6}}})),
            std::nullopt);  // a type, not a dimension
  EXPECT_EQ(cost_of(aten_with("aten::sum", {a}, {{"dim", {1}}, {"keepdim", {0}}})).written,
            Bytes{2 * 64 * 4});
  EXPECT_EQ(output_shape(aten_with("aten::adaptive_avg_pool2d", {a}, {{"output_size", {1, 1}}})),
            (Shape{2, 3, 1, 1}));
  const OpSignature up = aten_with("aten::upsample_bilinear2d", {a}, {{"output_size", {16, 24}}});
  EXPECT_EQ(output_shape(up), (Shape{2, 3, 16, 24}));
  EXPECT_EQ(cost_of(up).flops, Flops{2 * 4 * 2 * 3 * 16 * 24});  // four taps, each a multiply-add
}

TEST(Cost, UnknownStaysUnknown) {
  EXPECT_EQ(cost_of(onnx("NoSuchOperator", {tensor(kF32, {2})}, {tensor(kF32, {2})})), Cost{});
  EXPECT_EQ(cost_of(onnx("If", {tensor(DataType::kBool, {})}, {tensor(kF32, {2})})).flops, std::nullopt);
  TensorShape shapeless;
  shapeless.dtype = kF32;
  const Cost cost = cost_of(onnx("Relu", {shapeless}, {shapeless}));
  EXPECT_EQ(cost.flops, std::nullopt);
  EXPECT_EQ(cost.read, std::nullopt);
}

TEST(Cost, HostileShapesAreUnknownNotUndefined) {
  const std::int64_t huge = std::int64_t{1} << 62;
  for (const Shape& dims : {Shape{huge, huge}, Shape{-1, 4}, Shape{huge, 4}, Shape{}, Shape{0}}) {
    for (const FrontEnd front_end : kAllFrontEnds) {
      for (const OpName& row : op_names(front_end)) {
        OpSignature op;
        op.front_end = row.front_end;
        op.name = row.name;
        op.integers["kernel_shape"] = {huge, -1};
        op.integers["q_num_heads"] = {0};
        for (const char* name : {"dim", "keepdim", "size", "output_size", "pad", "repeats"})
          op.integers[name] = {huge, -huge};
        op.texts["equation"] = "ij,jk->ik";
        op.inputs.assign(4, tensor(kF32, dims));
        (void)cost_of(op);
        (void)class_of(op);
        op.outputs.assign(2, tensor(kF32, dims));
        (void)cost_of(op);
      }
    }
  }
}

TEST(Einsum, ProductsContractionsAndEllipses) {
  const std::vector<TensorShape> two = {tensor(kF32, {2, 3, 4}), tensor(kF32, {2, 4, 5})};
  const auto batched = analyse_einsum("bij, bjk -> bik", two);
  ASSERT_TRUE(batched);
  EXPECT_EQ(batched->output, (Shape{2, 3, 5}));
  EXPECT_EQ(batched->flops, 2 * 2 * 3 * 4 * 5);
  EXPECT_TRUE(batched->contracts);

  const auto dotted = analyse_einsum("...ij,...jk->...ik", two);
  ASSERT_TRUE(dotted);
  EXPECT_EQ(dotted->output, (Shape{2, 3, 5}));
  EXPECT_EQ(dotted->flops, batched->flops);

  const auto implicit =
      analyse_einsum("ba,cb", std::vector<TensorShape>{tensor(kF32, {2, 3}), tensor(kF32, {4, 2})});
  ASSERT_TRUE(implicit);
  EXPECT_EQ(implicit->output, (Shape{3, 4}));

  const auto outer =
      analyse_einsum("i,j->ij", std::vector<TensorShape>{tensor(kF32, {3}), tensor(kF32, {4})});
  ASSERT_TRUE(outer);
  EXPECT_EQ(outer->flops, 12);
  EXPECT_FALSE(outer->contracts);

  const auto trace = analyse_einsum("ii->", std::vector<TensorShape>{tensor(kF32, {5, 5})});
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->flops, 5);
  EXPECT_TRUE(trace->output.empty());

  // Left to right: (ij,jk) sums j for 2 x 2 x 3 x 4, then (ik,kl) sums k for 2 x 2 x 4 x 5.
  const auto chain = analyse_einsum(
      "ij,jk,kl->il",
      std::vector<TensorShape>{tensor(kF32, {2, 3}), tensor(kF32, {3, 4}), tensor(kF32, {4, 5})});
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->flops, 48 + 80);
}

TEST(Einsum, MalformedIsNothing) {
  const std::vector<TensorShape> two = {tensor(kF32, {2, 3}), tensor(kF32, {4, 5})};
  for (const char* equation :
       {"", "ij", "ij,jk->ik", "ij,kl->im", "i.j,kl", "ij,kl->i...j...", "ij,klm", ",", "->", "....,kl"}) {
    EXPECT_FALSE(analyse_einsum(equation, two)) << equation;
  }
  EXPECT_FALSE(analyse_einsum("i->i", {}));
}

}  // namespace
}  // namespace deepgap::ops
