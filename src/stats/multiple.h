// Many comparisons at once: how sure each has to be so that all together are.
#pragma once

#include <span>
#include <vector>

namespace deepgap::stats {

// Holm's step-down adjustment (Holm 1979): rejecting those whose adjusted value is at most alpha keeps the
// probability of any false rejection at or below alpha, whatever the dependence. Same order as given; at
// most 1.
//   holm_adjusted({0.01, 0.04, 0.03})  ->  {0.03, 0.06, 0.06}
std::vector<double> holm_adjusted(std::span<const double> p_values);

}  // namespace deepgap::stats
