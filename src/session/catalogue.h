// The verbs about what there is: engines, models, devices, formats.
#pragma once

#include <optional>
#include <string>

#include "session/environment.h"

namespace deepgap::session {

// Every engine that deepgap knows, with what it can do here or why it cannot run.
Result<Answer> engines(const Environment& environment);
// The built-in models.
Result<Answer> models();
// This machine's devices; one of them by address, name or alias.
Result<Answer> devices(const Environment& environment, const std::optional<std::string>& name);
// The foreign formats that can be read.
Result<Answer> formats();

}  // namespace deepgap::session
