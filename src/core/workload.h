// What is computed, and the key of a cell: workload, device and engine.
//
//   resnet50/openvino/cpu/int8/b8               a selector of one cell (mode latency)
//   resnet*/openvino/cpu/*/b8/throughput        of several
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/precision.h"

namespace deepgap {

// A model with its shapes, batch, precision, concurrency and mode; nothing about where it runs.
struct Workload {
  std::string model;                         // name of a built-in model, or the stem of the user's file
  std::string model_hash;                    // content hash of the ONNX file (base/hash.h)
  std::map<std::string, std::int64_t> dims;  // named dimensions besides batch, e.g. {"seq": 128}
  std::int64_t batch = 1;
  Precision precision = Precision::kFp32;
  Mode mode = Mode::kLatency;

  auto operator<=>(const Workload&) const = default;
};

// The largest batch that a run takes and a store holds.
inline constexpr std::int64_t kLargestBatch = 1'000'000;

// "image=224 seq=128": the sizes besides the batch; "" for none.
std::string dims_text(const Workload& workload);

// What one cell of a sweep is.
struct CellKey {
  Workload workload;
  std::string engine;  // "openvino"
  std::string device;  // address: "cpu"

  auto operator<=>(const CellKey&) const = default;
  // "resnet50/openvino/cpu/int8/b8", with "/throughput" where the mode is not latency.
  std::string selector() const;
};

// A pattern of cells; each part may hold * and ? wildcards. The device part matches address, name or alias.
struct Selector {
  std::string model = "*";
  std::string engine = "*";
  std::string device = "*";
  std::string precision = "*";
  std::string batch = "*";  // "b8" or "8" or a pattern
  std::string mode = "latency";

  // Five or six parts between slashes, or "*" alone: every cell of every mode. Errors (kUsage) say what a
  // selector looks like; a precision or mode without a wildcard must be a known one.
  static Result<Selector> parse(std::string_view text);
  // Whether text has the shape of a selector, also of an incomplete one, rather than of an id or a path: it
  // has a slash or a wildcard and does not begin with /, ./, ../ or ~.
  static bool looks_like(std::string_view text);
  bool matches(const CellKey& key, std::string_view device_name,
               const std::vector<std::string>& device_aliases) const;
};

// Shell-like pattern match of * and ?, case sensitive.
bool wildcard_match(std::string_view pattern, std::string_view text);

}  // namespace deepgap
