// The part of the view `trace` that answers: in a sentence or two where a step's time goes, what holds the
// device up, and what is usually tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/trace_findings.h"

namespace deepgap::report {

// Of the averaged steps.
struct TraceMean {
  double wall_ns = 0;
  std::vector<double> labels_ns;  // in the order of Step::labels

  double share(double ns) const { return wall_ns > 0 ? ns / wall_ns : 0; }
  // By id; 0 where there is none.
  double label(const TraceFindings& findings, std::string_view id) const;
};
std::optional<TraceMean> mean_of(const TraceFindings& findings);

// Paragraphs.
std::vector<std::string> trace_answer(const TraceFindings& findings, const TraceMean& mean);

}  // namespace deepgap::report
