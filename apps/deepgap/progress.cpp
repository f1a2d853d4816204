#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "base/units.h"

namespace deepgap::app {
namespace {

constexpr Nanoseconds kRedrawEvery = std::chrono::milliseconds(100);

// Whole seconds are enough for a wait: "48 s", "3 min 05 s", "2 h 10 min".
std::string wait_text(Nanoseconds time) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds % 3600 / 60);
}

std::string line_of(const session::RunProgress& state) {
  std::string line = fmt::format("[{}/{}] {}", state.visit, state.visits, printable(state.cell, 100));
  line += fmt::format("  process {}  {}", state.repeat, state.phase);
  if (state.calls > 0) line += fmt::format("  {} calls", state.calls);
  if (state.median) line += "  median " + format_duration(*state.median);
  if (state.width) line += fmt::format(" ±{} %", format_number(*state.width * 100, 2));
  if (state.left) line += "  left " + wait_text(*state.left);
  return line;
}

}  // namespace

ProgressLine::ProgressLine(const OutputOptions& options, Clock& clock)
    : clock_(&clock),
      wanted_(options.progress && !options.quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      verbose_(options.verbose) {}

void ProgressLine::write(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void ProgressLine::clear() {
  if (shown_) write("\r\x1b[K");
  shown_ = false;
}

void ProgressLine::show(const session::RunProgress& state) {
  const bool ended =
      state.phase != "start" && state.phase != "load" && state.phase != "warmup" && state.phase != "measure";
  if (verbose_) {
    const std::string phase = fmt::format("{} {}", state.visit, state.phase);
    if (phase != last_phase_) say(line_of(state));
    last_phase_ = phase;
    if (ended) return;
  } else if (!terminal_) {
    if (ended) write(line_of(state) + "\n");
    return;
  }
  if (!terminal_) return;
  const Nanoseconds now = clock_->monotonic();
  if (!ended && shown_ && now - last_shown_at_ < kRedrawEvery) return;
  last_shown_at_ = now;
  write("\r\x1b[K" + line_of(state));
  shown_ = true;
}

void ProgressLine::say(std::string_view line) {
  clear();
  write(fmt::format("{}\n", line));
}

void ProgressLine::finish() {
  clear();
}

}  // namespace deepgap::app
