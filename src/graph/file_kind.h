// A model's file before protobuf sees it: read, and told from other kinds by its first bytes, so that the
// error can say what it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace deepgap::graph {

// What it is and what to do: "a gzip archive: unpack it"; nothing for bytes that may be ONNX.
std::optional<std::string> foreign_kind(std::string_view bytes);

// Walks the outermost fields of the protobuf message: "expected an ONNX model of at least 5000 bytes, found
// 1000: it is truncated", "expected an ONNX model, found 1000 bytes of which byte 17 begins none of its
// fields: it is damaged"; nothing where they are those of a ModelProto.
std::optional<std::string> outer_damage(std::string_view bytes);

// The bytes of a file that may be a model: errors for what is no file, and for one that is too large to be
// read.
Result<std::string> read_model_bytes(const std::string& path);
// As long as an ONNX file may be: protobuf's limit for one message.
inline constexpr std::uintmax_t kMostModelBytes = (std::uintmax_t{1} << 31) - 1;
// "expected an ONNX model of at most 2147483647 bytes (below 2 GiB), found 2147483648: save its weights ..."
Error too_large(std::uintmax_t size);
// The folder of a file, "." for a bare name.
std::string folder_of(const std::string& path);

}  // namespace deepgap::graph
