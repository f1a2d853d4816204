// From requested settings to OpenVINO's properties, and back from what a compiled model says of itself.
#pragma once

#include <openvino/openvino.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/setting.h"
#include "run/engine.h"

namespace deepgap::openvino {

// The settings that load() takes.
std::vector<std::string> setting_names();

// The properties to compile with. cpu.streams unset: the hint of the mode chooses the streams. Errors: a
// value that is no positive number and not `auto`, a precision that this engine does not make itself.
Result<ov::AnyMap> compile_properties(const run::LoadRequest& request);

// Rows of what became effective, requested or not. Properties that this version does not tell are left
// unknown.
std::vector<Setting> effective_settings(const ov::CompiledModel& compiled, const run::LoadRequest& request);

}  // namespace deepgap::openvino
