#include "program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/signals.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "command_line.h"
#include "output.h"
#include "progress.h"
#include "verbs/database.h"

namespace deepgap::app {
namespace {

int fail(const Error& error) {
  write_error_line(error.message());
  return static_cast<int>(exit_code(error.kind()));
}

// In a signal handler: only what is safe there.
void leave_at_once() {
  static constexpr std::string_view kLine = "deepgap: stopped by the user before anything was measured\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kLine.data(), kLine.size());
  _exit(static_cast<int>(ExitCode::kPartial));
}

std::string program_folder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(".") : self.parent_path().string();
}

std::string joined_command_line(const std::vector<std::string>& arguments) {
  std::string out = "deepgap";
  for (const std::string& argument : arguments) out += " " + argument;
  return out;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (std::filesystem::equivalent(a, b, error)) return true;
  const std::filesystem::path left = std::filesystem::weakly_canonical(a, error);
  if (error) return false;
  const std::filesystem::path right = std::filesystem::weakly_canonical(b, error);
  return !error && left == right;
}

// The document must not take the place of what the verb reads or writes: the store, a model, another store.
Result<void> check_output(const ParsedCommandLine& parsed, const OutputOptions& output) {
  if (!output.path) return {};
  const std::string store = database_path(parsed.arguments);
  std::vector<std::string> taken{store, store + "-wal", store + "-shm"};
  for (const PositionalSpec& positional : parsed.command->positionals) {
    for (const std::string& typed : parsed.arguments.texts(positional.name)) {
      taken.push_back(typed);
      for (std::string& part : split(typed, ',')) taken.push_back(std::move(part));
    }
  }
  for (const std::string& path : taken) {
    if (path.empty() || !is_same_file(*output.path, path)) continue;
    return usage_error(
        fmt::format("-o {}: expected a file of its own for the document, found {}, which this "
                    "command uses and which would be lost; name another file",
                    printable(*output.path), printable(path)));
  }
  return {};
}

int run_arguments(const std::vector<std::string>& arguments) {
  Result<ParsedCommandLine> parsed = parse_command_line(arguments);
  if (!parsed.ok()) return fail(parsed.error());
  if (parsed->command == nullptr) {
    const Result<void> written = write_standard_output(parsed->message);
    return written.ok() ? 0 : fail(written.error());
  }
  const Result<OutputOptions> output = output_options(parsed->arguments);
  if (!output.ok()) return fail(output.error());
  if (output->format == report::Format::kPerfetto && !parsed->command->writes_perfetto) {
    return fail(
        usage_error("--format perfetto: expected text, md, csv or json; only `deepgap trace` writes traces"));
  }
  if (const Result<void> checked = check_output(*parsed, *output); !checked.ok())
    return fail(checked.error());

  SystemClock clock;
  const RootedFileSystem files;
  static StopRequest stop;  // outlives the signal handler
  if (parsed->command->heeds_interrupts) install_stop_handler(stop, leave_at_once);
  ProgressLine progress(*output, clock);
  session::Environment environment{.clock = &clock,
                                   .files = &files,
                                   .stop = &stop,
                                   .program_folder = program_folder(),
                                   .cache_folder = cache_folder(),
                                   .command_line = joined_command_line(arguments)};
  if (output->path) {
    environment.is_output = [place = *output->path](const std::string& path) {
      return is_same_file(place, path);
    };
  }
  if (progress.wanted()) {
    environment.progress = [&progress](const session::RunProgress& state) { progress.show(state); };
  }
  if (!output->quiet) environment.say = [&progress](std::string_view line) { progress.say(line); };
  Result<session::Answer> answer = parsed->command->run(parsed->arguments, environment);
  progress.finish();
  if (!answer.ok()) return fail(answer.error());
  const Result<void> written = write_document(answer->document, *output);
  if (!written.ok()) return fail(written.error());
  return static_cast<int>(answer->exit);
}

}  // namespace

int run_program(int argc, char** argv) {
  ignore_broken_pipes();
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of the write, with a sentence
  try {
    return run_arguments(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    write_error_line("out of memory: expected enough for the request; try fewer or smaller inputs");
  } catch (const std::exception& error) {
    write_error_line(fmt::format("a bug of deepgap's own: {}; please report it with the command line",
                                 printable(error.what())));
  }
  return static_cast<int>(ExitCode::kInternal);
}

}  // namespace deepgap::app
