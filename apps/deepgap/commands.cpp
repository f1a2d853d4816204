#include <array>

#include "command.h"
#include "verbs/verbs.h"

namespace deepgap::app {
namespace {

constexpr OptionSpec kCommon[] = {
    {"--db", "FILE", "the store", "$DEEPGAP_DB, else deepgap.db"},
    {"--format", "NAME", "text, md, csv or json; perfetto of `trace`",
     "text, or by the name of the output file"},
    {"--output,-o", "FILE", "write the document there, over what is there", "standard output"},
    {"--quiet,-q", "", "no progress", ""},
    {"--verbose,-v", "", "a line for each finished visit, and more of what is done", ""},
    {"--no-progress", "", "no progress", ""},
    {"--color", "WHEN", "auto, always or never", "auto"},
};

}  // namespace

std::span<const CommandSpec* const> all_commands() {
  static const std::array<const CommandSpec*, 11> commands{
      &run_command(),    &list_command(),    &show_command(),   &export_command(),
      &import_command(), &merge_command(),   &trace_command(),  &engines_command(),
      &models_command(), &devices_command(), &formats_command()};
  return commands;
}

std::span<const OptionSpec> common_options() {
  return kCommon;
}

}  // namespace deepgap::app
