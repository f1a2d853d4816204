// The times that the fake engine plants: a seeded sequence whose distribution is known exactly, so that what
// deepgap says of its samples can be checked.
#pragma once

#include "base/random.h"
#include "fake_settings.h"

namespace deepgap::fake {

class PlantedTimes {
 public:
  PlantedTimes(const Settings& settings, std::int64_t batch, std::uint64_t seed);
  // Of the next call; the first one is the cold call. At least 1 ns.
  Nanoseconds next();
  // Of the calls at the usual level: the median of this process, its deviation from the others in it.
  Nanoseconds median() const { return Nanoseconds(static_cast<std::int64_t>(median_)); }

 private:
  double level();

  Settings settings_;
  Random random_;
  double median_ = 0;
  double previous_ = 0;  // ar1: the deviation of the call before, in standard deviations
  bool other_regime_ = false;
  std::int64_t calls_ = 0;
};

}  // namespace deepgap::fake
