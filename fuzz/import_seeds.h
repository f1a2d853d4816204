// Small files of each foreign format, to begin fuzzing with.
#pragma once

#include <vector>

#include "target.h"

namespace deepgap::fuzz {

std::vector<Seed> dcgm_seeds();
std::vector<Seed> kineto_seeds();
std::vector<Seed> nvidia_smi_csv_seeds();
std::vector<Seed> nvidia_smi_dmon_seeds();
std::vector<Seed> study_csv_seeds();

}  // namespace deepgap::fuzz
