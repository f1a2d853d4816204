#include "trace/op_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/cost.h"

namespace deepgap::trace {
namespace {

using ops::DataType;
using ops::Shape;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Texts as torch 2.11 writes them.
TEST(OpSignature, Convolution) {
  const ops::OpSignature op =
      signature_of("aten::conv2d", "[[47, 3, 256, 256], [64, 3, 7, 7], [], [], [], [], []]",
                   R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"])",
                   R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"])");
  EXPECT_EQ(op.inputs[0].dtype, DataType::kFloat32);
  EXPECT_EQ(op.inputs[0].dims, (Shape{47, 3, 256, 256}));
  EXPECT_FALSE(op.inputs[2].present);
  EXPECT_EQ(op.integers.at("stride"), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(op.integers.at("padding"), (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(ops::output_shape(op), (Shape{47, 64, 128, 128}));
  // 47 x 64 x 128 x 128 outputs, each 2 x 3 x 7 x 7.
  EXPECT_EQ(ops::cost_of(op).flops, Flops{47LL * 64 * 128 * 128 * 2 * 147});
  EXPECT_EQ(ops::class_of(op), ops::OpClass::kConvolution);
}

TEST(OpSignature, EachSpellingOfAConvolutionCountsTheSame) {
  const char* shapes = "[[2, 8, 10, 12], [6, 4, 3, 3], [6], [], [], [], [], [], []]";
  const char* dtypes = R"(["float", "float", "float"])";
  const Flops expected{2LL * 6 * 5 * 12 * 2 * 4 * 9};  // stride 2, 1 and padding 1, 1
  const auto flops = [&](const char* name, const char* values) {
    return ops::cost_of(signature_of(name, shapes, dtypes, values)).flops;
  };
  EXPECT_EQ(flops("aten::conv2d", R"(["", "", "", "[2, 1]", "[1, 1]", "[1, 1]", "2"])"), expected);
  EXPECT_EQ(
      flops("aten::convolution", R"(["", "", "", "[2, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"])"),
      expected);
  EXPECT_EQ(flops("aten::cudnn_convolution",
                  R"(["", "", "[1, 1]", "[2, 1]", "[1, 1]", "2", "False", "False", "True"])"),
            expected);
  EXPECT_EQ(flops("aten::miopen_convolution", R"(["", "", "", "[1, 1]", "[2, 1]", "[1, 1]", "2"])"),
            expected);
  // Older traces have no values: without strides there is no figure.
  EXPECT_EQ(flops("aten::conv2d", ""), std::nullopt);
  EXPECT_EQ(flops("aten::conv2d", R"(["", "", "", "", "[1, 1]", "[1, 1]", "2"])"), std::nullopt);
}

TEST(OpSignature, PaddingInWords) {
  const char* shapes = "[[1, 3, 9, 9], [4, 3, 3, 3]]";
  const char* dtypes = R"(["c10::Half", "c10::Half"])";
  EXPECT_EQ(ops::output_shape(signature_of("aten::conv2d", shapes, dtypes,
                                           R"(["", "", "", "[1, 1]", "same", "[1, 1]", "1"])")),
            (Shape{1, 4, 9, 9}));
  EXPECT_EQ(ops::output_shape(signature_of("aten::conv2d", shapes, dtypes,
                                           R"(["", "", "", "[1, 1]", "valid", "[1, 1]", "1"])")),
            (Shape{1, 4, 7, 7}));
}

TEST(OpSignature, CopiesReadOneAndWriteTheOther) {
  const ops::Cost cost = ops::cost_of(signature_of(
      "aten::copy_", "[[64], [64], []]", R"(["float", "c10::Half", "Scalar"])", R"(["", "", "True"])"));
  EXPECT_EQ(cost.read, Bytes{128});
  EXPECT_EQ(cost.written, Bytes{256});
}

TEST(OpSignature, Casts) {
  // to(device, dtype, ...) and to(dtype, ...): 6 is float, 5 is half, 15 bfloat16.
  const auto written = [](const char* values) {
    return ops::cost_of(signature_of("aten::to", "[[10], [], [], [], [], []]",
                                     R"(["double", "", "Scalar", "Scalar", "Scalar", ""])", values))
        .written;
  };
  EXPECT_EQ(written(R"(["", "", "6", "False", "False", ""])"), Bytes{40});
  EXPECT_EQ(written(R"(["", "15", "False", "False", ""])"), Bytes{20});
  EXPECT_EQ(written(R"(["", "99", "False", "False", ""])"), std::nullopt);
}

TEST(OpSignature, ListsOfTensors) {
  const ops::OpSignature op = signature_of("aten::cat", "[[[32, 1, 768], [32, 196, 768]], []]",
                                           R"(["TensorList", "Scalar"])", R"(["", "1"])");
  EXPECT_EQ(ops::output_shape(op), (Shape{32, 197, 768}));
  EXPECT_EQ(ops::cost_of(op).flops, Flops{0});
  EXPECT_EQ(ops::cost_of(op).read, std::nullopt);  // of what type its elements are is not recorded
  const TensorInputs inputs =
      tensor_inputs("[[[32, 1, 768], [32, 196, 768]], []]", R"(["TensorList", "Scalar"])");
  EXPECT_THAT(inputs.shapes, ElementsAre(ElementsAre(32, 1, 768), ElementsAre(32, 196, 768)));
  EXPECT_THAT(inputs.dtypes, ElementsAre("unknown", "unknown"));
}

TEST(OpSignature, ProductsThatAreToldWhereToPutTheirResult) {
  const ops::Cost cost = ops::cost_of(signature_of(
      "aten::mm", "[[4, 6], [6, 8], [4, 8]]", R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])", ""));
  EXPECT_EQ(cost.flops, Flops{2 * 4 * 6 * 8});
  EXPECT_EQ(cost.read, Bytes{2 * (24 + 48)});
  EXPECT_EQ(cost.written, Bytes{2 * 32});
}

// 2 x 512 x 256 x 1024 FLOPs; the result's type is an argument, c10::ScalarType 15 is bfloat16.
TEST(OpSignature, ProductsOfEightBits) {
  const auto scaled = [](const char* type) {
    return ops::cost_of(signature_of(
        "aten::_scaled_mm", "[[512, 1024], [1024, 256], [], [], [], [], [], []]",
        R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
        std::string(R"(["", "", "", "", "", "", ")") + type + R"(", "False"])"));
  };
  EXPECT_EQ(scaled("15").flops, Flops{268'435'456});
  EXPECT_EQ(scaled("15").read, Bytes{512 * 1024 + 1024 * 256 + 8});
  EXPECT_EQ(scaled("15").written, Bytes{262'144});
  EXPECT_EQ(scaled("").flops, Flops{268'435'456});
  EXPECT_EQ(scaled("").written, std::nullopt);
  const ops::Cost whole = ops::cost_of(signature_of("aten::_int_mm", "[[32, 64], [64, 16]]",
                                                    R"(["signed char", "signed char"])", R"(["", ""])"));
  EXPECT_EQ(whole.flops, Flops{65'536});
  EXPECT_EQ(whole.written, Bytes{2'048});
}

TEST(OpSignature, TransposedConvolution) {
  const ops::OpSignature op = signature_of(
      "aten::conv_transpose2d", "[[2, 128, 16, 16], [128, 64, 4, 4], [64], [], [], [], [], []]",
      R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList"])",
      R"(["", "", "", "[2, 2]", "[1, 1]", "[0, 0]", "1", "[1, 1]"])");
  EXPECT_EQ(ops::output_shape(op), (Shape{2, 64, 32, 32}));
  EXPECT_EQ(ops::cost_of(op).written, Bytes{2 * 64 * 32 * 32 * 4});
}

TEST(OpSignature, NumbersAreNoTensors) {
  const TensorInputs inputs = tensor_inputs("[[8, 3], [], [], []]", R"(["float", "Scalar", "", "double"])");
  EXPECT_THAT(inputs.shapes, ElementsAre(ElementsAre(8, 3), IsEmpty()));
  EXPECT_THAT(inputs.dtypes, ElementsAre("float32", "float64"));
  // torch 1.8 to 1.10.
  EXPECT_THAT(tensor_inputs("[[8, 3], [], []]", R"(["float", "Int", "GenericList"])").dtypes,
              ElementsAre("float32"));
  // Shapes alone.
  EXPECT_THAT(tensor_inputs("[[8, 3], []]", "").shapes, ElementsAre(ElementsAre(8, 3)));
  // Once written as a text.
  EXPECT_THAT(tensor_inputs(R"("[[8, 3], []]")", "").shapes, ElementsAre(ElementsAre(8, 3)));
}

TEST(OpSignature, OpsOfOtherToolsAreKnownByTheirNames) {
  EXPECT_EQ(ops::class_of(signature_of("MatMul", "[[4, 6], [6, 8]]", R"(["float", "float"])", "")),
            ops::OpClass::kMatmul);
  EXPECT_EQ(ops::cost_of(signature_of("MatMul", "[[4, 6], [6, 8]]", R"(["float", "float"])", "")).flops,
            Flops{2 * 4 * 6 * 8});
  EXPECT_EQ(ops::class_of(signature_of("vllm::MatMul", "", "", "")), std::nullopt);
}

TEST(OpSignature, HostileTextsAreUnknown) {
  const std::string deep(20'000, '[');
  for (const std::string& text :
       {std::string("{}"), std::string("[[1"), std::string("null"), std::string("[[1e999, 2]]"),
        std::string("[[99999999999999999999]]"), std::string("[[-1, 4]]"),
        std::string("[[9223372036854775807, 9223372036854775807]]"), std::string("[3, \"x\"]"),
        std::string("\"\\\"[]\\\"\""), deep, deep + std::string(20'000, ']')}) {
    const ops::OpSignature op = signature_of("aten::conv2d", text, text, text);
    EXPECT_EQ(ops::cost_of(op).flops, std::nullopt) << text.substr(0, 40);
    (void)tensor_inputs(text, text);
  }
}

}  // namespace
}  // namespace deepgap::trace
