// The catalogues as a page of documentation: docs/metrics.md is this text, and a test holds them equal.
//
//   | metric | unit | better | what it is |
//   |---|---|---|---|
//   | `latency` | ns | lower | Median host latency of one batch: ... |
//
// After a change of a catalogue, run deepgap_core_test with DEEPGAP_APPROVE=1 in the environment to rewrite
// the page.
#pragma once

#include <string>

namespace deepgap {

// Markdown of all metrics, diagnostics and settings, in the order of their catalogues.
std::string catalogues_as_markdown();

}  // namespace deepgap
