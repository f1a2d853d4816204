#include "trace/timeline.h"

namespace deepgap::trace {

Total total_of(const Timeline& timeline, Role role) {
  Total total;
  for (const Event& event : timeline.events) {
    if (event.role != role) continue;
    ++total.count;
    total.ns += event.duration_ns;
  }
  return total;
}

bool on_device(Role role) {
  return role >= Role::kKernel;
}

std::string_view name_of(Role role) {
  constexpr std::string_view kNames[] = {"op",       "runtime_call",     "python_call", "annotation",
                                         "overhead", "kernel",           "copy",        "memset",
                                         "wait",     "device_annotation"};
  return kNames[static_cast<std::size_t>(role)];
}

}  // namespace deepgap::trace
