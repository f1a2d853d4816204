// Which of the nested ops of a trace stands for a piece of work, so that two traces of one model name it
// alike:
//
//   aten::conv2d > aten::convolution > aten::_convolution > aten::cudnn_convolution     aten::conv2d
//   autograd::engine::evaluate_function: ... > ConvolutionBackward0 > aten::convolution_backward
//                                                                        aten::convolution_backward
//   aten::_native_multi_head_attention > aten::linear, aten::scaled_dot_product_attention, aten::linear
//                                                                        the three of them
//   aten::reshape > aten::clone > aten::copy_                               aten::clone
//   aten::reshape > aten::view                                              aten::reshape
//
// By names alone, never by what ran: the outermost op. But ranges that a program, autograd or a compiler puts
// around ops are none, and an op whose own work has no formula is taken apart where it holds products
// (convolution, matmul, attention) that have one; a view where it holds anything that has one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/timeline.h"

namespace deepgap::trace {

inline constexpr std::uint32_t kNoNode = kNoEvent;

// An op or a range that was recorded as one.
struct OpNode {
  std::uint32_t event = kNoEvent;
  std::uint32_t parent = kNoNode;  // what holds it, on its thread
  // What its work is counted to: itself or a node around it; of a range, none. That of an op that was taken
  // apart, or of a range without any op in it, is itself, for what it launches beside its parts.
  std::uint32_t owner = kNoNode;
  std::uint32_t module = 0;       // of DispatchOps::modules
  bool only_if_it_works = false;  // it owns what it launches itself; if that is nothing it is no op
};

struct DispatchOps {
  std::vector<OpNode> nodes;             // in the order of the events
  std::vector<std::uint32_t> enclosing;  // for each event that is a call which launched something: its node
  // "Encoder_0.Linear_3": from the profiler's records of nn.Module calls, or a range that is named like a
  // module. [0] is "": not known.
  std::vector<std::string> modules;
};

DispatchOps find_dispatch_ops(const Timeline& timeline);

}  // namespace deepgap::trace
