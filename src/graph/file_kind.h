// What a file is that was expected to be an ONNX model, told from its first bytes, so that the error can say.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace deepgap::graph {

// "an HTML page (a download that failed?)", "a zip archive, as PyTorch writes (.pt)"; nothing for bytes that
// may be ONNX.
std::optional<std::string> foreign_kind(std::string_view bytes);

// Walks the outermost fields of the protobuf message: "it ends after 1000 of at least 5000 bytes
// (truncated)", "field 900 at byte 17 is none of an ONNX model"; nothing where they are those of a
// ModelProto.
std::optional<std::string> outer_damage(std::string_view bytes);

}  // namespace deepgap::graph
