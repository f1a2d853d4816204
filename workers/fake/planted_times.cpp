#include "planted_times.h"

#include <algorithm>
#include <cmath>

#include "base/hash.h"

namespace deepgap::fake {
namespace {

// A process's own factor: of the seed and its number, or of nothing at all, as between real processes.
double process_factor(const Settings& settings, std::uint64_t seed) {
  if (settings.process_noise == 0) return 1;
  const std::uint64_t own = settings.process ? seed ^ (*settings.process * 0x9e3779b97f4a7c15u + 1)
                                             : std::stoull(new_random_hex(15), nullptr, 16);
  return std::exp(settings.process_noise * Random(own).fork(1).normal());
}

}  // namespace

PlantedTimes::PlantedTimes(const Settings& settings, std::int64_t batch, std::uint64_t seed)
    : settings_(settings),
      random_(Random(seed ^ settings.process.value_or(0) * 0x2545f4914f6cdd1du).fork(2)) {
  const auto beyond = static_cast<double>(std::max<std::int64_t>(0, batch - settings.parallel));
  median_ = (static_cast<double>(settings.median.count()) +
             beyond * static_cast<double>(settings.per_sample.count())) *
            process_factor(settings, seed);
}

// The call's level over the median, with its noise.
double PlantedTimes::level() {
  const auto call = static_cast<double>(calls_);
  const double noise = settings_.noise;
  switch (settings_.distribution) {
    case Distribution::kConstant:
      return 1;
    case Distribution::kNormal:
      return 1 + noise * random_.normal();
    case Distribution::kLognormal:
      return std::exp(noise * random_.normal());
    case Distribution::kAr1: {
      // Stationary from the first call: each deviation has variance 1.
      const double rho = settings_.correlation;
      const double fresh = random_.normal();
      previous_ = calls_ == 0 ? fresh : rho * previous_ + std::sqrt(1 - rho * rho) * fresh;
      return 1 + noise * previous_;
    }
    case Distribution::kDrift:
      return (1 + noise * random_.normal()) * (1 + settings_.drift * call);
    case Distribution::kTwoRegimes: {
      // Leaves the other level with probability 1 / dwell, and enters it so often that its share comes out.
      const double leave = 1 / settings_.dwell;
      const double enter =
          settings_.share < 1 ? std::min(1.0, leave * settings_.share / (1 - settings_.share)) : 1;
      const double draw = random_.uniform();
      if (settings_.dwell <= 1)
        other_regime_ = draw < settings_.share;
      else
        other_regime_ = other_regime_ ? draw >= leave : draw < enter;
      return (1 + noise * random_.normal()) * (other_regime_ ? settings_.factor : 1);
    }
    case Distribution::kLevelShift:
      return (1 + noise * random_.normal()) * (calls_ >= settings_.at ? settings_.factor : 1);
    case Distribution::kSlowStart: {
      const double left = std::max(0.0, 1 - call / std::max(1.0, static_cast<double>(settings_.at)));
      return (1 + noise * random_.normal()) * (1 + (settings_.factor - 1) * left);
    }
  }
  return 1;
}

Nanoseconds PlantedTimes::next() {
  double time = level() * median_;
  if (calls_ == 0)
    time = settings_.first_call ? static_cast<double>(settings_.first_call->count()) : 10 * median_;
  if (settings_.scenario == Scenario::kLongCalls && calls_ == settings_.at) time *= 1000;
  ++calls_;
  return Nanoseconds(std::max<std::int64_t>(1, std::llround(time)));
}

}  // namespace deepgap::fake
