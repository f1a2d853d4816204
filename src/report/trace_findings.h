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

  // What a label means, in the order of Step::labels.
  struct LabelWords {
    std::string title;   // of a column
    std::string device;  // what the device does
    std::string remedy;  // to try; may be ""
  };

  // Equal calls of an op: what they took in a step, as a mean over the averaged ones.
  struct Op {
    std::string name;
    std::string kind;  // "op"; "kernel", "copy", "memset" where no op launched it; "rest"
    std::string op_class;
    std::vector<std::vector<std::int64_t>> shapes;
    std::vector<std::string> dtypes;
    std::string module_path;
    double count = 0;
    double kernels = 0;
    double copies = 0;
    std::int64_t total_ns = 0;   // in which any kernel of a call ran
    std::int64_t charge_ns = 0;  // its part of the label `kernel`
    std::int64_t copy_ns = 0;
    std::int64_t launch_wait_ns = 0;  // idle_host_launch that its work ended
    std::int64_t host_ns = 0;
    std::optional<std::int64_t> flops;
    std::optional<std::int64_t> bytes;
    std::string precision_path;
    std::string main_kernel;
    std::string family;  // of the main kernel
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
  std::string step_extent;  // "range", "completion"
  bool launches_block = false;
  std::vector<Step> steps;
  std::vector<LabelWords> label_words;
  std::vector<std::size_t> averaged;  // of steps
  // Half the width of the 95 % interval of the averaged steps' mean, by Student's t; absent: a single step.
  std::optional<double> mean_half_width_ns;
  std::vector<std::int64_t> working_devices;  // those that the trace has work of
  std::optional<std::int64_t> unprofiled_ns;  // of a step, where the user gave it
  std::vector<Op> ops;                        // by charge
  std::size_t ops_shown = 10;                 // to people
  std::vector<std::pair<std::string, std::string>> facts;
};

// `deepgap.trace/1`.
Document trace_document(const TraceFindings& findings);

}  // namespace deepgap::report
