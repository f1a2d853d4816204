// What a sweep's measurements have in common besides their cells: the machine, the versions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/setting.h"
#include "hw/cpu.h"
#include "run/engine.h"
#include "session/environment.h"

namespace deepgap::session {

struct RunContext {
  std::map<std::string, Device> devices;  // by address
  std::map<std::string, std::string> engine_versions;
  std::vector<Setting> settings;  // host.*, deepgap.version, cpu.governor: effective, requested by nobody
};

RunContext describe_context(const std::map<std::string, run::EngineDescription>& engines,
                            const hw::CpuInfo& cpu, const Environment& environment);

// A rough FP32 rate that a CPU sustains over whole models, for forecasts of time only: half of what its
// usable cores could do at their ceiling, or, where the ceiling is not known, a guess from the width of the
// vectors. FLOP/s.
double sustained_rate(const hw::CpuInfo& cpu);

}  // namespace deepgap::session
