// Small files of each foreign format, to begin fuzzing with.
#pragma once

#include <vector>

#include "target.h"

namespace deepgap::fuzz {

std::vector<Seed> dcgm_seeds();
std::vector<Seed> kineto_seeds();
std::vector<Seed> loadgen_summary_seeds();
std::vector<Seed> loadgen_detail_seeds();
std::vector<Seed> ncu_csv_seeds();
std::vector<Seed> nsys_sqlite_seeds();
std::vector<Seed> nsys_stats_seeds();
std::vector<Seed> openvino_report_seeds();
std::vector<Seed> openvino_counters_seeds();
std::vector<Seed> ort_profile_seeds();
std::vector<Seed> perf_analyzer_seeds();
std::vector<Seed> nvidia_smi_csv_seeds();
std::vector<Seed> nvidia_smi_dmon_seeds();
std::vector<Seed> study_csv_seeds();
std::vector<Seed> trtexec_times_seeds();
std::vector<Seed> trtexec_profile_seeds();
std::vector<Seed> trtexec_layers_seeds();
std::vector<Seed> trtexec_summary_seeds();

}  // namespace deepgap::fuzz
