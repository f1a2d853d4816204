// A model of a few hundred bytes, so that a worker can be tried without any other program:
// output = Relu(input x weight), input float32 [N, 8], weight [8, 4] seeded, output [N, 4].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/engine.h"

namespace deepgap::workers {

inline constexpr std::int64_t kTinyInputs = 8;
inline constexpr std::int64_t kTinyOutputs = 4;

// The bytes of the ONNX file (IR version 8, opset 13).
std::string tiny_onnx();
// Its weight, row by row.
std::vector<float> tiny_weight();
// Its input at a batch.
run::TensorSpec tiny_input(std::int64_t batch);

}  // namespace deepgap::workers
