// What a model costs before it runs: work and size of each node, totals, and the memory that a batch will
// take.
//
//   resnet50, batch 8:  65.7 GFLOP (32.7 GMAC in convolutions and products), 25.56 M parameters (102.2 MB),
//                       activations 1.41 GB in all, 77.1 MB at the peak
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/dims.h"
#include "graph/model.h"
#include "ops/cost.h"

namespace deepgap::graph {

struct NodeSummary {
  std::string
      name;  // unique: the node's own, else its type and number ("Conv_3"; "conv1#2" where names repeat)
  std::string op_type;  // "Conv"; with its domain where that is not the standard one
  std::optional<ops::OpClass> op_class;
  std::vector<ops::TensorShape> inputs;
  std::vector<ops::TensorShape> outputs;
  ops::Cost cost;
  bool folded = false;  // depends on constants alone: engines compute it once, at load; its cost is zero
};

struct ModelSummary {
  std::int64_t batch = 1;
  std::vector<NodeSummary> nodes;  // in the order of execution
  std::vector<TensorInfo> inputs, outputs;

  // Elements of weights, each counted once however often it is used, as papers count them: without running
  // means and variances of BatchNormalization, without single numbers (constants of formulas, scales) and
  // without integers of 16 bits and more (indices, shapes). Weights of 8 and fewer bits count.
  std::int64_t parameters = 0;
  // All constants as stored, those left out above included.
  Bytes parameter_bytes;

  std::optional<Flops> flops;  // absent while the FLOPs of some node are not known
  Flops known_flops;           // of the nodes that are known
  Flops contraction_flops;     // of convolutions, products, attention; half of it is the published "MAC"
  std::optional<Bytes> bytes;  // compulsory traffic: read + written over all nodes
  std::vector<std::string> unknown;  // nodes whose cost is not known, as "name (type)"

  // Outputs of all nodes that hold data of their own (views and constants do not), graph outputs included.
  std::optional<Bytes> activation_bytes;
  // The most that is alive at once when nodes run in order and each tensor is freed after its last reader:
  // graph inputs and outputs included, workspaces of the engine not.
  std::optional<Bytes> peak_activation_bytes;

  // parameter_bytes + peak_activation_bytes: the least that a process needs, to predict whether a batch fits.
  std::optional<Bytes> least_memory() const;
  // FLOPs by class, of the nodes that are known.
  std::map<ops::OpClass, Flops> flops_by_class() const;
};

// Binds the dimensions (errors as bind_dimensions) and adds up.
Result<ModelSummary> analyse(const Model& model, std::int64_t batch, const Dims& dims = {});

}  // namespace deepgap::graph
