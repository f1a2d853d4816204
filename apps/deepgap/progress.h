// Progress on standard error: one line that is rewritten on a terminal, a line a visit elsewhere; with -v a
// line for each phase of each visit, which stays.
//
//   [ 7/36] resnet50/openvino/cpu/fp32/b8  measure  412 calls  median 91.2 ms ±0.8 %  left 1m 12s
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "output.h"
#include "session/environment.h"

namespace deepgap::app {

class ProgressLine {
 public:
  // `clock` outlives it.
  ProgressLine(const OutputOptions& options, Clock& clock);
  bool wanted() const { return wanted_; }
  void show(const session::RunProgress& state);
  void say(std::string_view line);
  void finish();  // leaves the terminal's line empty

 private:
  void write(std::string_view text);
  void clear();

  Clock* clock_;
  bool wanted_;
  bool terminal_;
  bool verbose_;
  bool shown_ = false;
  Nanoseconds last_shown_at_{};
  std::string last_phase_;  // and its visit
};

}  // namespace deepgap::app
