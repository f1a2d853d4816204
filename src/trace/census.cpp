#include "trace/census.h"

#include <vector>

namespace deepgap::trace {

Census::Census(const Timeline& timeline) {
  std::vector<std::int64_t> ops_of(timeline.lanes.size(), 0);
  for (const Event& event : timeline.events) {
    if (!on_device(event.role)) host.widen(event);
    if (event.role == Role::kOp || event.role == Role::kRuntimeCall || event.role == Role::kKernel)
      ran.widen(event);
    if (event.role == Role::kKernel && event.duration_ns == 0) ++timeless_kernels;
    if (event.role == Role::kOp) {
      ++ops;
      ++ops_of[event.lane];
      if (event.detail != kNoDetail) ++ops_with_shapes;
    }
    if (event.role == Role::kAnnotation &&
        (longest_annotation == nullptr || event.duration_ns > longest_annotation->duration_ns))
      longest_annotation = &event;
  }
  const auto most = std::max_element(ops_of.begin(), ops_of.end());
  if (most != ops_of.end()) busiest_lane = static_cast<std::uint32_t>(most - ops_of.begin());
}

}  // namespace deepgap::trace
