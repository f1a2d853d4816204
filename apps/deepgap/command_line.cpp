#include "command_line.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "base/text.h"
#include "session/environment.h"

namespace deepgap::app {
namespace {

std::string_view long_name(std::string_view names) {
  return names.substr(0, names.find(','));
}

std::string help_of(const OptionSpec& option) {
  std::string help(option.help);
  if (!option.standard.empty()) help += fmt::format(" (default: {})", option.standard);
  return help;
}

// Values of each option and positional of one verb, filled by CLI11.
struct Collected {
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> flags;
  std::vector<std::string> single;  // options that may be given once only
};

void declare_option(CLI::App& app, const OptionSpec& option, Collected& collected) {
  const std::string name(long_name(option.name));
  if (option.value_name.empty()) {
    app.add_flag(std::string(option.name), collected.flags[name], help_of(option));
    return;
  }
  CLI::Option* declared = app.add_option(std::string(option.name), collected.values[name], help_of(option));
  declared->type_name(std::string(option.value_name))->type_size(1)->expected(1)->allow_extra_args(false);
  declared->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (!option.repeatable) collected.single.push_back(name);
}

void declare_positional(CLI::App& app, const PositionalSpec& positional, Collected& collected) {
  CLI::Option* declared =
      app.add_option(std::string(positional.name), collected.values[std::string(positional.name)],
                     std::string(positional.help));
  declared->type_name("")->expected(
      positional.least, positional.most < 0 ? CLI::detail::expected_max_vector_size : positional.most);
  if (positional.least > 0) declared->required();
}

std::string footer_of(const CommandSpec& command) {
  std::string out(command.description);
  if (command.examples.empty()) return out;
  if (!out.empty()) out += "\n\n";
  out += "Examples:\n";
  for (const std::string_view example : command.examples) out += fmt::format("  {}\n", example);
  return out;
}

// A word in the place of the verb that is none.
std::optional<Error> unknown_verb(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) return std::nullopt;
  std::vector<std::string> names;
  for (const CommandSpec* command : all_commands()) names.emplace_back(command->name);
  if (std::find(names.begin(), names.end(), arguments[0]) != names.end()) return std::nullopt;
  return usage_error(unknown_name("verb", arguments[0], names));
}

// "SUBJECT: At Most 1 required but received 2" in our own words; other messages as they are.
std::string in_our_words(std::string message) {
  const std::size_t colon = message.find(": At Most ");
  const std::size_t received = message.find(" required but received ");
  if (colon == std::string::npos || received == std::string::npos || received < colon) return message;
  constexpr std::string_view kMost = ": At Most ";
  constexpr std::string_view kReceived = " required but received ";
  return fmt::format("{}: expected at most {}, found {}", message.substr(0, colon),
                     message.substr(colon + kMost.size(), received - colon - kMost.size()),
                     message.substr(received + kReceived.size()));
}

// CLI11's message names the option; what is added is a near name where a word was not known.
std::string explain(const CLI::ParseError& error, const std::vector<std::string>& arguments) {
  std::string message = in_our_words(printable(error.what(), 2000));
  for (const CommandSpec* command : all_commands()) {
    if (arguments.empty() || command->name != arguments[0]) continue;
    std::vector<std::string> options;
    for (const OptionSpec& option : command->options) options.emplace_back(long_name(option.name));
    for (const OptionSpec& option : common_options()) options.emplace_back(long_name(option.name));
    for (const std::string& argument : arguments) {
      const std::string word = argument.substr(0, argument.find('='));
      if (!word.starts_with("--") || std::find(options.begin(), options.end(), word) != options.end())
        continue;
      const std::string near = nearest_name(word, options);
      message = fmt::format("unknown option '{}' of `deepgap {}`{}", printable(word), command->name,
                            near.empty() ? std::string() : ": did you mean '" + near + "'?");
    }
    message += fmt::format("; `deepgap {} --help` lists its options", command->name);
  }
  return message;
}

}  // namespace

Result<ParsedCommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  if (std::optional<Error> error = unknown_verb(arguments)) return std::move(*error);
  CLI::App app(
      "Measures deep-learning inference, explains why one device, precision or stack is slower than another.",
      "deepgap");
  app.require_subcommand(0, 1);
  bool version = false;
  app.add_flag("--version", version, "Print the version and exit");
  app.set_help_flag("--help,-h", "Print this help and exit");
  app.footer(
      "`deepgap VERB --help` says more. Exit codes: 0 done, 1 negative verdict, 2 wrong usage, 3 bad input,\n"
      "4 partial, 5 engine or device missing, 70 a bug of ours.");

  std::map<std::string_view, Collected> collected;
  for (const CommandSpec* command : all_commands()) {
    CLI::App* verb = app.add_subcommand(std::string(command->name), std::string(command->summary));
    verb->set_help_flag("--help,-h", "Print this help and exit");
    verb->footer(footer_of(*command));
    Collected& values = collected[command->name];
    for (const PositionalSpec& positional : command->positionals)
      declare_positional(*verb, positional, values);
    for (const OptionSpec& option : command->options) declare_option(*verb, option, values);
    for (const OptionSpec& option : common_options()) declare_option(*verb, option, values);
  }

  ParsedCommandLine parsed;
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    parsed.message = app.help();
    return parsed;
  } catch (const CLI::ParseError& error) {
    return usage_error(explain(error, arguments));
  } catch (const std::exception& error) {
    return usage_error(printable(error.what()));
  }
  if (version) {
    parsed.message = fmt::format("deepgap {}\n", session::version());
    return parsed;
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    parsed.message = app.help();
    return parsed;
  }
  for (const CommandSpec* command : all_commands()) {
    if (command->name != chosen[0]->get_name()) continue;
    parsed.command = command;
    Collected& values = collected[command->name];
    for (const std::string& name : values.single) {
      if (values.values[name].size() < 2) continue;
      return usage_error(
          fmt::format("{} is given {} times: expected once; where it takes a list, separate with commas",
                      name, values.values[name].size()));
    }
    for (auto& [name, value] : values.values) {
      if (!value.empty()) parsed.arguments.set(name, std::move(value));
    }
    for (const auto& [name, set] : values.flags) {
      if (set) parsed.arguments.set(name, {});
    }
  }
  return parsed;
}

}  // namespace deepgap::app
