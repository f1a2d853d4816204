// The fields of DCGM that are used, by each of their names.
//
//   dcgm_field_of_column("GPUTL")                  // of dcgmi dmon: "utilisation.gpu", a hundredth a piece
//   dcgm_field_of_metric("DCGM_FI_DEV_GPU_UTIL")   // of dcgm-exporter: the same
#pragma once

#include <string_view>

#include "trace/reading.h"

namespace deepgap::trace {

struct DcgmField {
  std::string_view column;  // the short name, as `dcgmi dmon -l` lists them
  std::string_view symbol;  // behind DCGM_FI_
  std::string_view newer;   // the symbol since DCGM 4.6, "" where it is the same
  std::string_view tag;     // behind dcgm_ in the first exporters
  Sensor sensor;
  bool is_throttle_mask = false;
};

// Null for a field that is not used.
const DcgmField* dcgm_field_of_column(std::string_view name);
const DcgmField* dcgm_field_of_metric(std::string_view name);

}  // namespace deepgap::trace
