// trace: a profiler's trace, judged and taken apart.

#include "session/trace.h"

#include "verbs/verbs.h"

namespace deepgap::app {
namespace {

constexpr PositionalSpec kFile[] = {
    {"FILE", "a trace, or another file of the formats that `deepgap formats` lists", 1, 1}};
constexpr OptionSpec kOptions[] = {
    {"--device", "N", "whose time is taken apart", "the one with most kernel time"},
    {"--ops", "N", "how many of the ops that took most of a step are listed", "10"},
    {"--timing", "TIME|FILE",
     "a step's time without the profiler, as 40.4ms or as a file of JSON lines with `case` and `wall_ms_p50`",
     ""},
};
constexpr std::string_view kExamples[] = {
    "deepgap trace model.pt.trace.json.gz",
    "deepgap trace model.pt.trace.json.gz --timing 40.4ms --format json",
    "deepgap trace model.pt.trace.json.gz --format perfetto -o labelled.json"};

Result<session::Answer> trace(const Arguments& arguments, session::Environment&) {
  session::TraceOptions options;
  const std::string file = *arguments.text("FILE");
  DEEPGAP_ASSIGN(options.device, arguments.integer("--device", 0));
  DEEPGAP_ASSIGN(const std::optional<std::int64_t> ops, arguments.integer("--ops", 0));
  if (ops) options.ops = static_cast<std::size_t>(*ops);
  if (const auto timing = arguments.text("--timing")) {
    DEEPGAP_ASSIGN(options.unprofiled_ns, session::unprofiled_time(*timing, file));
  }
  return session::trace_file(file, options);
}

}  // namespace

const CommandSpec& trace_command() {
  static const CommandSpec command{"trace",
                                   "Judge a profiler's trace and show where each step's time went",
                                   "The verdict on the file first: what was lost, repaired or contradicts "
                                   "itself. Then every nanosecond of each "
                                   "step has one label: what the device did, or what held it up. "
                                   "docs/trace.md has the rules. Of a file that is "
                                   "no trace (results, tables of layers, telemetry) what it holds. --format "
                                   "perfetto writes the trace with its "
                                   "labels for ui.perfetto.dev.",
                                   kFile,
                                   kOptions,
                                   kExamples,
                                   trace,
                                   false,
                                   true};
  return command;
}

}  // namespace deepgap::app
