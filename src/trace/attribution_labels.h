// For tests: what attribute() gives for a timeline, with what must hold of every attribution.
//
//   EXPECT_THAT(labels_of(builder.build()), ElementsAre(Pair("idle_framework", 60), Pair("kernel", 40)));
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string_view>

#include "trace/attribution.h"

namespace deepgap::trace {

using Labels = std::map<std::string_view, std::int64_t>;

// What is not 0, in microseconds, of the first step; and what must hold of every attribution.
inline Labels labels_of(const Timeline& timeline, std::optional<std::int32_t> device = std::nullopt) {
  const Steps steps = find_steps(timeline);
  const Attribution found = attribute(timeline, steps, device);
  EXPECT_EQ(found.steps.size(), steps.steps.size());
  std::size_t segment = 0;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    std::int64_t sum = 0;
    for (const std::int64_t ns : found.steps[i].ns) sum += ns;
    EXPECT_EQ(sum, steps.steps[i].wall_ns()) << i;
    std::int64_t at = steps.steps[i].start_ns;
    for (; segment < found.segments.size() && found.segments[segment].start_ns < steps.steps[i].end_ns;
         ++segment) {
      EXPECT_EQ(found.segments[segment].start_ns, at);
      at = found.segments[segment].end_ns;
    }
    EXPECT_EQ(at, steps.steps[i].end_ns);
  }
  EXPECT_EQ(found.unaccounted_ns, 0);
  Labels labels;
  for (std::size_t label = 0; label < kLabels; ++label) {
    const std::int64_t ns = found.steps.at(0).ns[label];
    if (ns != 0) labels[name_of(static_cast<Label>(label))] = ns / 1000;
  }
  return labels;
}

}  // namespace deepgap::trace
