// A verb of the command line as a table: one source for parsing, --help and docs/cli.md.
#pragma once

#include <span>
#include <string_view>

#include "arguments.h"
#include "base/result.h"
#include "session/environment.h"

namespace deepgap::app {

struct OptionSpec {
  std::string_view name;        // "--batch"; a short form after a comma: "--output,-o"
  std::string_view value_name;  // "N,N..."; "" for a flag
  std::string_view help;        // one sentence
  std::string_view standard;    // the default, for people; "" for none
  bool repeatable = false;      // may be given several times
};

struct PositionalSpec {
  std::string_view name;  // "MODEL"
  std::string_view help;
  int least = 0;
  int most = 1;  // -1: any number
};

struct CommandSpec {
  std::string_view name;
  std::string_view summary;      // one line, for the list of verbs
  std::string_view description;  // paragraphs, for its own page
  std::span<const PositionalSpec> positionals;
  std::span<const OptionSpec> options;  // besides the common ones
  std::span<const std::string_view> examples;
  // Does it. The document is written by main.
  Result<session::Answer> (*run)(const Arguments& arguments, session::Environment& environment);
  bool heeds_interrupts = false;  // Ctrl-C is a request that the verb looks at; elsewhere it ends the program
  bool writes_perfetto = false;   // takes --format perfetto
};

// In the order of the documentation.
std::span<const CommandSpec* const> all_commands();
// Options that every verb takes.
std::span<const OptionSpec> common_options();

}  // namespace deepgap::app
