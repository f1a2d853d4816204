// The tables that the reference studies GDEV-AI and DEEP-GAP publish, and `deepgap export --columns gdev-ai`
// or `deep-gap` writes: a row a run of a cell, its figures and its machine.
//
//   timestamp_utc,device,sweep_id,repeat_id,model,batch_size,threads,iters,warmup_iters,median_ms,...
//
// Rows of one model, batch, device, thread count, machine and version are one measurement, whatever their
// order; each row's figures are reported values of one run. No samples stand behind them, so that they have
// no intervals. Neither precision nor engine is a column: fp32 and, where there is a torch version, torch are
// taken, and a diagnostic says so, unless the options name others.
#pragma once

#include <array>
#include <string_view>

#include "trace/importer.h"

namespace deepgap::trace {

// In the order in which they are written.
inline constexpr std::array<std::string_view, 28> kStudyColumns{"timestamp_utc",
                                                                "device",
                                                                "sweep_id",
                                                                "repeat_id",
                                                                "model",
                                                                "batch_size",
                                                                "threads",
                                                                "iters",
                                                                "warmup_iters",
                                                                "median_ms",
                                                                "mean_ms",
                                                                "std_latency_ms",
                                                                "p99_latency_ms",
                                                                "throughput_ips",
                                                                "hostname",
                                                                "os",
                                                                "kernel",
                                                                "arch",
                                                                "cpu_model",
                                                                "cpu_sockets",
                                                                "cpu_cores_per_socket",
                                                                "cpu_threads_per_core",
                                                                "cpu_logical_cpus",
                                                                "mem_total_mb",
                                                                "python_version",
                                                                "torch_version",
                                                                "cuda_available",
                                                                "torchvision_version"};
// deep-gap's alone, behind the others.
inline constexpr std::string_view kStudyDeviceMemory = "gpu_peak_mem_mb";

const Importer& study_csv_importer();

}  // namespace deepgap::trace
