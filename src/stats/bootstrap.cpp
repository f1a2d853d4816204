#include "stats/bootstrap.h"

#include <algorithm>
#include <cmath>

namespace deepgap::stats::internal {

Interval percentile_interval(std::span<double> replicates, double confidence) {
  Interval interval{.confidence = confidence};
  if (replicates.empty()) return interval;
  std::sort(replicates.begin(), replicates.end());
  const double tail = (1 - confidence) / 2 * static_cast<double>(replicates.size());
  // As many replicates are left out on either side as the tail has room for, rounded down: outwards.
  const auto left_out =
      std::min(static_cast<std::size_t>(std::floor(tail * (1 + 1e-12))), (replicates.size() - 1) / 2);
  interval.lower = replicates[left_out];
  interval.upper = replicates[replicates.size() - 1 - left_out];
  return interval;
}

}  // namespace deepgap::stats::internal
