#include "session/op_findings.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "trace/op_records.h"
#include "trace/op_signature.h"

namespace deepgap::session {
namespace {

std::int64_t rounded_mean(std::int64_t sum, std::int64_t count) {
  return sum / count + (sum % count >= count - sum % count ? 1 : 0);
}

template <typename T>
std::optional<std::int64_t> rounded_mean(const std::optional<T>& sum, std::int64_t count) {
  return sum ? std::optional(rounded_mean(sum->value, count)) : std::nullopt;
}

std::vector<std::int64_t> mean_charges(const std::vector<trace::OpRow>& rows, std::int64_t count) {
  std::vector<std::int64_t> means;
  std::int64_t left = 0;
  for (const trace::OpRow& row : rows) {
    means.push_back(row.charge_ns / count);
    left += row.charge_ns % count;
  }
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rows[a].charge_ns % count > rows[b].charge_ns % count;
  });
  for (std::int64_t i = 0; i < left / count; ++i) ++means[order[static_cast<std::size_t>(i)]];
  return means;
}

std::string kind_of(trace::Role role) {
  return std::string(trace::name_of(role));
}

}  // namespace

std::vector<report::TraceFindings::Op> op_findings(const trace::Timeline& timeline,
                                                   const trace::TracedOps& traced,
                                                   const std::vector<std::size_t>& steps) {
  std::vector<report::TraceFindings::Op> found;
  if (steps.empty()) return found;
  const std::vector<trace::OpRow> rows = trace::op_rows(timeline, traced, steps);
  const auto count = static_cast<std::int64_t>(steps.size());
  const auto mean = [count](std::int64_t sum) {
    return static_cast<double>(sum) / static_cast<double>(count);
  };
  const std::vector<std::int64_t> charges = mean_charges(rows, count);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const trace::OpRow& row = rows[i];
    report::TraceFindings::Op op{.name = "others",
                                 .kind = "rest",
                                 .count = mean(row.count),
                                 .kernels = mean(row.kernels),
                                 .copies = mean(row.copies),
                                 .total_ns = rounded_mean(row.duration_ns, count),
                                 .charge_ns = charges[i],
                                 .copy_ns = rounded_mean(row.copy_ns, count),
                                 .launch_wait_ns = rounded_mean(row.launch_wait_ns, count),
                                 .host_ns = rounded_mean(row.host_ns, count),
                                 .flops = rounded_mean(row.flops, count),
                                 .bytes = rounded_mean(row.bytes, count)};
    if (row.event != trace::kNoEvent) {
      const trace::Event& event = timeline.events[row.event];
      op.name = timeline.texts[event.name];
      op.kind = kind_of(event.role);
      trace::TensorInputs inputs = trace::tensor_inputs(timeline, event);
      op.shapes = std::move(inputs.shapes);
      op.dtypes = std::move(inputs.dtypes);
      op.module_path = traced.modules[row.module];
    }
    if (row.op_class) op.op_class = ops::name_of(*row.op_class);
    if (row.precision_path) op.precision_path = name_of(*row.precision_path);
    if (const ops::KernelName* kernel = traced.kernel_name(timeline, row.main_kernel)) {
      op.main_kernel = timeline.texts[timeline.events[row.main_kernel].name];
      op.family = ops::name_of(kernel->family);
    }
    found.push_back(std::move(op));
  }
  return found;
}

}  // namespace deepgap::session
