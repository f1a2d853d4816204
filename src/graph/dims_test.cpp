#include "graph/dims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/test_models.h"

namespace deepgap::graph {
namespace {

using testing::HasSubstr;

struct Input {
  const char* name;
  std::vector<Dim> dims;
};

// Inputs that each go to an output of their own.
Model with_inputs(const std::vector<Input>& inputs) {
  GraphBuilder graph("dims", 17, 1);
  for (const Input& input : inputs) {
    const Value x = graph.input(input.name, ops::DataType::kFloat32, input.dims);
    graph.output(graph.node("Relu", {x}), std::string(input.name) + "_out", ops::DataType::kFloat32,
                 input.dims);
  }
  return built(std::move(graph));
}

std::string described(const std::vector<FreeDimension>& free) {
  std::string text;
  for (const FreeDimension& dimension : free) {
    text += (dimension.is_batch ? "batch:" : "") + dimension.describe() + ";";
  }
  return text;
}

TEST(Dims, TheBatchByItsUsualNameOnAnyAxis) {
  const Model model =
      with_inputs({{"ids", {symbolic("seq"), symbolic("N")}}, {"mask", {symbolic("N"), symbolic("seq")}}});
  EXPECT_EQ(described(free_dimensions(model)),
            "batch:N (ids axis 1, mask axis 0);seq (ids axis 0, mask axis 1);");
  EXPECT_EQ(fixed_batch(model), std::nullopt);
}

TEST(Dims, TheBatchByItsPlace) {
  const Model model =
      with_inputs({{"a", {symbolic("frames"), fixed(3)}}, {"b", {symbolic(""), symbolic("")}}});
  EXPECT_EQ(described(free_dimensions(model)), "batch:frames (a axis 0, b axis 0);b.1 (b axis 1);");
  // A size of its own makes it an ordinary dimension.
  EXPECT_EQ(described(free_dimensions(model, {{"frames", 47}})),
            "batch:batch (b axis 0);frames (a axis 0);b.1 (b axis 1);");
}

TEST(Dims, UnnamedFirstDimensionsAreTheBatch) {
  const Model model =
      with_inputs({{"a", {symbolic(""), fixed(3)}}, {"b", {symbolic("batch_size"), fixed(4)}}});
  EXPECT_EQ(described(free_dimensions(model)), "batch:batch_size (a axis 0, b axis 0);");
}

TEST(Dims, BindingMakesEverythingANumber) {
  const Model model = with_inputs({{"x", {symbolic("batch"), symbolic("seq"), fixed(4)}}});
  const Result<Model> open = bind_dimensions(model, {{"seq", 128}});
  ASSERT_TRUE(open.ok()) << open.error().message();
  EXPECT_EQ(open->info().inputs[0].describe(), "x float32 [batch, 128, 4]");
  EXPECT_EQ(open->info().outputs[0].describe(), "x_out float32 [batch, 128, 4]");
  const Result<Model> bound = bind_dimensions(model, {{"seq", 128}}, 8);
  ASSERT_TRUE(bound.ok()) << bound.error().message();
  EXPECT_EQ(bound->info().outputs[0].describe(), "x_out float32 [8, 128, 4]");
  EXPECT_EQ(model.info().inputs[0].describe(), "x float32 [batch, seq, 4]");
}

TEST(Dims, WhatLacksASizeIsListedWithItsPlaces) {
  const Model model =
      with_inputs({{"ids", {symbolic("batch"), symbolic("seq")}}, {"image", {fixed(1), symbolic("")}}});
  const Result<Model> bound = bind_dimensions(model, {});
  EXPECT_EQ(error_of(bound),
            "the model has open dimensions without a size: seq (ids axis 1), image.1 (image axis 1); give "
            "each one, as in "
            "--dim seq=128");
  EXPECT_EQ(bound.error().kind(), ErrorKind::kUsage);
  EXPECT_TRUE(bind_dimensions(model, {{"seq", 5}, {"image.1", 7}}, 2).ok());
}

TEST(Dims, WrongNamesAndSizes) {
  const Model model = with_inputs({{"ids", {symbolic("batch"), symbolic("seq")}}});
  EXPECT_THAT(error_of(bind_dimensions(model, {{"length", 3}})), HasSubstr("no open dimension 'length'"));
  EXPECT_THAT(error_of(bind_dimensions(model, {{"length", 3}})), HasSubstr("seq (ids axis 1)"));
  EXPECT_THAT(error_of(bind_dimensions(model, {{"batch", 3}, {"seq", 2}})),
              HasSubstr("give it with --batch"));
  EXPECT_THAT(error_of(bind_dimensions(model, {{"seq", 0}})), HasSubstr("found 0"));
  EXPECT_THAT(error_of(bind_dimensions(model, {{"seq", 4}}, 0)), HasSubstr("found 0"));
}

TEST(Dims, AFixedBatchIsTheOnlyOne) {
  const Model model = with_inputs({{"x", {fixed(4), fixed(3)}}});
  EXPECT_EQ(fixed_batch(model), 4);
  EXPECT_TRUE(bind_dimensions(model, {}, 4).ok());
  const std::string message = error_of(bind_dimensions(model, {}, 8));
  EXPECT_THAT(message, HasSubstr("takes batch 4 only"));
  EXPECT_THAT(message, HasSubstr("asked for batch 8"));
}

TEST(Dims, SizesThatTheGraphCannotTakeAreTheUsersError) {
  GraphBuilder graph("g", 17, 1);
  const Value x = graph.input("x", ops::DataType::kFloat32, {symbolic("batch"), symbolic("width")});
  const Value w = graph.random_weight("w", {16, 4}, 1);
  graph.output(graph.node("MatMul", {x, w}), "y", ops::DataType::kFloat32, {symbolic("batch"), fixed(4)});
  const Model model = built(std::move(graph));
  EXPECT_TRUE(bind_dimensions(model, {{"width", 16}}, 2).ok());
  const Result<Model> wrong = bind_dimensions(model, {{"width", 15}}, 2);
  EXPECT_THAT(error_of(wrong), HasSubstr("does not take the sizes batch=2, width=15"));
  EXPECT_EQ(wrong.error().kind(), ErrorKind::kUsage);
}

TEST(Dims, OneOpenDimensionIsSaidInTheSingular) {
  GraphBuilder graph("g", 17, 1);
  const std::vector<Dim> dims = {symbolic("batch"), symbolic("a=b")};
  graph.output(graph.node("Relu", {graph.input("x", ops::DataType::kFloat32, dims)}), "y",
               ops::DataType::kFloat32, dims);
  EXPECT_EQ(
      error_of(bind_dimensions(built(std::move(graph)), {})),
      "the model has an open dimension without a size: a=b (x axis 1); give it one, as in --dim a=b=128");
}

}  // namespace
}  // namespace deepgap::graph
