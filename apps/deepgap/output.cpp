#include "output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file_system.h"
#include "base/text.h"
#include "session/environment.h"

namespace deepgap::app {
namespace {

constexpr int kNarrowest = 60;
constexpr int kWidest = 160;

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
  return std::clamp<int>(size.ws_col, kNarrowest, kWidest);
}

// The format that a file's name asks for, where no --format does.
std::optional<report::Format> format_of_name(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  return report::parse_format(path.substr(dot + 1));
}

}  // namespace

Result<OutputOptions> output_options(const Arguments& arguments) {
  OutputOptions options;
  options.path = arguments.text("--output");
  if (const auto name = arguments.text("--format")) {
    const auto format = report::parse_format(*name);
    if (!format) {
      std::vector<std::string> names(report::format_names().begin(), report::format_names().end());
      return usage_error(unknown_name("format", *name, names));
    }
    options.format = *format;
  } else if (options.path) {
    options.format = format_of_name(*options.path).value_or(report::Format::kText);
  }
  const std::string color = arguments.text("--color").value_or("auto");
  if (color != "auto" && color != "always" && color != "never") {
    return usage_error(fmt::format("--color: expected auto, always or never, found '{}'", printable(color)));
  }
  const char* const no_color = std::getenv("NO_COLOR");
  const bool terminal =
      !options.path && isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
  options.color = color == "always" || (color == "auto" && terminal);
  options.width = options.path ? 100 : terminal_width();
  options.quiet = arguments.has("--quiet");
  options.verbose = arguments.has("--verbose");
  if (options.quiet && options.verbose) return usage_error("-q and -v: expected one of them, found both");
  options.progress = !arguments.has("--no-progress");
  return options;
}

Result<void> write_document(const report::Document& document, const OutputOptions& options) {
  if (options.format == report::Format::kPerfetto) {
    if (!document.perfetto) {
      return usage_error("--format perfetto: expected a trace with events, found a file without any");
    }
    if (!options.path) return document.perfetto(write_standard_output);
    return write_file_atomically(*options.path, document.perfetto);
  }
  const std::string text = report::render(
      document, options.format,
      {.color = options.color, .width = options.width, .version = std::string(session::version())});
  if (!options.path) return write_standard_output(text);
  return write_file_atomically(*options.path, text);
}

Result<void> write_standard_output(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EPIPE) return {};  // the reader (`head`) has enough
      return bad_input(fmt::format(
          "standard output cannot be written ({}): expected room for {} more bytes; use -o FILE elsewhere",
          std::strerror(errno), text.size()));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void write_error_line(std::string_view message) {
  const std::string line = fmt::format("deepgap: {}\n", message);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace deepgap::app
