#include "engine_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>

#include "base/text.h"

namespace deepgap::openvino {
namespace {

constexpr std::size_t kLongest = 300;
// OpenVINO turns std::bad_alloc and failed system calls into exceptions of its own.
constexpr std::array<std::string_view, 5> kMemoryWords{"bad_alloc", "out of memory", "cannot allocate",
                                                       "can't allocate", "failed to allocate"};
constexpr std::array<std::string_view, 3> kUnsupportedWords{"does not support the following onnx operations",
                                                            "is not supported", "unsupported operation"};

template <std::size_t N>
bool holds_any(const std::string& text, const std::array<std::string_view, N>& words) {
  for (const auto word : words)
    if (text.find(word) != std::string::npos) return true;
  return false;
}

// "FrontEnd API failed with OpConversionFailure: Model wasn't fully converted. Summary: -- No conversion rule
// found for operations: my.Frob", in words; nothing for other texts.
std::optional<std::string> conversion_message(const std::string& message) {
  constexpr std::string_view kFailed = "FrontEnd API failed with OpConversionFailure";
  constexpr std::string_view kOperators = "No conversion rule found for operations:";
  constexpr std::string_view kRemedy = "export the model with operators of the standard set (ai.onnx)";
  const std::size_t failed = message.find(kFailed);
  if (failed == std::string::npos) return std::nullopt;
  if (const std::size_t at = message.find(kOperators); at != std::string::npos) {
    const std::string_view operators = trim(std::string_view(message).substr(at + kOperators.size()));
    return fmt::format("expected operators that it knows, found {}: {}", operators, kRemedy);
  }
  std::string_view reason = std::string_view(message).substr(failed + kFailed.size());
  reason.remove_prefix(std::min(reason.find_first_not_of(": "), reason.size()));
  return fmt::format("it cannot convert an operator of the model{}{}: {}", reason.empty() ? "" : ": ", reason,
                     kRemedy);
}

}  // namespace

std::string short_message(const std::string& text) {
  std::string message;
  for (const auto& line : split(text, '\n')) {
    const std::string_view part = trim(line);
    if (part.empty() || part.starts_with("Exception from ")) continue;
    if (part.starts_with("Check '") && part.find("' failed at ") != std::string_view::npos &&
        part.ends_with(':'))
      continue;
    if (!message.empty()) message += ' ';
    message += part;
  }
  return printable(message.empty() ? std::string_view("OpenVINO gave no reason") : std::string_view(message),
                   kLongest);
}

run::EngineFailure failure_of(const std::exception& exception, std::string_view otherwise) {
  const std::string text = lower(exception.what());
  std::string_view kind = otherwise;
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr || holds_any(text, kMemoryWords))
    kind = run::failures::kOutOfMemory;
  else if (holds_any(text, kUnsupportedWords))
    kind = run::failures::kUnsupported;
  const std::string message = short_message(exception.what());
  return {std::string(kind), "OpenVINO: " + conversion_message(message).value_or(message), std::nullopt};
}

}  // namespace deepgap::openvino
