#include "trace/dcgm/fields.h"

#include <algorithm>
#include <iterator>

namespace deepgap::trace {
namespace {

constexpr double kMiB = 1024 * 1024;

// Names and units: dcgmlib/dcgm_fields.h and dcgmlib/src/dcgm_fields.cpp of NVIDIA/DCGM, and
// etc/default-counters.csv of NVIDIA/dcgm-exporter. Bytes of DCGM_FI_PROF_ are rates, whatever they are
// called.
constexpr DcgmField kFields[] = {
    {"SMCLK", "DEV_SM_CLOCK", "", "sm_clock", {"clock.sm", Unit::kHertz, 1e6}},
    {"MMCLK", "DEV_MEM_CLOCK", "", "memory_clock", {"clock.memory", Unit::kHertz, 1e6}},
    {"VICLK", "DEV_VIDEO_CLOCK", "", "video_clock", {"clock.video", Unit::kHertz, 1e6}},
    {"DVCCTR", "DEV_CLOCK_THROTTLE_REASONS", "DEV_CLOCKS_EVENT_REASONS", "clock_throttle_reasons", {}, true},
    {"TMPTR", "DEV_GPU_TEMP", "DEV_GPU_TEMP_CELSIUS", "gpu_temp", {"temperature", Unit::kCelsius, 1}},
    {"MMTMP",
     "DEV_MEMORY_TEMP",
     "DEV_MEMORY_TEMP_CELSIUS",
     "memory_temp",
     {"temperature.memory", Unit::kCelsius, 1}},
    {"POWER", "DEV_POWER_USAGE", "DEV_BOARD_POWER_WATTS", "power_usage", {"power", Unit::kWatts, 1}},
    {"POWINST",
     "DEV_POWER_USAGE_INSTANT",
     "DEV_BOARD_POWER_RAW_WATTS",
     "power_usage_instant",
     {"power.instant", Unit::kWatts, 1}},
    {"PMLMT",
     "DEV_POWER_MGMT_LIMIT",
     "DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS",
     "power_management_limit",
     {"power.limit", Unit::kWatts, 1}},
    {"EPLMT",
     "DEV_ENFORCED_POWER_LIMIT",
     "DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS",
     "enforced_power_limit",
     {"power.limit.enforced", Unit::kWatts, 1}},
    {"TOTEC",
     "DEV_TOTAL_ENERGY_CONSUMPTION",
     "",
     "total_energy_consumption",
     {"energy", Unit::kJoules, 1e-3}},
    {"PSTAT", "DEV_PSTATE", "DEV_GPU_PSTATE", "pstate", {"performance.state", Unit::kCount, 1}},
    {"FANSP", "DEV_FAN_SPEED", "", "fan_speed", {"fan.speed", Unit::kRatio, 0.01}},
    {"GPUTL",
     "DEV_GPU_UTIL",
     "DEV_GPU_UTIL_RATIO",
     "gpu_utilization",
     {"utilisation.gpu", Unit::kRatio, 0.01}},
    {"MCUTL", "DEV_MEM_COPY_UTIL", "", "mem_copy_utilization", {"utilisation.memory", Unit::kRatio, 0.01}},
    {"ECUTL", "DEV_ENC_UTIL", "", "enc_utilization", {"utilisation.encoder", Unit::kRatio, 0.01}},
    {"DCUTL", "DEV_DEC_UTIL", "", "dec_utilization", {"utilisation.decoder", Unit::kRatio, 0.01}},
    {"FBTTL", "DEV_FB_TOTAL", "", "fb_total", {"memory.total", Unit::kBytes, kMiB}},
    {"FBFRE", "DEV_FB_FREE", "", "fb_free", {"memory.free", Unit::kBytes, kMiB}},
    {"FBUSD", "DEV_FB_USED", "", "fb_used", {"memory.used", Unit::kBytes, kMiB}},
    {"FBRSV", "DEV_FB_RESERVED", "", "fb_resv", {"memory.reserved", Unit::kBytes, kMiB}},
    {"RPCTR",
     "DEV_PCIE_REPLAY_COUNTER",
     "DEV_PCIE_REPLAY_TOTAL",
     "pcie_replay_counter",
     {"pcie.replays", Unit::kCount, 1}},
    {"PCILG", "DEV_PCIE_LINK_GEN", "", "pcie_link_gen", {"pcie.generation", Unit::kCount, 1}},
    {"PCILW", "DEV_PCIE_LINK_WIDTH", "", "pcie_link_width", {"pcie.width", Unit::kCount, 1}},
    {"PVIOL", "DEV_POWER_VIOLATION", "", "power_violation", {"throttle_time.power", Unit::kNanoseconds, 1}},
    {"TVIOL",
     "DEV_THERMAL_VIOLATION",
     "",
     "thermal_violation",
     {"throttle_time.thermal", Unit::kNanoseconds, 1}},
    {"XIDER", "DEV_XID_ERRORS", "DEV_XID_ERROR", "xid_errors", {"error.xid", Unit::kCount, 1}},
    {"ESVTL",
     "DEV_ECC_SBE_VOL_TOTAL",
     "",
     "ecc_sbe_volatile_total",
     {"ecc.corrected.volatile.total", Unit::kCount, 1}},
    {"EDVTL",
     "DEV_ECC_DBE_VOL_TOTAL",
     "",
     "ecc_dbe_volatile_total",
     {"ecc.uncorrected.volatile.total", Unit::kCount, 1}},
    {"GRACT",
     "PROF_GR_ENGINE_ACTIVE",
     "PROF_GR_ENGINE_UTIL_RATIO",
     "gr_engine_active",
     {"active.graphics_engine", Unit::kRatio, 1}},
    {"SMACT", "PROF_SM_ACTIVE", "PROF_SM_UTIL_RATIO", "sm_active", {"active.sm", Unit::kRatio, 1}},
    {"SMOCC",
     "PROF_SM_OCCUPANCY",
     "PROF_SM_OCCUPANCY_RATIO",
     "sm_occupancy",
     {"occupancy.sm", Unit::kRatio, 1}},
    {"TENSO",
     "PROF_PIPE_TENSOR_ACTIVE",
     "PROF_TENSOR_UTIL_RATIO",
     "tensor_active",
     {"active.tensor", Unit::kRatio, 1}},
    {"DRAMA", "PROF_DRAM_ACTIVE", "PROF_DRAM_UTIL_RATIO", "dram_active", {"active.dram", Unit::kRatio, 1}},
    {"FP64A",
     "PROF_PIPE_FP64_ACTIVE",
     "PROF_FP64_UTIL_RATIO",
     "fp64_active",
     {"active.fp64", Unit::kRatio, 1}},
    {"FP32A",
     "PROF_PIPE_FP32_ACTIVE",
     "PROF_FP32_UTIL_RATIO",
     "fp32_active",
     {"active.fp32", Unit::kRatio, 1}},
    {"FP16A",
     "PROF_PIPE_FP16_ACTIVE",
     "PROF_FP16_UTIL_RATIO",
     "fp16_active",
     {"active.fp16", Unit::kRatio, 1}},
    {"TIMMA",
     "PROF_PIPE_TENSOR_IMMA_ACTIVE",
     "PROF_IMMA_UTIL_RATIO",
     "tensor_imma_active",
     {"active.tensor.int8", Unit::kRatio, 1}},
    {"THMMA",
     "PROF_PIPE_TENSOR_HMMA_ACTIVE",
     "PROF_HMMA_UTIL_RATIO",
     "tensor_hmma_active",
     {"active.tensor.fp16", Unit::kRatio, 1}},
    {"TDFMA",
     "PROF_PIPE_TENSOR_DFMA_ACTIVE",
     "PROF_DFMA_UTIL_RATIO",
     "tensor_dfma_active",
     {"active.tensor.fp64", Unit::kRatio, 1}},
    {"INTAC",
     "PROF_PIPE_INT_ACTIVE",
     "PROF_INT_UTIL_RATIO",
     "integer_active",
     {"active.integer", Unit::kRatio, 1}},
    {"PCITX", "PROF_PCIE_TX_BYTES", "", "pcie_tx_bytes", {"pcie.transmit", Unit::kBytesPerSecond, 1}},
    {"PCIRX", "PROF_PCIE_RX_BYTES", "", "pcie_rx_bytes", {"pcie.receive", Unit::kBytesPerSecond, 1}},
    {"NVLTX", "PROF_NVLINK_TX_BYTES", "", "nvlink_tx_bytes", {"nvlink.transmit", Unit::kBytesPerSecond, 1}},
    {"NVLRX", "PROF_NVLINK_RX_BYTES", "", "nvlink_rx_bytes", {"nvlink.receive", Unit::kBytesPerSecond, 1}},
};

template <typename Matches>
const DcgmField* find_field(Matches matches) {
  const auto found = std::find_if(std::begin(kFields), std::end(kFields), matches);
  return found == std::end(kFields) ? nullptr : &*found;
}

}  // namespace

const DcgmField* dcgm_field_of_column(std::string_view name) {
  return find_field([name](const DcgmField& field) { return field.column == name; });
}

const DcgmField* dcgm_field_of_metric(std::string_view name) {
  constexpr std::string_view kPrefix = "DCGM_FI_";
  constexpr std::string_view kOldPrefix = "dcgm_";
  if (name.starts_with(kPrefix)) {
    name.remove_prefix(kPrefix.size());
    return find_field([name](const DcgmField& field) { return field.symbol == name || field.newer == name; });
  }
  if (!name.starts_with(kOldPrefix)) return nullptr;
  name.remove_prefix(kOldPrefix.size());
  return find_field([name](const DcgmField& field) { return field.tag == name; });
}

}  // namespace deepgap::trace
