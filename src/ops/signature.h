// One call of an operator, as neutral data: what an ONNX node, an ATen call in a trace and a layer of an
// engine have in common. cost.h counts its work.
//
//   OpSignature conv{FrontEnd::kOnnx, "Conv"};
//   conv.inputs = {tensor(DataType::kFloat32, {8, 3, 224, 224}), weight(DataType::kFloat32, {64, 3, 7, 7})};
//   conv.outputs = {tensor(DataType::kFloat32, {8, 64, 112, 112})};
//   conv.integers["strides"] = {2, 2};
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/data_type.h"
#include "ops/op_class.h"

namespace deepgap::ops {

using Shape = std::vector<std::int64_t>;

struct TensorShape {
  DataType dtype = DataType::kUnknown;
  std::optional<Shape> dims;  // every dimension known, or absent
  bool constant = false;      // a weight: the same bytes at each call
  bool present = true;        // false: an optional input that was left out

  // Elements: 1 for a scalar; nothing where the shape is not known or the product overflows.
  std::optional<std::int64_t> elements() const;
  std::optional<Bytes> bytes() const;
};

TensorShape tensor(DataType dtype, Shape dims);
TensorShape weight(DataType dtype, Shape dims);

struct OpSignature {
  FrontEnd front_end = FrontEnd::kOnnx;
  std::string name;                 // as its front end spells it
  std::vector<TensorShape> inputs;  // in the operator's order
  std::vector<TensorShape>
      outputs;  // empty: not recorded (ATen traces); the cost infers the first where it can
  // Attributes by the front end's own names: "strides" (ONNX) or "stride" (ATen), "group" or "groups", ...
  std::map<std::string, std::vector<std::int64_t>> integers;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;

  // The first of `names` that is there, or nothing.
  const std::vector<std::int64_t>* find_integers(std::initializer_list<const char*> names) const;
  std::int64_t integer(std::initializer_list<const char*> names, std::int64_t otherwise) const;
};

}  // namespace deepgap::ops
