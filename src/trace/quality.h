// Whether a trace can be trusted, said before anything is concluded from it.
//
//   const Quality quality = judge(timeline, steps, attribution);
//   quality.verdict         // Verdict::kUsableWithLoss
//   quality.diagnostics     // why, with counts
//   quality.broken[i]       // whether step i is left out of averages
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/diagnostic.h"
#include "trace/attribution.h"
#include "trace/importer.h"
#include "trace/steps.h"
#include "trace/timeline.h"

namespace deepgap::trace {

enum class Verdict {
  kUsable,          // nothing was lost or repaired
  kUsableWithLoss,  // something was
  kUnusable,        // no step can be trusted, or there are no events
};
std::string_view name_of(Verdict verdict);  // "usable", "usable_with_loss", "unusable"

struct Quality {
  Verdict verdict = Verdict::kUnusable;
  std::vector<Diagnostic> diagnostics;  // those of the timeline first
  std::vector<bool> broken;             // one for each step
};

// `unprofiled_ns`: the time of a step without the profiler, where it is known.
Quality judge(const Timeline& timeline, const Steps& steps, const Attribution& attribution,
              std::optional<std::int64_t> unprofiled_ns = std::nullopt);

// Of a file that is no trace: unusable where it holds nothing, with loss where reading it brought up more
// than notes.
Verdict judge(const FileContent& content);

// The steps that an average is made of: neither broken nor warm-up; all that are not broken where every step
// is warm-up.
std::vector<std::size_t> steps_to_average(const Steps& steps, const Quality& quality);

}  // namespace deepgap::trace
