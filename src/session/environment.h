// What the verbs need from outside, passed in so that they can be tested; and what a verb answers.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/result.h"
#include "base/signals.h"
#include "core/workload.h"
#include "report/document.h"

namespace deepgap::session {

// deepgap's own version, as `deepgap --version` prints it.
std::string_view version();

// Told how a sweep goes on; all calls on the thread that runs the verb.
struct RunProgress {
  std::size_t visit = 0;  // 1-based
  std::size_t visits = 0;
  std::string cell;   // selector
  int repeat = 0;     // 0-based
  std::string phase;  // "start", "load", "warmup", "measure", "done", or a failure's kind
  std::int64_t calls = 0;
  std::optional<Nanoseconds> median;
  std::optional<double> width;      // relative half-width of the median's interval so far
  std::optional<Nanoseconds> left;  // estimate of the time to the sweep's end
};
using ProgressSink = std::function<void(const RunProgress&)>;

struct Environment {
  Clock* clock = nullptr;
  const FileSystem* files = nullptr;  // "/" of the machine: /proc and /sys
  StopRequest* stop = nullptr;
  std::string program_folder;  // where workers are looked for
  std::string cache_folder;    // generated models
  std::string command_line;    // as typed, kept with a sweep
  // Whether the document will be written over this file; may be empty: never. What a verb reads must not be.
  std::function<bool(const std::string& path)> is_output;
  ProgressSink progress;  // may be empty
  std::function<void(std::string_view)>
      say;  // one line for standard error: a stage that takes long; may be empty
};

// An error (kCancelled) where the user has asked to stop: for what comes before anything is measured.
Result<void> go_on(const Environment& environment);

// A verb's document and how the program shall end. A verb that cannot make a document returns an Error
// instead.
struct Answer {
  report::Document document;
  ExitCode exit = ExitCode::kDone;
};

}  // namespace deepgap::session
