// Makes ONNX graphs in code: built-in models, test models, the nodes that passes insert.
//
//   GraphBuilder graph("tiny", 17, /*seed=*/1);
//   Value x = graph.input("input", DataType::kFloat32, {symbolic("batch"), fixed(3), fixed(8), fixed(8)});
//   Value w = graph.random_weight("conv.weight", {16, 3, 3, 3}, he_deviation(3 * 3 * 3));
//   x = graph.node("Conv", {x, w}, {ints("pads", {1, 1, 1, 1})}, "conv");
//   graph.output(graph.node("Relu", {x}), "output", DataType::kFloat32, {symbolic("batch"), fixed(16),
//   fixed(8), fixed(8)}); DEEPGAP_ASSIGN(Model model, graph.build());
//
// The bytes depend on the calls and the seed alone: weights are drawn from a generator of their own (named
// after the weight, so that adding one does not change the others) in integer arithmetic, the same on every
// platform.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/model.h"
#include "ops/data_type.h"

namespace deepgap::graph {

// A tensor in the graph under construction, by name; empty() is an optional input that is left out.
struct Value {
  std::string name;
  bool empty() const { return name.empty(); }
};

struct Attribute {
  enum class Kind { kInt, kInts, kFloat, kFloats, kText };
  std::string name;
  Kind kind = Kind::kInt;
  std::vector<std::int64_t> integers;
  std::vector<float> numbers;
  std::string text;
};
Attribute integer(std::string name, std::int64_t value);
Attribute ints(std::string name, std::vector<std::int64_t> values);
Attribute number(std::string name, float value);
Attribute numbers(std::string name, std::vector<float> values);
Attribute text(std::string name, std::string value);

// Standard deviation sqrt(2 / fan_in) that keeps the variance through a ReLU layer (He et al. 2015, arXiv
// 1502.01852).
double he_deviation(std::int64_t fan_in);
// sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010).
double xavier_deviation(std::int64_t fan_in, std::int64_t fan_out);

class GraphBuilder {
 public:
  GraphBuilder(std::string name, std::int64_t opset, std::uint64_t seed);
  GraphBuilder(GraphBuilder&&) noexcept;
  GraphBuilder& operator=(GraphBuilder&&) noexcept;
  ~GraphBuilder();

  // Declares a further operator set, for nodes() of its domain.
  void use_domain(const std::string& domain, std::int64_t version);

  Value input(const std::string& name, ops::DataType dtype, const std::vector<Dim>& dims);
  // Renames the value to `name` and makes it an output.
  void output(const Value& value, const std::string& name, ops::DataType dtype, const std::vector<Dim>& dims);

  // Weights with given values (float32, int64); sizes must match the shape, else build() fails.
  Value weight(const std::string& name, const std::vector<std::int64_t>& shape,
               std::span<const float> values);
  Value integers(const std::string& name, const std::vector<std::int64_t>& shape,
                 std::span<const std::int64_t> values);
  // A float32 scalar, an int64 list: constants of formulas and shapes, shared where equal.
  Value scalar(float value);
  Value list(std::vector<std::int64_t> values);
  // Bytes of any type, little-endian, dense.
  Value raw_weight(const std::string& name, ops::DataType dtype, const std::vector<std::int64_t>& shape,
                   std::string bytes);
  // Float32 weights, approximately normal: the sum of four uniform 16-bit numbers (Irwin-Hall; exact mean and
  // variance, bounded at 3.46 deviations). One 64-bit random number makes one weight: 110 million take half a
  // second.
  Value random_weight(const std::string& name, const std::vector<std::int64_t>& shape, double deviation,
                      double mean = 0);
  // Float32 weights, uniform in [lower, upper).
  Value uniform_weight(const std::string& name, const std::vector<std::int64_t>& shape, double lower,
                       double upper);

  // A weight that stands in another file beside the model; that file is the caller's to write.
  Value external_weight(const std::string& name, ops::DataType dtype, const std::vector<std::int64_t>& shape,
                        const std::string& location, std::int64_t offset);

  // One node; `name` names it and its output ("" makes one up from the type and a number). Nodes of several
  // outputs: nodes(). The domain is the standard one unless given.
  Value node(const std::string& op_type, const std::vector<Value>& inputs,
             const std::vector<Attribute>& attributes = {}, const std::string& name = "");
  std::vector<Value> nodes(const std::string& op_type, const std::vector<Value>& inputs, std::size_t outputs,
                           const std::vector<Attribute>& attributes = {}, const std::string& name = "",
                           const std::string& domain = "");

  // The model, checked and with shapes inferred; the first mistake of the calls above is the error
  // (kInternal). The builder is empty afterwards.
  Result<Model> build();
  // The same bytes without the check: for models on their way to a file, and for broken ones in tests.
  Result<std::string> build_bytes();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deepgap::graph
