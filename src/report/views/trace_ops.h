// Ops in the findings of `trace`, for people and as JSON.
//
//   op      shapes                    count  time ms  share %  path  TFLOP/s  kind
//   conv2d  47x64x64x64 96x64x3x3         2    2.607    6.149  tf32     41.2  implicit_gemm
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "report/trace_findings.h"
#include "report/views/trace_answer.h"

namespace deepgap::report {

// The largest ones, and the rest in one line; nothing where no op computed. Their shares are of a step.
std::optional<Table> ops_table(const TraceFindings& findings, const TraceMean& mean);
// The name without its namespace and arguments: "conv2d", "vectorized_elementwise_kernel".
std::string short_name(const TraceFindings::Op& op);
// All of them.
nlohmann::ordered_json json_of_ops(const TraceFindings& findings);

}  // namespace deepgap::report
