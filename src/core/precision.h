// Precisions and modes by the names that users type and JSON carries.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace deepgap {

// The arithmetic asked for or run. `fp32` is true FP32: TF32 is a precision of its own.
enum class Precision { kFp64, kFp32, kTf32, kFp16, kBf16, kInt8, kFp8E4M3, kFp8E5M2 };

// "fp64", "fp32", "tf32", "fp16", "bf16", "int8", "fp8-e4m3", "fp8-e5m2"
std::string_view name_of(Precision precision);
std::optional<Precision> parse_precision(std::string_view name);
std::span<const Precision> all_precisions();
// Bytes of one element as stored (TF32 is stored in 4).
int element_bytes(Precision precision);

// How calls are made: one at a time and waited for; in flight back to back over a window; arriving on a
// schedule of their own.
enum class Mode { kLatency, kThroughput, kServer };

// "latency", "throughput", "server"
std::string_view name_of(Mode mode);
std::optional<Mode> parse_mode(std::string_view name);
std::span<const Mode> all_modes();

}  // namespace deepgap
