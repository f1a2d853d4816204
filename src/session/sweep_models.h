// From what a user named to the models of a plan: generated or read by graph, described for the planner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "run/plan.h"
#include "session/environment.h"

namespace deepgap::session {

// `names`: built-in models or paths, each once. `dims` are given to every model that has them; a name that no
// model has is an error. Says aloud when a model has to be generated.
Result<std::vector<run::PlannedModel>> sweep_models(const std::vector<std::string>& names,
                                                    const std::map<std::string, std::int64_t>& dims,
                                                    const Environment& environment);

}  // namespace deepgap::session
