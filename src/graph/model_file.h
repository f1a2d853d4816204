// From what a user typed to a file that engines can load: a built-in model is generated into the cache once,
// a file of the user's is checked and used in place.
//
//   materialise("resnet50", {}, 1, cache)   -> <cache>/models/resnet50-1-1.onnx
//   materialise("bert-base", {}, 1, cache)  -> <cache>/models/bert-base-1-1.onnx, dims {seq: 128}
//   materialise("mine.onnx", {{"seq", 64}}, 1, cache)  -> mine.onnx
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "graph/dims.h"
#include "graph/model.h"

namespace deepgap::graph {

// `model` holds the weights in memory (0.4 GB for bert-base): let go of it before measuring.
struct ModelFile {
  std::string path;
  std::string name;  // of a built-in model, or the stem of the user's file: what Workload::model holds
  std::string hash;  // of the content, external weights and their names included: Workload::model_hash
  Bytes size;        // likewise
  bool builtin = false;
  Dims dims;       // of the workload: what was given, standards of a built-in model filled in
  Dims open_dims;  // the part that the file leaves open: for analyse(), input_specs() and bind_dimensions()
  Model model;     // read and checked; dimensions still open
};

// `name_or_path`: a built-in model's name, else a path. A name without a slash or dot that is neither is an
// error with the nearest name. `seed` is that of the weights; files ignore it. Generated files are written
// atomically as
// `<cache_folder>/models/<name>-<generator version>-<seed>[-<structural dims>].onnx` with their size and hash
// beside them, and are made anew where these do not match. Errors: kUsage for unknown names and dims that do
// not fit the model (all open dimensions but the batch must have a size), kBadInput for bad files and a cache
// that cannot be written (full disk: how much is needed and how much is free).
Result<ModelFile> materialise(const std::string& name_or_path, const Dims& dims, std::uint64_t seed,
                              const std::string& cache_folder);

}  // namespace deepgap::graph
