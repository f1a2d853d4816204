#include "report/document.h"

namespace deepgap::report {

Scale milliseconds() {
  return {.divisor = 1e6, .unit = "ms", .digits = 4};
}
Scale samples_per_second() {
  return {.divisor = 1, .unit = "samples/s", .digits = 4};
}
Scale percent() {
  return {.divisor = 0.01, .unit = "%", .digits = 3};
}
Scale plain(int digits) {
  return {.divisor = 1, .unit = "", .digits = digits};
}

std::string diagnostic_text(const Diagnostic& diagnostic) {
  std::string text = diagnostic.where.empty() ? diagnostic.text : diagnostic.where + ": " + diagnostic.text;
  const std::string count = std::to_string(diagnostic.count);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = diagnostic.text.find(count); at != std::string::npos;
       at = diagnostic.text.find(count, at + 1)) {
    const std::size_t end = at + count.size();
    const bool begins = at == 0 || !is_digit(diagnostic.text[at - 1]);
    if (begins && (end == diagnostic.text.size() || !is_digit(diagnostic.text[end]))) return text;
  }
  if (diagnostic.count > 1) text += " (" + count + " times)";
  return text;
}

}  // namespace deepgap::report
