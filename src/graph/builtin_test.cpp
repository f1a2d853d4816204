// Built-in models against published figures.
#include "graph/builtin.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "graph/inputs.h"
#include "graph/summary.h"

namespace deepgap::graph {
namespace {

struct Published {
  const char* name;
  std::int64_t
      parameters;  // exact: torchvision's weights table, Hugging Face's bert-base-uncased with pooler
  double giga_multiply_adds;
  double tolerance;
};

ModelSummary summary_of(const char* name, std::int64_t batch, const Dims& dims = {}) {
  const BuiltinModel* builtin = find_builtin(name);
  EXPECT_NE(builtin, nullptr);
  Result<Dims> complete = complete_dims(*builtin, dims);
  EXPECT_TRUE(complete.ok());
  Result<std::string> bytes = builtin->generate(*complete, 1);
  EXPECT_TRUE(bytes.ok()) << bytes.error().message();
  Result<Model> model = parse_model(*bytes, name);
  EXPECT_TRUE(model.ok()) << model.error().message();
  EXPECT_TRUE(model->info().remarks.empty());
  Result<ModelSummary> summary = analyse(*model, batch, *complete);
  EXPECT_TRUE(summary.ok()) << summary.error().message();
  return std::move(*summary);
}

class BuiltinModels : public testing::TestWithParam<Published> {};

TEST_P(BuiltinModels, HavePublishedSizeAndWork) {
  const Published& published = GetParam();
  const ModelSummary one = summary_of(published.name, 1);
  EXPECT_EQ(one.parameters, published.parameters);
  EXPECT_TRUE(one.unknown.empty()) << one.unknown.front();
  EXPECT_NEAR(static_cast<double>(one.contraction_flops.value) / 2e9, published.giga_multiply_adds,
              published.tolerance);
  const ModelSummary three = summary_of(published.name, 3);
  EXPECT_EQ(three.contraction_flops, one.contraction_flops * 3);
  EXPECT_EQ(three.parameters, one.parameters);
}

INSTANTIATE_TEST_SUITE_P(All, BuiltinModels,
                         testing::Values(Published{"resnet18", 11'689'512, 1.814, 0.001},
                                         Published{"resnet50", 25'557'032, 4.089, 0.001},
                                         Published{"resnet101", 44'549'160, 7.801, 0.001},
                                         Published{"mobilenet-v2", 3'504'872, 0.301, 0.001}),
                         [](const auto& parameter) {
                           std::string name = parameter.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace deepgap::graph
