// Values of the catalogue's settings, checked before anything runs.
//
//   check_setting("cpu.threads", "0", cpus)
//     -> "cpu.threads: expected a whole number from 1 to 65536, or auto, found '0'"
//
// Only what any engine shares is checked: an engine's own settings, and which values of a shared one it
// takes, are the engine's to judge.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace deepgap::run {

// `usable_cpus`: sorted; empty where not known, then no CPU is outside of them. Errors (kUsage): the value is
// none that the catalogue's sentence of the setting names.
Result<void> check_setting(const std::string& name, const std::string& value,
                           const std::vector<int>& usable_cpus);

}  // namespace deepgap::run
