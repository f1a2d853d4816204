#include "core/measurement.h"

#include <array>

namespace deepgap {
namespace {

constexpr std::array<std::string_view, 5> kStopReasonNames{"precision_reached", "time_limit", "sample_limit",
                                                           "fixed_count", "cancelled"};
constexpr std::array<StopReason, 5> kStopReasons{StopReason::kPrecisionReached, StopReason::kTimeLimit,
                                                 StopReason::kSampleLimit, StopReason::kFixedCount,
                                                 StopReason::kCancelled};

}  // namespace

std::string_view name_of(StopReason reason) {
  return kStopReasonNames[static_cast<std::size_t>(reason)];
}

std::optional<StopReason> parse_stop_reason(std::string_view name) {
  for (std::size_t i = 0; i < kStopReasonNames.size(); ++i) {
    if (kStopReasonNames[i] == name) return kStopReasons[i];
  }
  return std::nullopt;
}

std::int64_t Measurement::sample_count() const {
  std::int64_t count = 0;
  for (const ProcessRun& process : processes) count += static_cast<std::int64_t>(process.samples.size());
  return count;
}

}  // namespace deepgap
