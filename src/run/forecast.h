// What a cell will need of the machine, roughly, before it runs. plan.h says how it is reckoned. For
// plan.cpp.
#pragma once

#include "run/plan.h"

namespace deepgap::run {

// Fills forecast_memory and refusal. Nothing where the model's figures are not known.
void forecast_memory(const PlannedModel& model, const MachineLimits& limits, const MeasureRequest& measure,
                     PlannedCell& cell);
// Fills time_limit, and forecast_time, forecast_most and note. None of the latter where the model's work or
// the machine's rate is not known.
void forecast_time(const PlannedModel& model, const MachineLimits& limits, const MeasureRequest& measure,
                   PlannedCell& cell);

}  // namespace deepgap::run
