// What `trace` found in a file, before it is a document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/diagnostic.h"
#include "report/document.h"

namespace deepgap::report {

struct TraceFindings {
  struct Device {
    std::int64_t id = 0;
    std::string name;
    std::optional<int> multiprocessors;
    std::optional<std::string> compute_capability;
    std::optional<std::int64_t> memory_bytes;
  };
  struct Step {
    std::string name;
    std::int64_t wall_ns = 0;
    bool warmup = false;
    bool broken = false;                                       // no average may have it
    std::vector<std::pair<std::string, std::int64_t>> labels;  // in their order, those of 0 ns too
  };

  std::string path;
  std::string format;
  std::string verdict;
  std::vector<Diagnostic> diagnostics;
  std::vector<Device> devices;
  std::optional<std::int64_t> device;  // whose time the labels are
  std::optional<std::int64_t> window_ns;
  std::int64_t read = 0, kept = 0, ignored = 0, lost = 0;
  std::int64_t kernels = 0;
  std::int64_t kernel_ns = 0;
  std::string
      step_basis;  // "profiler_steps", "annotations", "repeated_ops", "repeated_launches", "whole_trace"
  bool launches_block = false;
  std::vector<Step> steps;
  std::vector<std::size_t> averaged;  // of steps
  std::vector<std::pair<std::string, std::string>> facts;
};

// `deepgap.trace/1`.
Document trace_document(const TraceFindings& findings);

}  // namespace deepgap::report
