// Weights that a model keeps in other files: found, checked against their tensors, read.
#pragma once

#include <set>
#include <string>

#include "graph/onnx_model.h"

namespace deepgap::graph {

// Checks every external tensor: its file lies in `folder` (a relative path without ".."; where a link leads
// is the user's business), is there, and is long enough. Small tensors are read into the model, since shape
// inference may need their values. Gives the files' names. Errors name tensor, file and remedy.
Result<std::set<std::string>> check_external_data(onnx::ModelProto& proto, const std::string& folder);

// Reads all external tensors into the model.
Result<void> load_external_data(onnx::ModelProto& proto, const std::string& folder);

}  // namespace deepgap::graph
