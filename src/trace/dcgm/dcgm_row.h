// The readings of one device at one moment, as both of DCGM's texts give them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/dcgm/fields.h"
#include "trace/sensor_log.h"

namespace deepgap::trace {

class DcgmRow {
 public:
  // What is no reading is counted as lost in `log`, what DCGM calls blank is absent.
  void add(const DcgmField& field, std::string_view cell, std::int64_t line, SensorLog& log);
  // Takes the row's readings into the log, and begins another.
  Result<void> finish(SensorLog& log, std::size_t device, std::int64_t at_ns);

 private:
  std::vector<SensorLog::Value> values_;
  std::optional<std::uint64_t> throttle_;
};

}  // namespace deepgap::trace
