// Traced ops for people and for the store: equal calls as one row, and each as an OpRecord.
//
//   for (const OpRow& row : op_rows(timeline, traced, averaged)) ... timeline.texts[row.name], row.charge_ns
//   ...
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/op_record.h"
#include "trace/traced_ops.h"

namespace deepgap::trace {

// Calls that are equal in name, shapes, types, module and cost; sums over some steps.
struct OpRow {
  std::uint32_t event = kNoEvent;  // one of them; kNoEvent: the rest
  std::uint32_t module = 0;
  std::uint32_t main_kernel = kNoEvent;  // of the one that took longest
  std::optional<ops::OpClass> op_class;
  std::optional<Precision> precision_path;  // by which most of its time went
  std::int64_t count = 0;
  std::int64_t kernels = 0;
  std::int64_t copies = 0;
  std::int64_t duration_ns = 0;
  std::int64_t charge_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t launch_wait_ns = 0;
  std::int64_t host_ns = 0;
  std::optional<Flops> flops;  // absent too where the sum is no 64-bit number
  std::optional<Bytes> bytes;
};

inline constexpr std::size_t kMostRows = 10'000;

// By charge, then duration and host time. What is beyond `most` is one row, the last, without an event, as is
// what no op can be named for.
std::vector<OpRow> op_rows(const Timeline& timeline, const TracedOps& traced,
                           const std::vector<std::size_t>& steps, std::size_t most = kMostRows);

// For the store: each op with its time on the host, behind it its work, whose parent it is. Of one step, from
// its start; else of all, from the trace's.
std::vector<OpRecord> op_records(const Timeline& timeline, const TracedOps& traced, const Steps& steps,
                                 std::optional<std::size_t> step = std::nullopt);

}  // namespace deepgap::trace
