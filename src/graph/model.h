// An ONNX model in memory: read and checked, written, asked about. The one type that passes of this module
// work on.
//
//   DEEPGAP_ASSIGN(Model model, read_model("resnet50.onnx"));
//   model.info().opset                      // 17
//   model.info().inputs[0]                  // input float32 [batch, 3, 224, 224]
//
// Reading is where a bad file is found: empty, truncated, HTML, another format, an opset or IR version newer
// than this build knows, an operator that its opset lacks, external weights that are missing or outside the
// model's folder, above 2 GiB, inconsistent shapes. Each is one sentence. What was read has passed ONNX's own
// checker, its local functions are inlined, and shapes are inferred as far as the model determines them.
//
// ONNX's and protobuf's headers stay inside the .cpp files of src/graph (graph/onnx_model.h is theirs alone).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "ops/data_type.h"

namespace deepgap::graph {

// One dimension: a size, or a symbol ("batch"), or neither (dynamic and unnamed).
struct Dim {
  std::optional<std::int64_t> size;
  std::string symbol;

  bool operator==(const Dim&) const = default;
};

inline Dim fixed(std::int64_t size) {
  return {size, ""};
}
inline Dim symbolic(std::string symbol) {
  return {std::nullopt, std::move(symbol)};
}

struct TensorInfo {
  std::string name;
  ops::DataType dtype = ops::DataType::kUnknown;
  std::optional<std::vector<Dim>> dims;  // absent: not even the rank is known

  // "input float32 [batch, 3, 224, 224]"; "?" for an unnamed dimension.
  std::string describe() const;
};

struct ModelInfo {
  std::string name;      // of the graph
  std::string producer;  // "pytorch 2.4.0"; "" where the file does not say
  std::int64_t ir_version = 0;
  std::int64_t opset = 0;                       // of the standard domain
  std::map<std::string, std::int64_t> domains;  // other operator sets: "com.microsoft" -> 1
  std::vector<TensorInfo> inputs;               // without initialisers
  std::vector<TensorInfo> outputs;
  std::int64_t nodes = 0;                     // of the main graph, functions inlined
  std::int64_t parameters = 0;                // as ModelSummary counts them
  Bytes parameter_bytes;                      // likewise
  std::vector<std::string> custom_operators;  // "com.microsoft.QAttention": of domains this build has no
                                              // schemas for; an engine may know them, their cost is not known
  std::vector<std::string> external_files;    // relative to the model's folder, sorted
  std::vector<std::string> remarks;           // what is odd but no error: node names that occur twice, shapes
                                              // that ONNX's inference finds inconsistent
};

class Model {
 public:
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();
  Model clone() const;  // passes take a clone and edit it

  ModelInfo info() const;
  // The file's bytes, the same for the same model on every platform. Above 2 GiB: an error that says what to
  // do.
  Result<std::string> serialise() const;
  // Writes atomically. Weights that were external are written inside, or are an error where that exceeds 2
  // GiB.
  Result<void> save(const std::string& path) const;

  struct Representation;  // graph/onnx_model.h, for this module's .cpp files
  explicit Model(std::unique_ptr<Representation> representation);
  Representation& representation() { return *representation_; }
  const Representation& representation() const { return *representation_; }

 private:
  std::unique_ptr<Representation> representation_;
};

struct ReadOptions {
  // Where external weights are looked for; read_model() sets it to the file's folder. Empty: they are an
  // error.
  std::string folder;
};

// The oldest and newest opset of the standard domain that are read.
std::int64_t oldest_opset();
std::int64_t newest_opset();

// Reads and checks a file. Errors are kBadInput and name the path, what was found and what to do.
Result<Model> read_model(const std::string& path);
// The same for bytes at hand; `where` stands in errors for the path.
Result<Model> parse_model(std::string_view bytes, const std::string& where, const ReadOptions& options = {});

}  // namespace deepgap::graph
