// The rules of docs/worker-protocol.md as checks that run against any worker.
//
//   ok        hello.reply       answers `hello` with its name, version and capabilities
//   violated  measure.columns   start_ns grows, ...: expected the blobs 'start_ns' and 'host_ns', found not
//   both skipped   measure.columns   the worker was lost in the rule before
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "connection.h"

namespace deepgap::conformance {

enum class Verdict { kKept, kViolated, kSkipped };

struct Finding {
  std::string_view rule;     // "measure.columns"
  std::string_view meaning;  // what the worker must do
  Verdict verdict = Verdict::kKept;
  std::string text;  // what was expected and found, or why it was skipped
};

// "requests", "probing", "loading", ...: what Options::groups may name.
const std::vector<std::string>& rule_groups();

// Runs every rule, in processes of their own where one ends or loses the worker, and tells each finding as it
// comes. True: none is violated.
bool check_worker(const Options& options, const std::function<void(const Finding&)>& tell);

}  // namespace deepgap::conformance
