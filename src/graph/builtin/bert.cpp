// BERT base, the encoder with its pooler (Devlin et al. 2018, arXiv 1810.04805; layers named as in Hugging
// Face transformers). Attention is written out, GELU is the exact one with Erf, layer normalisation the
// operator of opset 17.
#include <cmath>

#include "graph/builder.h"
#include "graph/builtin/models.h"

namespace deepgap::graph::builtin {
namespace {

constexpr std::int64_t kVocabulary = 30522;
constexpr std::int64_t kPositions = 512;
constexpr std::int64_t kTokenTypes = 2;
constexpr std::int64_t kHidden = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kHeadSize = kHidden / kHeads;
constexpr std::int64_t kInner = 3072;
constexpr int kLayers = 12;
constexpr auto kFloat = ops::DataType::kFloat32;
constexpr auto kInt64 = ops::DataType::kInt64;

Value linear(GraphBuilder& graph, const Value& x, std::int64_t in, std::int64_t out,
             const std::string& name) {
  const Value weight = graph.random_weight(name + ".weight", {in, out}, xavier_deviation(in, out));
  const Value bias = graph.random_weight(name + ".bias", {out}, 0.02);
  const Value product = graph.node("MatMul", {x, weight}, {}, name + ".matmul");
  return graph.node("Add", {product, bias}, {}, name);
}

Value normalised(GraphBuilder& graph, const Value& x, const std::string& name) {
  const Value scale = graph.uniform_weight(name + ".weight", {kHidden}, 0.9, 1.1);
  const Value offset = graph.random_weight(name + ".bias", {kHidden}, 0.02);
  return graph.node("LayerNormalization", {x, scale, offset},
                    {integer("axis", -1), number("epsilon", 1e-12F)}, name);
}

Value gelu(GraphBuilder& graph, const Value& x, const std::string& name) {
  Value y = graph.node("Div", {x, graph.scalar(std::sqrt(2.0F))}, {}, name + ".div");
  y = graph.node("Erf", {y}, {}, name + ".erf");
  y = graph.node("Add", {y, graph.scalar(1)}, {}, name + ".add");
  y = graph.node("Mul", {x, y}, {}, name + ".mul");
  return graph.node("Mul", {y, graph.scalar(0.5F)}, {}, name);
}

// [batch, seq, hidden] to [batch, heads, seq, size], or transposed for the keys.
Value heads(GraphBuilder& graph, const Value& x, const std::vector<std::int64_t>& order,
            const std::string& name) {
  const Value split =
      graph.node("Reshape", {x, graph.list({0, 0, kHeads, kHeadSize})}, {}, name + ".reshape");
  return graph.node("Transpose", {split}, {ints("perm", order)}, name + ".transpose");
}

Value attention(GraphBuilder& graph, const Value& x, const Value& mask, const std::string& name) {
  const std::string self = name + ".self";
  const Value query =
      heads(graph, linear(graph, x, kHidden, kHidden, self + ".query"), {0, 2, 1, 3}, self + ".q");
  const Value key =
      heads(graph, linear(graph, x, kHidden, kHidden, self + ".key"), {0, 2, 3, 1}, self + ".k");
  const Value value =
      heads(graph, linear(graph, x, kHidden, kHidden, self + ".value"), {0, 2, 1, 3}, self + ".v");
  Value scores = graph.node("MatMul", {query, key}, {}, self + ".scores");
  scores = graph.node("Div", {scores, graph.scalar(std::sqrt(static_cast<float>(kHeadSize)))}, {},
                      self + ".scale");
  scores = graph.node("Add", {scores, mask}, {}, self + ".mask");
  const Value weights = graph.node("Softmax", {scores}, {integer("axis", -1)}, self + ".softmax");
  Value context = graph.node("MatMul", {weights, value}, {}, self + ".context");
  context = graph.node("Transpose", {context}, {ints("perm", {0, 2, 1, 3})}, self + ".context.transpose");
  context = graph.node("Reshape", {context, graph.list({0, 0, kHidden})}, {}, self + ".context.reshape");
  const Value projected = linear(graph, context, kHidden, kHidden, name + ".output.dense");
  const Value sum = graph.node("Add", {projected, x}, {}, name + ".output.add");
  return normalised(graph, sum, name + ".output.LayerNorm");
}

Value layer(GraphBuilder& graph, Value x, const Value& mask, const std::string& name) {
  x = attention(graph, x, mask, name + ".attention");
  Value inner = linear(graph, x, kHidden, kInner, name + ".intermediate.dense");
  inner = gelu(graph, inner, name + ".intermediate.gelu");
  const Value projected = linear(graph, inner, kInner, kHidden, name + ".output.dense");
  const Value sum = graph.node("Add", {projected, x}, {}, name + ".output.add");
  return normalised(graph, sum, name + ".output.LayerNorm");
}

struct Inputs {
  Value ids, mask, types;
};

Value embeddings(GraphBuilder& graph, const Inputs& inputs) {
  const std::string name = "embeddings";
  const Value words = graph.random_weight(name + ".word_embeddings.weight", {kVocabulary, kHidden}, 1.0);
  const Value positions =
      graph.random_weight(name + ".position_embeddings.weight", {kPositions, kHidden}, 0.3);
  const Value types =
      graph.random_weight(name + ".token_type_embeddings.weight", {kTokenTypes, kHidden}, 0.3);
  const Value word =
      graph.node("Gather", {words, inputs.ids}, {integer("axis", 0)}, name + ".word_embeddings");
  const Value type =
      graph.node("Gather", {types, inputs.types}, {integer("axis", 0)}, name + ".token_type_embeddings");
  // The first `seq` rows of the positions.
  const Value shape =
      graph.node("Shape", {inputs.ids}, {integer("start", 1), integer("end", 2)}, name + ".seq");
  const Value position = graph.node("Slice", {positions, graph.list({0}), shape, graph.list({0})}, {},
                                    name + ".position_embeddings");
  Value sum = graph.node("Add", {word, type}, {}, name + ".add1");
  sum = graph.node("Add", {sum, position}, {}, name + ".add2");
  return normalised(graph, sum, name + ".LayerNorm");
}

// 0 where attended, -10000 where masked, [batch, 1, 1, seq].
Value additive_mask(GraphBuilder& graph, const Value& mask) {
  Value wide = graph.node("Unsqueeze", {mask, graph.list({1, 2})}, {}, "mask.unsqueeze");
  constexpr std::int64_t kOnnxFloat = 1;
  wide = graph.node("Cast", {wide}, {integer("to", kOnnxFloat)}, "mask.cast");
  wide = graph.node("Sub", {graph.scalar(1), wide}, {}, "mask.invert");
  return graph.node("Mul", {wide, graph.scalar(-10000)}, {}, "mask");
}

Result<std::string> bert_base(const Dims&, std::uint64_t seed) {
  GraphBuilder graph("bert-base", 17, seed);
  const std::vector<Dim> tokens = {symbolic("batch"), symbolic("seq")};
  const Inputs inputs = {graph.input("input_ids", kInt64, tokens),
                         graph.input("attention_mask", kInt64, tokens),
                         graph.input("token_type_ids", kInt64, tokens)};
  const Value mask = additive_mask(graph, inputs.mask);
  Value x = embeddings(graph, inputs);
  for (int i = 0; i < kLayers; ++i) x = layer(graph, x, mask, "encoder.layer." + std::to_string(i));
  const Value first =
      graph.node("Gather", {x, graph.integers("pooler.first_token", {}, std::vector<std::int64_t>{0})},
                 {integer("axis", 1)}, "pooler.token");
  const Value pooled =
      graph.node("Tanh", {linear(graph, first, kHidden, kHidden, "pooler.dense")}, {}, "pooler");
  graph.output(x, "last_hidden_state", kFloat, {symbolic("batch"), symbolic("seq"), fixed(kHidden)});
  graph.output(pooled, "pooler_output", kFloat, {symbolic("batch"), fixed(kHidden)});
  return graph.build_bytes();
}

}  // namespace

const BuiltinModel kBertBase = {"bert-base",
                                "BERT base encoder with pooler, 12 layers, hidden 768",
                                "input_ids, attention_mask, token_type_ids int64 [batch, seq]",
                                {{"seq", 128, 1, kPositions, false, "tokens in a sequence"}},
                                1,
                                109'482'240.0,
                                11.174e9,
                                "parameters: Hugging Face bert-base-uncased; multiply-adds: 12 b s h^2 (1 + "
                                "s / (6 h)) a layer, half the FLOPs of "
                                "Narayanan et al. 2021, arXiv 2104.04473, and the pooler",
                                bert_base};

}  // namespace deepgap::graph::builtin
