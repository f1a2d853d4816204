// From argv to a verb and its arguments. The one file that knows CLI11 is command_line.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.h"

namespace deepgap::app {

struct ParsedCommandLine {
  const CommandSpec* command = nullptr;  // absent where `message` is the whole answer
  Arguments arguments;
  std::string message;  // --help, --version: to be written to standard output
};

// Errors are usage errors, with the nearest name where one is near.
Result<ParsedCommandLine> parse_command_line(const std::vector<std::string>& arguments);

// docs/cli.md, from the same tables.
std::string command_line_markdown();

}  // namespace deepgap::app
