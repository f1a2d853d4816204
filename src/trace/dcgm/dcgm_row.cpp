#include "trace/dcgm/dcgm_row.h"

namespace deepgap::trace {
namespace {

// dcgm_structs.h: DCGM_INT64_BLANK and above, of doubles DCGM_FP64_BLANK and what follows it by one each.
bool is_blank(double value) {
  constexpr double kBlankInteger = 0x1p63;  // 0x7ffffffffffffff0 as a double
  constexpr double kBlankDouble = 140737488355328;
  constexpr double kBlanks = 16;
  return value >= kBlankInteger || (value >= kBlankDouble && value < kBlankDouble + kBlanks);
}

}  // namespace

void DcgmRow::add(const DcgmField& field, std::string_view cell, std::int64_t line, SensorLog& log) {
  const Reading reading = read_reading(cell);
  if (reading.kind == Reading::Kind::kMissing) return;
  if (reading.kind == Reading::Kind::kNumber && is_blank(reading.value)) return;
  if (field.is_throttle_mask) {
    throttle_ = read_mask(cell);
    if (!throttle_) log.lose_value(line, field.column, cell);
    return;
  }
  const auto value = reading.kind == Reading::Kind::kNumber ? value_of(field.sensor, reading) : std::nullopt;
  if (value)
    values_.push_back({.quantity = field.sensor.quantity, .unit = field.sensor.unit, .value = *value});
  else
    log.lose_value(line, field.column, cell);
}

Result<void> DcgmRow::finish(SensorLog& log, std::size_t device, std::int64_t at_ns) {
  Result<void> added = log.add_row(device, at_ns, values_, throttle_);
  values_.clear();
  throttle_.reset();
  return added;
}

}  // namespace deepgap::trace
