#include "base/file_system.h"
#include "base/temporary_folder.h"
#include "graph/builder.h"
#include "graph/inputs.h"
#include "graph/summary.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

// Where external weights are looked for: a file of 64 bytes, "weights", and nothing else.
const std::string& weights_folder() {
  static const TemporaryFolder folder;
  static const bool written = write_file_atomically(folder / "weights", std::string(64, '\1')).ok();
  require(written, "a temporary file can be written");
  return folder.path();
}

void ask(const graph::Model& model, const graph::Dims& dims, std::int64_t batch) {
  (void)checked(graph::input_specs(model, dims, batch));
  const auto summary = graph::analyse(model, batch, dims);
  if (!checked(summary)) return;
  require(summary->known_flops.value >= 0 && summary->contraction_flops.value >= 0, "work is not negative");
  require(summary->parameters >= 0 && summary->parameter_bytes.value >= 0, "a size is not negative");
  for (const auto& bytes : {summary->bytes, summary->activation_bytes, summary->least_memory()}) {
    require(bytes.value_or(Bytes{}).value >= 0, "a size is not negative");
  }
}

void survive(std::string_view input) {
  const auto model = graph::parse_model(input, "m.onnx", {weights_folder()});
  if (!checked(model)) return;
  const graph::ModelInfo info = model->info();
  require(info.nodes >= 0 && info.parameters >= 0, "a count is not negative");
  graph::Dims dims;
  for (const graph::FreeDimension& dimension : graph::free_dimensions(*model)) {
    (void)dimension.describe();
    if (!dimension.is_batch) dims[dimension.name] = 3;
  }
  (void)graph::fixed_batch(*model, dims);
  ask(*model, {}, 1);
  ask(*model, dims, 8);
  ask(*model, dims, std::int64_t{1} << 60);
  const auto bytes = model->serialise();
  if (checked(bytes)) require(graph::parse_model(*bytes, "m.onnx").ok(), "what was written can be read");
}

using graph::fixed;
using graph::symbolic;
constexpr auto kFloat = ops::DataType::kFloat32;

std::string convolution(std::int64_t opset) {
  graph::GraphBuilder graph("tiny", opset, 1);
  const auto x = graph.input("input", kFloat, {symbolic("batch"), fixed(3), fixed(8), fixed(8)});
  const auto weight = graph.random_weight("w", {4, 3, 3, 3}, 0.1);
  const auto y = graph.node("Conv", {x, weight},
                            {graph::ints("kernel_shape", {3, 3}), graph::ints("pads", {1, 1, 1, 1})});
  graph.output(graph.node("Relu", {y}), "output", kFloat, {symbolic("batch"), fixed(4), fixed(8), fixed(8)});
  return graph.build_bytes().value();
}

std::string attention() {
  graph::GraphBuilder graph("tokens", 17, 1);
  const auto ids = graph.input("ids", ops::DataType::kInt64, {symbolic("batch"), symbolic("seq")});
  const auto table = graph.random_weight("table", {10, 4}, 0.1);
  const auto x = graph.node("Gather", {table, ids});
  const auto turned = graph.node("Transpose", {x}, {graph::ints("perm", {0, 2, 1})});
  const auto scores =
      graph.node("Softmax", {graph.node("MatMul", {x, turned})}, {graph::integer("axis", -1)});
  const auto mixed = graph.node("Einsum", {scores, x}, {graph::text("equation", "bst,btc->bsc")});
  const auto flat = graph.node("Reshape", {mixed, graph.list({0, -1})});
  graph.output(graph.node("ReduceMean", {flat}, {graph::ints("axes", {1})}), "output", kFloat,
               {symbolic("batch"), fixed(1)});
  return graph.build_bytes().value();
}

std::string external(std::int64_t offset) {
  graph::GraphBuilder graph("external", 17, 1);
  const auto x = graph.input("x", kFloat, {fixed(1), fixed(4)});
  const auto weight = graph.external_weight("w", kFloat, {4, 4}, "weights", offset);
  graph.output(graph.node("MatMul", {x, weight}), "y", kFloat, {fixed(1), fixed(4)});
  return graph.build_bytes().value();
}

std::string shapes() {
  graph::GraphBuilder graph("shapes", 17, 1);
  const auto x = graph.input("x", kFloat, {symbolic("N"), symbolic("c"), fixed(6)});
  const auto shape = graph.node("Shape", {x});
  const auto first = graph.node("Slice", {shape, graph.list({0}), graph.list({1})});
  const auto to = graph.node("Concat", {first, graph.list({2, 3, -1})}, {graph::integer("axis", 0)});
  const auto y = graph.node("Reshape", {x, to});
  const auto padded = graph.node("Pad", {y, graph.list({0, 0, 1, 0, 0, 0, 1, 0})});
  const auto pooled =
      graph.node("MaxPool", {padded}, {graph::ints("kernel_shape", {2, 2}), graph::ints("strides", {2, 2})});
  graph.output(
      graph.node("Resize", {pooled, {}, graph.weight("scales", {4}, std::vector<float>{1, 1, 2, 2})}), "y",
      kFloat, {symbolic("N"), fixed(2), symbolic("h"), symbolic("w")});
  return graph.build_bytes().value();
}

std::vector<Seed> seeds() {
  return {{"convolution", convolution(17)},
          {"convolution_9", convolution(9)},
          {"attention", attention()},
          {"external", external(0)},
          {"external_beyond", external(60)},
          {"shapes", shapes()},
          {"html", "<!DOCTYPE html><html></html>"}};
}

}  // namespace

const Target kModels{"models", "a model's file", survive, seeds};

}  // namespace deepgap::fuzz
