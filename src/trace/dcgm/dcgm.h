// What NVIDIA's Data Center GPU Manager prints: the table of `dcgmi dmon -e FIELDS`, and the text that
// dcgm-exporter gives Prometheus, one or many of them in a file.
//
//   #Entity   GPUTL             POWER             SMACT
//   ID                          W
//   GPU 0     98                305.312           0.912
//
//   DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-...",modelName="NVIDIA H200"} 98 1749774472195
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

Result<FileContent> read_dcgmi_dmon(ByteSource& source);
Result<FileContent> read_dcgm_exporter(ByteSource& source);

const Importer& dcgm_importer();

}  // namespace deepgap::trace
