#include "trace/census.h"

namespace deepgap::trace {

Census::Census(const Timeline& timeline) {
  for (const Event& event : timeline.events) {
    if (!on_device(event.role)) host.widen(event);
    if (event.role == Role::kOp || event.role == Role::kRuntimeCall || event.role == Role::kKernel)
      ran.widen(event);
    if (event.role == Role::kKernel && event.duration_ns == 0) ++timeless_kernels;
    if (event.role == Role::kOp) {
      ++ops;
      if (event.detail != kNoDetail) ++ops_with_shapes;
    }
    if (event.role == Role::kAnnotation &&
        (longest_annotation == nullptr || event.duration_ns > longest_annotation->duration_ns))
      longest_annotation = &event;
  }
}

}  // namespace deepgap::trace
