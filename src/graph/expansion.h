// How large a model becomes, counted before anything is expanded. Once its local functions are inlined: a
// file of 2 kB whose functions call each other twice, 30 deep, stands for a thousand million nodes.
//
//   DEEPGAP_RETURN_IF_ERROR(check_expansion(proto));   // then onnx::inliner::InlineLocalFunctions
#pragma once

#include <cstdint>

#include "base/result.h"
#include "onnx/onnx_pb.h"

namespace deepgap::graph {

// Of all nodes, those of subgraphs and each call itself included. The largest models exported today stay
// below a tenth of it; inlining and inference of so many take some ten seconds.
inline constexpr std::int64_t kMostExpandedNodes = 200'000;
// Calls within calls: exporters make a function a module of the network, some ten levels.
inline constexpr int kDeepestCalls = 200;

// Errors (kBadInput) say how many nodes, bytes or levels of calls there would be and how many are taken. A
// model without functions passes whatever its size. Functions that call themselves are left to ONNX's
// checker.
Result<void> check_expansion(const onnx::ModelProto& proto);

// Dimensions beyond the eighth, of all values together.
inline constexpr std::int64_t kMostDimensions = 1'000'000;

// Inference copies the names that a subgraph sees, for each subgraph: 5000 branches in a row see half of
// this, which takes a quarter of a minute.
inline constexpr std::int64_t kMostNamesSeen = 50'000'000;

// What shape inference would have to hold. Errors (kBadInput) where nodes that add dimensions to each other's
// values may give more than that (a Gather with itself as its indices doubles them), or subgraphs see too
// many names. Of a model whose functions are inlined.
Result<void> check_inference(const onnx::ModelProto& proto);

}  // namespace deepgap::graph
