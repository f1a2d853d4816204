// The ops of a trace with what each put on the device: what a time is said of, and what two traces are
// aligned by.
//
//   DEEPGAP_ASSIGN(const TracedOps traced, trace_ops(timeline, steps, attribution));
//   for (const TracedOp& op : traced.ops) ... timeline.texts[timeline.events[op.event].name], op.charge_ns
//   ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "core/precision.h"
#include "ops/kernel_name.h"
#include "ops/op_class.h"
#include "trace/attribution.h"
#include "trace/steps.h"
#include "trace/time_shares.h"
#include "trace/timeline.h"

namespace deepgap::trace {

inline constexpr std::uint32_t kNoStep = 0xffffffff;

// A dispatch op (dispatch_ops.h), or a kernel, copy or memset that no op launched, or a graph.
struct TracedOp {
  std::uint32_t event = kNoEvent;  // of the op; else of the work itself
  std::uint32_t step = kNoStep;    // in which it was dispatched; kNoStep: between steps
  std::uint32_t module = 0;        // of TracedOps::modules; 0: not known
  std::uint32_t work_begin = 0;    // of TracedOps::work, to work_end
  std::uint32_t work_end = 0;
  std::uint32_t kernels = 0;
  std::uint32_t copies = 0;              // and memsets
  std::uint32_t main_kernel = kNoEvent;  // one of the name that took the most time; of a product, of those
                                         // that multiply
  std::optional<ops::OpClass> op_class;
  // Of the main kernel; where its name does not say, the element type, but for products of FP32, which may
  // have run as TF32.
  std::optional<Precision> precision_path;
  std::int64_t duration_ns = 0;     // in which any of its kernels runs; without a device, host_ns
  std::int64_t copy_ns = 0;         // of its copies and memsets, a plain sum
  std::int64_t launch_wait_ns = 0;  // `idle_host_launch` that its work ended: the device waited for it
  std::int64_t host_ns = 0;         // from its start to its end, without ops of their own in it
  std::optional<Flops> flops;
  std::optional<Bytes> bytes;  // read and written
};

struct TracedOps {
  std::optional<std::int32_t> device;  // whose work it is; absent: the ops themselves are the work
  std::vector<TracedOp> ops;           // in the order in which they were dispatched
  std::vector<std::uint32_t>
      work;  // kernels, copies and memsets of the device: events, of each op in their order
  std::vector<std::string> modules;           // [0] is ""
  std::vector<ops::KernelName> kernel_names;  // what names of kernels say: each once
  std::vector<std::uint32_t> kernel_name_of;  // of Timeline::texts, into kernel_names; kNoEvent: no kernel
  // Of each step the charges are its `kernel` label, to the nanosecond.
  Charges charges;

  const ops::KernelName* kernel_name(const Timeline& timeline, std::uint32_t event) const;
};

// All ops that were dispatched, also those without work on a device. Errors (internal): a step's charges are
// not its `kernel` label; that is a bug of ours.
Result<TracedOps> trace_ops(const Timeline& timeline, const Steps& steps, const Attribution& attribution);

}  // namespace deepgap::trace
