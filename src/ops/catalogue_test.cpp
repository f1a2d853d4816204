#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "ops/op_class.h"

namespace deepgap::ops {
namespace {

TEST(Catalogue, IsSortedAndUnique) {
  for (const FrontEnd front_end : kAllFrontEnds) {
    const auto rows = op_names(front_end);
    EXPECT_GT(rows.size(), 200U) << name_of(front_end);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].front_end, front_end) << rows[i].name;
      if (i > 0) {
        EXPECT_LT(rows[i - 1].name, rows[i].name) << rows[i].name << " stands in the wrong place or twice";
      }
    }
  }
}

TEST(Catalogue, EveryRowIsFound) {
  for (const FrontEnd front_end : kAllFrontEnds) {
    for (const OpName& row : op_names(front_end)) EXPECT_EQ(classify(front_end, row.name), &row) << row.name;
  }
}

TEST(Catalogue, RulesThatNeedAnElementsWorkHaveIt) {
  for (const FrontEnd front_end : kAllFrontEnds) {
    for (const OpName& row : op_names(front_end)) {
      const bool needs = row.rule == CostRule::kElementwise || row.rule == CostRule::kVariadic ||
                         row.rule == CostRule::kReduction || row.rule == CostRule::kSoftmax ||
                         row.rule == CostRule::kNormalisation || row.rule == CostRule::kQuantise ||
                         row.rule == CostRule::kPooling || row.rule == CostRule::kGlobalPooling;
      EXPECT_EQ(needs, row.per_element > 0) << row.name;
    }
  }
}

TEST(Catalogue, FrontEndsAgree) {
  const auto class_in = [](FrontEnd front_end, const char* name) {
    const OpName* row = classify(front_end, name);
    return row != nullptr ? std::string(name_of(row->op_class)) : std::string("missing");
  };
  EXPECT_EQ(class_in(FrontEnd::kOnnx, "Conv"), "convolution");
  EXPECT_EQ(class_in(FrontEnd::kAten, "aten::cudnn_convolution"), "convolution");
  EXPECT_EQ(class_in(FrontEnd::kOpenVino, "GroupConvolution"), "convolution");
  EXPECT_EQ(class_in(FrontEnd::kOnnx, "Gemm"), "matmul");
  EXPECT_EQ(class_in(FrontEnd::kAten, "aten::addmm"), "matmul");
  EXPECT_EQ(class_in(FrontEnd::kOpenVino, "FullyConnected"), "matmul");
  EXPECT_EQ(class_in(FrontEnd::kAten, "aten::grid_sampler"), "sampling");
  EXPECT_EQ(class_in(FrontEnd::kOnnx, "GridSample"), "sampling");
  EXPECT_EQ(class_in(FrontEnd::kOpenVino, "Reorder"), "layout");
  EXPECT_EQ(class_in(FrontEnd::kOnnx, "NoSuchOperator"), "missing");
}

TEST(Catalogue, AtenNamesComeInSeveralForms) {
  const OpName* add = classify(FrontEnd::kAten, "aten::add");
  ASSERT_NE(add, nullptr);
  for (const char* form : {"add", "aten::add_", "aten::add.Tensor", "aten::add_.Tensor"}) {
    EXPECT_EQ(classify(FrontEnd::kAten, form), add) << form;
  }
  for (const char* form : {"", "_", "aten::", "aten::_", "."})
    EXPECT_EQ(classify(FrontEnd::kAten, form), nullptr);
  EXPECT_EQ(classify(FrontEnd::kAten, std::string(100'000, 'a')), nullptr);
}

TEST(OpClass, NamesComeBackAndDiffer) {
  std::set<std::string_view> names;
  for (const OpClass op_class : all_op_classes()) {
    EXPECT_EQ(parse_op_class(name_of(op_class)), op_class);
    EXPECT_TRUE(names.insert(name_of(op_class)).second) << name_of(op_class);
  }
  EXPECT_EQ(parse_op_class("convolutions"), std::nullopt);
}

TEST(Catalogue, BaseNamesOfAten) {
  EXPECT_EQ(aten_base_name("aten::index_fill_.int_Scalar"), "index_fill");
  EXPECT_EQ(aten_base_name("add"), "add");
  EXPECT_EQ(aten_base_name("vllm::moe"), "vllm::moe");
  EXPECT_EQ(aten_base_name(""), "");
}

}  // namespace
}  // namespace deepgap::ops
