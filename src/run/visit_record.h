// What is recorded beside a visit's samples: the run settings that were in force, and the doubts of the
// measuring itself (those of the machine are of hw/load_watch.h, those of the samples of core/summary.h).
#pragma once

#include <string>
#include <vector>

#include "core/diagnostic.h"
#include "core/setting.h"
#include "run/plan.h"
#include "run/worker_client.h"

namespace deepgap::run {

// The engine's rows of the load, and those of the measuring: run.in_flight, run.inputs, run.input_buffers,
// run.seed, run.protocol, run.transfers (of a CPU), and run.time_limit and run.target where the protocol has
// them. Values are as the catalogue (core/setting.cpp) describes them; requested is what
// somebody asked for, not what a default filled in.
std::vector<Setting> visit_settings(const PlannedCell& cell, const LoadReply& reply,
                                    const MeasureRequest& measure, std::uint64_t seed, int in_flight);

// not_steady, setting_not_effective.
std::vector<Diagnostic> visit_doubts(const PlannedCell& cell, const WorkerClient::Measured& measured,
                                     const std::vector<Setting>& settings, const MeasureRequest& measure);

// Whether an effective value is what was asked for, however the two are written: numbers ("2", "2.0"),
// durations
// ("5ms", "5 ms"), switches ("on", "true"), lists of CPUs ("0-2", "0,1,2"), upper and lower case. `auto` and
// `engine` leave the choice to the engine, and any value is what was asked for.
bool is_as_requested(const std::string& requested, const std::string& effective);

}  // namespace deepgap::run
