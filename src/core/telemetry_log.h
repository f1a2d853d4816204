// A log of a device's sensors: series by the wall clock, to be joined to what ran meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/estimate.h"

namespace deepgap {

struct TelemetryLog {
  // In units of deepgap's: W, Hz, B, degrees Celsius, shares as ratios; quantities as in core's
  // TelemetrySeries: "power", "clock.sm", "clock.memory", "temperature", "utilisation.gpu",
  // "utilisation.memory", "memory.used", ...
  struct Series {
    std::string quantity;
    std::string source;  // the device as the log calls it: "gpu0", "GPU-8557549f-..."
    std::string device;  // its name, "Tesla V100S-PCIE-32GB"; "" where the log does not say
    Unit unit = Unit::kWatts;
    std::vector<std::int64_t> at_ns;  // since 1970, or since the log's first row: see has_time_of_day
    std::vector<double> values;
  };

  std::vector<Series> series;
  bool has_time_of_day = false;  // false: only the distances between rows are known
  std::vector<std::pair<std::string, std::string>> facts;
};

}  // namespace deepgap
