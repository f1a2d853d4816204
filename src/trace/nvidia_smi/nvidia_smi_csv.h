// What `nvidia-smi --query-gpu=... --format=csv[,noheader][,nounits] -l 1` writes, and scripts that call it:
// a row a device and moment.
//
//   timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]
//   2025/06/13 00:27:52.195, 0, 98 %, 841 MiB, 33.09 W
//
// Without the line of names only what its form tells is used: times, watts where one column has them, states,
// device names.
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& nvidia_smi_csv_importer();

}  // namespace deepgap::trace
