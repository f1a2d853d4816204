// The dimensions that a model leaves open: which is the batch, and what a user must say about the others.
//
//   free_dimensions(bert) ->  batch  (batch: input_ids axis 0, attention_mask axis 0)
//                             seq    (input_ids axis 1, attention_mask axis 1)
//   bind_dimensions(bert, {{"seq", 128}})            static but for the batch
//   bind_dimensions(bert, {{"seq", 128}}, 8)         static
//   bind_dimensions(bert, {})  error: model has open dimensions besides the batch: seq (input_ids axis 1,
//   ...);
//                              give each a size, as in --dim seq=128
//
// Which dimension is the batch:
//   1. Every open dimension of an input whose symbol is a usual name of it (N, batch, batch_size, bs, ...),
//   any axis.
//   2. Where no symbol is: the first dimension of the first input whose first dimension is open, by its
//   symbol.
//   3. Unnamed first dimensions of inputs count with it in either case.
// A size given in --dim to a symbol that only rule 2 took makes it an ordinary dimension (frames of a video,
// say). A model whose first dimension is fixed has a fixed batch: the first dimension of its first input that
// has one. An unnamed open dimension is called after its place: "input.2" is axis 2 of `input`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/model.h"

namespace deepgap::graph {

// Sizes by dimension name, as `--dim name=size` gives them.
using Dims = std::map<std::string, std::int64_t>;

struct FreeDimension {
  struct Place {
    std::string input;
    int axis = 0;
  };
  std::string
      name;  // the symbol, or "INPUT.AXIS"; the batch is called by its symbol, "batch" where it has none
  std::vector<Place> places;
  bool is_batch = false;

  // "seq (input_ids axis 1, attention_mask axis 1)"
  std::string describe() const;
};

// The open dimensions of the model's inputs: the batch first, then in the order of inputs and axes.
std::vector<FreeDimension> free_dimensions(const Model& model, const Dims& dims = {});

// The only batch that a model takes, when its batch is not open; nothing for a dynamic batch.
std::optional<std::int64_t> fixed_batch(const Model& model, const Dims& dims = {});

// A copy in which every input dimension is a number, but for the batch where `batch` is absent; shapes are
// inferred anew. Inputs without a shape are kBadInput; other errors (kUsage) list the dimensions that lack a
// size, name those that the model does not have, and say which batch a model with a fixed one takes.
Result<Model> bind_dimensions(const Model& model, const Dims& dims, std::optional<std::int64_t> batch = {});

}  // namespace deepgap::graph
