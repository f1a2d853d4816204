// The built-in models: catalogue and generation. Each stands in one file under graph/builtin/.
//
//   name          input                           dims     parameters  GMAC
//   resnet50      input [batch, 3, 224, 224]               25.56 M     4.09
//   bert-base     input_ids [batch, seq], ...     seq=128  109.48 M    11.17
//
// Weights are seeded random numbers, scaled so that activations stay finite and neither vanish nor saturate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/dims.h"
#include "graph/model.h"

namespace deepgap::graph {

// A parameter of a built-in model: a dimension that stays open in the file ("seq"), or a size the graph is
// made with.
struct BuiltinParameter {
  std::string_view name;
  std::int64_t standard;     // what is taken where the user says nothing
  std::int64_t least, most;  // accepted, both included
  bool structural;           // true: the graph depends on it; false: an open dimension of the inputs
  std::string_view meaning;
};

struct BuiltinModel {
  std::string_view name;    // "resnet50"
  std::string_view title;   // "ResNet-50 v1.5, 224x224, 1000 classes"
  std::string_view inputs;  // "input float32 [batch, 3, 224, 224]"
  std::vector<BuiltinParameter> parameters;
  int generator_version;    // raised whenever the bytes change
  double parameter_count;   // published
  double multiply_adds;     // published, batch 1 at the standard parameters
  std::string_view source;  // of architecture and figures
  // The model's bytes; `dims` holds a value for every structural parameter.
  Result<std::string> (*generate)(const Dims& dims, std::uint64_t seed);
};

// In the order of the documentation.
std::span<const BuiltinModel* const> builtin_models();
const BuiltinModel* find_builtin(std::string_view name);
// `dims` completed with the standards of the model. Errors (kUsage): a name that it does not have, a size out
// of range.
Result<Dims> complete_dims(const BuiltinModel& model, const Dims& dims);

}  // namespace deepgap::graph
