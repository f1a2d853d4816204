#include "core/precision.h"

#include <array>

namespace deepgap {
namespace {

struct PrecisionRow {
  Precision precision;
  std::string_view name;
  int bytes;
};

constexpr std::array<PrecisionRow, 8> kPrecisions{{{Precision::kFp64, "fp64", 8},
                                                   {Precision::kFp32, "fp32", 4},
                                                   {Precision::kTf32, "tf32", 4},
                                                   {Precision::kFp16, "fp16", 2},
                                                   {Precision::kBf16, "bf16", 2},
                                                   {Precision::kInt8, "int8", 1},
                                                   {Precision::kFp8E4M3, "fp8-e4m3", 1},
                                                   {Precision::kFp8E5M2, "fp8-e5m2", 1}}};

constexpr std::array<Precision, kPrecisions.size()> kAllPrecisions = [] {
  std::array<Precision, kPrecisions.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kPrecisions[i].precision;
  return all;
}();

// The table is indexed by the enumerator.
constexpr bool in_enumerator_order() {
  for (std::size_t i = 0; i < kPrecisions.size(); ++i) {
    if (static_cast<std::size_t>(kPrecisions[i].precision) != i) return false;
  }
  return true;
}
static_assert(in_enumerator_order());

constexpr std::array<std::string_view, 3> kModeNames{"latency", "throughput", "server"};
constexpr std::array<Mode, 3> kAllModes{Mode::kLatency, Mode::kThroughput, Mode::kServer};

}  // namespace

std::string_view name_of(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)].name;
}

std::optional<Precision> parse_precision(std::string_view name) {
  for (const PrecisionRow& row : kPrecisions) {
    if (row.name == name) return row.precision;
  }
  return std::nullopt;
}

std::span<const Precision> all_precisions() {
  return kAllPrecisions;
}

int element_bytes(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)].bytes;
}

std::string_view name_of(Mode mode) {
  return kModeNames[static_cast<std::size_t>(mode)];
}

std::optional<Mode> parse_mode(std::string_view name) {
  for (std::size_t i = 0; i < kModeNames.size(); ++i) {
    if (kModeNames[i] == name) return kAllModes[i];
  }
  return std::nullopt;
}

std::span<const Mode> all_modes() {
  return kAllModes;
}

}  // namespace deepgap
