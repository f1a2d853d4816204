// Pieces that several messages of the protocol share, to and from JSON. Only for protocol_*.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/json_fields.h"
#include "run/protocol.h"

namespace deepgap::run {

template <typename T>
nlohmann::json json_or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}
inline nlohmann::json json_or_null(const std::optional<Nanoseconds>& value) {
  return value ? nlohmann::json(value->count()) : nlohmann::json();
}

nlohmann::json json_of_tensor(const TensorSpec& spec);
TensorSpec tensor_of(Fields& fields);

// Tensors and the blobs of their bytes, in the same order.
nlohmann::json json_of_tensors(const std::vector<Tensor>& tensors, std::vector<Blob>& blobs);
// Pairs the listed tensors with the message's blobs; a wrong number or size is an error of `fields`.
std::vector<Tensor> tensors_of(Fields& fields, const char* name, std::vector<Blob> blobs);

nlohmann::json json_of_ceiling(const Ceiling& ceiling);
Ceiling ceiling_of(Fields& fields);

// The bytes of an element of an ONNX type; nothing for one that is not known (or has no fixed size).
std::optional<std::size_t> dtype_size(std::string_view dtype);

// Text that is one of a catalogue's names, or an error that lists what it may be.
template <typename T>
T named(Fields& fields, const char* name, std::optional<T> (*parse)(std::string_view), const char* choices) {
  const std::string text = fields.text(name);
  if (const auto value = parse(text)) return *value;
  if (fields.ok()) fields.fail("'" + std::string(name) + "' to be one of " + choices, "'" + text + "'");
  return T{};
}

}  // namespace deepgap::run
