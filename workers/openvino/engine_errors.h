// What OpenVINO's exceptions say, as failures of the protocol.
#pragma once

#include <exception>
#include <string>

#include "run/engine.h"

namespace deepgap::openvino {

// OpenVINO's text without its own source positions, on one line, at most 300 characters.
//   "Exception from src/core/...:97:\nCheck 'x' failed at ...:\nShape mismatch\n" -> "Shape mismatch"
std::string short_message(const std::string& text);

// out_of_memory and unsupported are told by the text; what is neither is `otherwise`.
run::EngineFailure failure_of(const std::exception& exception, std::string_view otherwise);

}  // namespace deepgap::openvino
