// docs/cli.md from the tables of the verbs.

#include <fmt/format.h>

#include "command_line.h"

namespace deepgap::app {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '|' || byte == '<' || byte == '*') out += '\\';
    out += byte;
  }
  return out;
}

std::string option_rows(std::span<const OptionSpec> options) {
  std::string out = "| option | meaning | default |\n|---|---|---|\n";
  for (const OptionSpec& option : options) {
    std::string names(option.name);
    if (const std::size_t comma = names.find(','); comma != std::string::npos)
      names.replace(comma, 1, "`, `");
    out += fmt::format("| `{}`{} | {} | {} |\n", names,
                       option.value_name.empty() ? std::string() : fmt::format(" `{}`", option.value_name),
                       escaped(option.help), escaped(option.standard));
  }
  return out;
}

}  // namespace

std::string command_line_markdown() {
  std::string out =
      "# The command line\n\n"
      "Made from the tables behind `--help` (apps/deepgap/verbs); a test holds the two equal.\n\n"
      "    deepgap VERB ... [options]\n\n"
      "Results go to standard output, everything else to standard error.\n\n"
      "| exit code | means |\n|---|---|\n"
      "| 0 | done |\n| 1 | a negative verdict |\n| 2 | wrong usage |\n| 3 | bad input |\n"
      "| 4 | partial: a cell without a result, an interrupted run, an unusable trace; the document is "
      "written all the same |\n"
      "| 5 | an engine or a device is missing |\n| 70 | a bug of ours |\n\n"
      "## Options of every verb\n\n";
  out += option_rows(common_options());
  for (const CommandSpec* command : all_commands()) {
    std::string usage = fmt::format("deepgap {}", command->name);
    for (const PositionalSpec& positional : command->positionals) {
      const std::string name = fmt::format("{}{}", positional.name, positional.most == 1 ? "" : "...");
      usage += positional.least > 0 ? " " + name : " [" + name + "]";
    }
    out += fmt::format("\n## {}\n\n{}\n\n    {} [options]\n\n{}\n", command->name, escaped(command->summary),
                       usage, escaped(command->description));
    if (!command->positionals.empty()) {
      out += "\n| argument | meaning |\n|---|---|\n";
      for (const PositionalSpec& positional : command->positionals) {
        out += fmt::format("| `{}` | {} |\n", positional.name, escaped(positional.help));
      }
    }
    if (!command->options.empty()) out += "\n" + option_rows(command->options);
    if (!command->examples.empty()) {
      out += "\nExamples:\n\n";
      for (const std::string_view example : command->examples) out += fmt::format("    {}\n", example);
    }
  }
  return out;
}

}  // namespace deepgap::app
