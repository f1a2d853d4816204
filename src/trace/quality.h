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

struct QualityLimits {
  double broken_share = 0.02;              // a step that lacks so many of its launches' kernels tells nothing
  std::int64_t clock_rounding_ns = 2'000;  // stamps of host and device are converted between clocks
  std::int64_t wait_rounding_ns = 20'000;  // the same, of a wait's end and its work's
  double steps_differ = 0.2;               // from their median: beyond it steps are not one thing
  double counts_differ = 0.02;             // of the ops or kernels of the step that has most
  double inflation = 0.1;                  // the profiler's cost that is worth a word
  std::int64_t late_ns = 10'000'000'000;   // a kernel so long after its launch ran by another clock
  std::int64_t long_annotation_ns = 1'000'000'000;  // a range as long, of which
  double annotation_share = 0.1;                    // work takes less than this, says nothing of the work
  std::size_t named_steps = 10;                     // with one fault each; those beyond are counted
};

// `unprofiled_ns`: the time of a step without the profiler, where it is known.
Quality judge(const Timeline& timeline, const Steps& steps, const Attribution& attribution,
              std::optional<std::int64_t> unprofiled_ns = std::nullopt, const QualityLimits& limits = {});

// Of a file that is no trace: unusable where it holds nothing, with loss where reading it brought up more
// than notes.
Verdict judge(const FileContent& content);

// The steps that an average is made of: neither broken, empty nor warm-up; warm-up too where there is no
// other.
std::vector<std::size_t> steps_to_average(const Steps& steps, const Quality& quality);

}  // namespace deepgap::trace
