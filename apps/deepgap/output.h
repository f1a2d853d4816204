// Where a document goes, and in which form: --format, -o, --color and the like.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arguments.h"
#include "base/result.h"
#include "report/render.h"

namespace deepgap::app {

struct OutputOptions {
  report::Format format = report::Format::kText;
  std::optional<std::string> path;  // -o; absent: standard output
  bool color = false;
  int width = 100;
  bool quiet = false;    // -q: no progress, no stages
  bool verbose = false;  // -v: progress leaves a line for each phase of each visit
  bool progress = true;  // false: --no-progress
};

Result<OutputOptions> output_options(const Arguments& arguments);
Result<void> write_document(const report::Document& document, const OutputOptions& options);

Result<void> write_standard_output(std::string_view text);
// "deepgap: message" on standard error.
void write_error_line(std::string_view message);

}  // namespace deepgap::app
