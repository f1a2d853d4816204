// One operator or kernel interval, as any front end gives it: a trace, a per-op table of an engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "core/precision.h"

namespace deepgap {

enum class OpRole { kOp, kRuntimeCall, kKernel, kCopy, kMemset, kSynchronisation, kAnnotation };

struct OpRecord {
  std::string name;  // "aten::conv2d", "Convolution", a kernel's name
  OpRole role = OpRole::kOp;
  std::string op_class;  // name of an ops::OpClass; "" unknown
  std::vector<std::vector<std::int64_t>> shapes;
  std::vector<std::string> dtypes;
  std::string module_path;  // "layer1.0.conv1"
  Nanoseconds start_at{};
  Nanoseconds duration{};
  std::string lane;                         // thread or stream
  std::optional<std::int64_t> parent;       // index among the records of the same trace
  std::optional<std::int64_t> correlation;  // joins launch and kernel
  std::optional<Flops> flops;
  std::optional<Bytes> bytes;
  std::optional<Precision> precision_path;  // the arithmetic that ran
};

}  // namespace deepgap
