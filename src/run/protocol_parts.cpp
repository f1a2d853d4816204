#include "run/protocol_parts.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace deepgap::run {

using nlohmann::json;

std::optional<std::size_t> dtype_size(std::string_view dtype) {
  struct Entry {
    std::string_view dtype;
    std::size_t size;
  };
  static constexpr std::array<Entry, 15> kSizes{{{"float32", 4},
                                                 {"float16", 2},
                                                 {"bfloat16", 2},
                                                 {"float64", 8},
                                                 {"int8", 1},
                                                 {"uint8", 1},
                                                 {"int16", 2},
                                                 {"uint16", 2},
                                                 {"int32", 4},
                                                 {"uint32", 4},
                                                 {"int64", 8},
                                                 {"uint64", 8},
                                                 {"bool", 1},
                                                 {"float8e4m3fn", 1},
                                                 {"float8e5m2", 1}}};
  for (const auto& entry : kSizes)
    if (entry.dtype == dtype) return entry.size;
  return std::nullopt;
}

json json_of_tensor(const TensorSpec& spec) {
  return {{"name", spec.name}, {"dtype", spec.dtype}, {"shape", spec.shape}};
}

TensorSpec tensor_of(Fields& fields) {
  TensorSpec spec;
  spec.name = fields.text("name");
  spec.dtype = fields.text("dtype");
  spec.shape = fields.integers("shape");
  for (const auto extent : spec.shape)
    if (extent < 0) fields.fail("'shape' to have no negative number", std::to_string(extent));
  spec.low = fields.optional_number("low").value_or(spec.low);
  spec.high = fields.optional_number("high").value_or(spec.high);
  return spec;
}

json json_of_tensors(const std::vector<Tensor>& tensors, std::vector<Blob>& blobs) {
  json list = json::array();
  for (const auto& tensor : tensors) {
    list.push_back(json_of_tensor(tensor.spec));
    blobs.push_back({tensor.spec.name, ElementType::kBytes, tensor.bytes});
  }
  return list;
}

std::vector<Tensor> tensors_of(Fields& fields, const char* name, std::vector<Blob> blobs) {
  std::vector<Tensor> tensors;
  fields.each(name, true, [&](Fields& entry) { tensors.push_back({tensor_of(entry), {}}); });
  if (tensors.size() != blobs.size()) {
    fields.fail(fmt::format("a blob for each of the {} tensors of '{}'", tensors.size(), name),
                std::to_string(blobs.size()));
    return {};
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto size = dtype_size(tensors[i].spec.dtype);
    std::size_t bytes = size.value_or(0);
    bool fits = true;
    for (const auto extent : tensors[i].spec.shape)
      fits = fits && !__builtin_mul_overflow(bytes, static_cast<std::size_t>(extent), &bytes);
    if (size && (!fits || bytes != blobs[i].bytes.size()))
      fields.fail(
          fmt::format("the tensor '{}' to have {} bytes as its shape and type say",
                      printable(tensors[i].spec.name, 60), fits ? std::to_string(bytes) : "countless"),
          std::to_string(blobs[i].bytes.size()));
    tensors[i].bytes = std::move(blobs[i].bytes);
  }
  return tensors;
}

json json_of_ceiling(const Ceiling& ceiling) {
  return {{"quantity", ceiling.quantity},
          {"value", ceiling.value},
          {"unit", std::string(name_of(ceiling.unit))},
          {"origin", std::string(name_of(ceiling.origin))},
          {"note", ceiling.note}};
}

Ceiling ceiling_of(Fields& fields) {
  Ceiling ceiling;
  ceiling.quantity = fields.text("quantity");
  ceiling.value = fields.number("value");
  ceiling.unit = named(fields, "unit", parse_unit, "the units of docs/metrics.md");
  ceiling.origin = Origin::kMeasured;
  if (const auto origin = fields.optional_text("origin")) {
    const auto parsed = parse_origin(*origin);
    if (!parsed)
      fields.fail("'origin' to be datasheet, probe or measured", "'" + printable(*origin, 60) + "'");
    ceiling.origin = parsed.value_or(Origin::kMeasured);
  }
  ceiling.note = fields.optional_text("note").value_or("");
  return ceiling;
}

}  // namespace deepgap::run
