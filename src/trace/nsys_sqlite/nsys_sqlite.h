// What `nsys export --type sqlite` makes of a report of Nsight Systems: tables of kernels, copies, calls and
// ranges.
//
//   CUPTI_ACTIVITY_KIND_KERNEL   start end deviceId streamId correlationId demangledName gridX ... (names:
//   StringIds) CUPTI_ACTIVITY_KIND_RUNTIME  start end globalTid correlationId nameId NVTX_EVENTS start end
//   eventType globalTid text textId
//
// Versions differ in which tables and columns there are: what is not there is not known.
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& nsys_sqlite_importer();

}  // namespace deepgap::trace
