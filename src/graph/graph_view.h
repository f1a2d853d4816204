// A model's main graph as plain data, for the parts of this module that count and ask and need no protobuf.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/model.h"
#include "ops/signature.h"

namespace deepgap::graph {

struct GraphNode {
  std::string name;  // unique
  std::string op_type;
  std::string domain;                 // "" is the standard one
  std::vector<std::string> inputs;    // "" is an optional one left out
  std::vector<std::string> outputs;   // likewise
  std::vector<std::string> captured;  // values of this graph that its subgraphs use
  std::map<std::string, std::vector<std::int64_t>> integers;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
  bool folded = false;  // depends on constants alone
};

struct GraphTensor {
  ops::DataType dtype = ops::DataType::kUnknown;
  std::optional<std::vector<Dim>> dims;
  bool constant = false;  // an initialiser, or computed from constants alone
  bool stored =
      false;  // an initialiser, or the output of Constant and ConstantOfShape: weights as the file has them

  // Every dimension, where all are known.
  std::optional<ops::Shape> shape() const;
  ops::TensorShape described() const;
};

struct GraphView {
  std::vector<GraphNode> nodes;  // in the order of execution
  std::unordered_map<std::string, GraphTensor> tensors;
  std::vector<TensorInfo> inputs;  // without initialisers
  std::vector<TensorInfo> outputs;

  const GraphTensor* find(const std::string& name) const;
};

GraphView view_of(const Model& model);

// The model with other dimensions on its inputs (all of them, in order), shapes inferred anew, weights left
// out: for questions about shapes. Errors (kUsage) say what contradicts. `symbols` gives sizes to symbols in
// the rest.
Result<GraphView> view_with_dims(const Model& model, const std::vector<std::vector<Dim>>& dims,
                                 const std::map<std::string, std::int64_t>& symbols);
// The same as a whole model, weights included.
Result<Model> model_with_dims(const Model& model, const std::vector<std::vector<Dim>>& dims,
                              const std::map<std::string, std::int64_t>& symbols);

// Parameters and bytes of weights as ModelSummary defines them.
struct Weights {
  std::int64_t parameters = 0;
  Bytes bytes;
};
Weights count_weights(const GraphView& view);

}  // namespace deepgap::graph
