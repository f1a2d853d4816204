// Built-in models against published figures.
#include "graph/builtin.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file_system.h"
#include "base/hash.h"
#include "graph/inputs.h"
#include "graph/summary.h"

namespace deepgap::graph {
namespace {

struct Published {
  const char* name;
  std::int64_t parameters;  // exact, of torchvision's weights table
  double giga_multiply_adds;
  double
      mega_activations;  // outputs of convolutions and the classifier, as timm's benchmark tables list them
  std::int64_t
      activation_bytes;  // of one image: computed with Python, onnx.shape_inference over the same file
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
  EXPECT_NEAR(static_cast<double>(one.contraction_flops.value) / 2e9, published.giga_multiply_adds, 0.001);
  std::int64_t activations = 0;
  for (const NodeSummary& node : one.nodes) {
    if (node.op_class && ops::is_contraction(*node.op_class)) activations += *node.outputs[0].elements();
  }
  EXPECT_NEAR(static_cast<double>(activations) / 1e6, published.mega_activations, 0.005);
  EXPECT_EQ(one.activation_bytes, Bytes{published.activation_bytes});
  const ModelSummary three = summary_of(published.name, 3);
  EXPECT_EQ(three.contraction_flops, one.contraction_flops * 3);
  EXPECT_EQ(three.activation_bytes, *one.activation_bytes * 3);
  EXPECT_EQ(three.parameters, one.parameters);
}

INSTANTIATE_TEST_SUITE_P(All, BuiltinModels,
                         testing::Values(Published{"resnet18", 11'689'512, 1.814, 2.48, 32'921'504},
                                         Published{"resnet50", 25'557'032, 4.089, 11.11, 150'239'136},
                                         Published{"resnet101", 44'549'160, 7.801, 16.23, 225'302'432},
                                         Published{"mobilenet-v2", 3'504'872, 0.301, 6.68, 78'722'720}),
                         [](const auto& parameter) {
                           std::string name = parameter.param.name;
                           std::erase(name, '-');
                           return name;
                         });

// By hand: while the first shortcut is normalised there are the model's input, which is the caller's, and
// three tensors of 256 channels at 56x56: the branch, the shortcut before and after. The block's own input is
// gone by then.
TEST(BuiltinModel, PeakMemoryOfResNet50) {
  EXPECT_EQ(summary_of("resnet50", 1).peak_activation_bytes, Bytes{(3 * 224 * 224 + 3 * 256 * 56 * 56) * 4});
}

TEST(BuiltinModel, MobileNetsDepthwiseLayersAreKnownAsSuch) {
  const ModelSummary summary = summary_of("mobilenet-v2", 1);
  int depthwise = 0;
  for (const NodeSummary& node : summary.nodes)
    depthwise += node.op_class == ops::OpClass::kDepthwiseConvolution ? 1 : 0;
  EXPECT_EQ(depthwise, 17);  // one a block of table 2 of arXiv 1801.04381
}

TEST(BuiltinModel, BertHasPublishedSizeAndWork) {
  const ModelSummary summary = summary_of("bert-base", 2, {{"seq", 64}});
  EXPECT_EQ(summary.parameters, 109'482'240);  // Hugging Face's bert-base-uncased with its pooler
  EXPECT_TRUE(summary.unknown.empty());
  // 24 b s h^2 (1 + s / (6 h)) a layer (Narayanan et al. 2021, arXiv 2104.04473, forward pass), the pooler's
  // 2 b h^2
  const std::int64_t b = 2, s = 64, h = 768;
  EXPECT_EQ(summary.contraction_flops, Flops{12 * (24 * b * s * h * h + 4 * b * s * s * h) + 2 * b * h * h});
  ASSERT_EQ(summary.outputs.size(), 2U);
  EXPECT_EQ(summary.outputs[0].describe(), "last_hidden_state float32 [2, 64, 768]");
  EXPECT_TRUE(summary.peak_activation_bytes);
}

// The bytes are the same on every platform, or measurements of one model carry two hashes. A wanted change of
// a model raises its generator_version and these.
TEST(BuiltinModel, BytesArePinned) {
  const auto hash = [](const char* name) { return content_hash(*find_builtin(name)->generate({}, 1)); };
  EXPECT_EQ(hash("resnet18"), "c72a2ff26831106e8febe73c978d4efc");
  EXPECT_EQ(hash("mobilenet-v2"), "b2f228dc51ef93b0192dadb03b3d742b");
}

TEST(BuiltinModel, TheCatalogueIsComplete) {
  const Result<std::string> documentation = RootedFileSystem().read(DEEPGAP_SOURCE_FOLDER "/docs/models.md");
  ASSERT_TRUE(documentation.ok());
  std::set<std::string_view> names;
  for (const BuiltinModel* model : builtin_models()) {
    EXPECT_TRUE(names.insert(model->name).second);
    EXPECT_EQ(find_builtin(model->name), model);
    EXPECT_FALSE(model->title.empty() || model->inputs.empty() || model->source.empty());
    EXPECT_GT(model->parameter_count, 0);
    EXPECT_GT(model->multiply_adds, 0);
    EXPECT_NE(documentation->find("| `" + std::string(model->name) + "` |"), std::string::npos)
        << model->name;
  }
  EXPECT_EQ(find_builtin("resnet"), nullptr);
}

}  // namespace
}  // namespace deepgap::graph
