// Hartigan's dip, written from the description in Hartigan and Hartigan (1985), section 3.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "stats/regimes.h"

namespace deepgap::stats {
namespace {

// The corners of the greatest convex minorant (sign +1) or least concave majorant (sign -1) of the points
// (x[i], i) for i in [first, last], in ascending order.
void hull(std::span<const double> x, std::size_t first, std::size_t last, double sign,
          std::vector<std::size_t>& corners) {
  corners.clear();
  for (std::size_t i = first; i <= last; ++i) {
    while (corners.size() >= 2) {
      const std::size_t b = corners[corners.size() - 1];
      const std::size_t a = corners[corners.size() - 2];
      // b stays a corner if it lies strictly below (above) the chord from a to i.
      const double turn =
          static_cast<double>(b - a) * (x[i] - x[a]) - static_cast<double>(i - a) * (x[b] - x[a]);
      if (sign * turn < 0) break;
      corners.pop_back();
    }
    corners.push_back(i);
  }
}

// Height at x of the line through the corners around it.
class Line {
 public:
  Line(std::span<const double> x, const std::vector<std::size_t>& corners) : x_(x), corners_(corners) {}
  // For rising positions only: keeps its place.
  double at(std::size_t i) {
    while (place_ + 2 < corners_.size() && corners_[place_ + 1] < i) ++place_;
    if (corners_.size() == 1) return static_cast<double>(corners_[0]);
    const std::size_t a = corners_[place_];
    const std::size_t b = corners_[place_ + 1];
    if (x_[b] == x_[a]) return static_cast<double>(b);
    return static_cast<double>(a) + static_cast<double>(b - a) * (x_[i] - x_[a]) / (x_[b] - x_[a]);
  }

 private:
  std::span<const double> x_;
  const std::vector<std::size_t>& corners_;
  std::size_t place_ = 0;
};

}  // namespace

double dip(std::span<const double> sorted) {
  const std::size_t n = sorted.size();
  // Everything in counts of samples and doubled at the end: the distribution function jumps from i to i + 1
  // at sorted[i].
  double found = 1;
  std::size_t low = 0;
  std::size_t high = n - 1;
  std::vector<std::size_t> minorant;
  std::vector<std::size_t> majorant;
  while (low < high && sorted[low] < sorted[high]) {
    hull(sorted, low, high, +1, minorant);
    hull(sorted, low, high, -1, majorant);
    // The largest distance between the two, at a corner of either, and the corners of the other around it.
    double widest = 0;
    std::size_t new_low = low;
    std::size_t new_high = high;
    Line below(sorted, minorant);
    Line above(sorted, majorant);
    std::size_t next = 0;
    for (const std::size_t corner : majorant) {
      const double distance = static_cast<double>(corner) - below.at(corner) + 1;
      if (distance > widest) {
        while (next + 1 < minorant.size() && minorant[next + 1] <= corner) ++next;
        widest = distance;
        new_low = minorant[next];
        new_high = corner;
      }
    }
    next = 0;
    for (const std::size_t corner : minorant) {
      const double distance = above.at(corner) - static_cast<double>(corner) + 1;
      if (distance >= widest) {
        while (next < majorant.size() && majorant[next] < corner) ++next;
        widest = distance;
        new_low = corner;
        new_high = majorant[std::min(next, majorant.size() - 1)];
      }
    }
    if (widest <= found) break;
    // How far the distribution function departs from the minorant before, and from the majorant after the new
    // interval.
    double departs = 0;
    Line left(sorted, minorant);
    for (std::size_t i = low; i <= new_low; ++i)
      departs = std::max(departs, static_cast<double>(i) - left.at(i) + 1);
    Line right(sorted, majorant);
    for (std::size_t i = low; i <= high; ++i) {
      const double height = right.at(i);
      if (i >= new_high) departs = std::max(departs, height - static_cast<double>(i) + 1);
    }
    found = std::max(found, departs);
    if (new_low == low && new_high == high) break;
    low = new_low;
    high = new_high;
  }
  return found / (2 * static_cast<double>(n));
}

}  // namespace deepgap::stats
