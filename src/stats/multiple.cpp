#include "stats/multiple.h"

#include <algorithm>
#include <numeric>

namespace deepgap::stats {

std::vector<double> holm_adjusted(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double highest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double scaled = p_values[order[i]] * static_cast<double>(order.size() - i);
    highest = std::max(highest, std::min(1.0, scaled));
    adjusted[order[i]] = highest;
  }
  return adjusted;
}

}  // namespace deepgap::stats
