#include "engine_errors.h"

#include <array>
#include <new>

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
  return {std::string(kind), "OpenVINO: " + short_message(exception.what()), std::nullopt};
}

}  // namespace deepgap::openvino
