// A device as a value: what it is called and what it can reach at most.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/estimate.h"

namespace deepgap {

enum class DeviceKind { kCpu, kGpu };  // "cpu", "gpu"
std::string_view name_of(DeviceKind kind);
std::optional<DeviceKind> parse_device_kind(std::string_view name);

// Where a ceiling comes from: a data sheet, a probe of the hardware, or a measurement of ours.
enum class Origin { kDatasheet, kProbe, kMeasured };  // "datasheet", "probe", "measured"
std::string_view name_of(Origin origin);
std::optional<Origin> parse_origin(std::string_view name);

// "flops.fp32.vector", "flops.int8.matrix", "bandwidth.memory", "launch.latency". Rates are dense ones,
// without 2:4 sparsity.
struct Ceiling {
  std::string quantity;
  double value = 0;
  Unit unit = Unit::kFlopsPerSecond;
  Origin origin = Origin::kProbe;
  std::string note;  // size, clock, power, date; "" where there is nothing to say
};

// One fact about a device:
// ("cores.physical", "2", ""), ("extension.avx512_vnni", "yes", ""), ("cache.l2", "2097152", "B").
struct DeviceFact {
  std::string name;
  std::string value;
  std::string unit;  // "" where it has none
};

struct Device {
  std::string address;  // on this machine: "cpu", "cuda:0"
  std::string name;     // "Intel(R) Xeon(R) Processor", "NVIDIA H200"
  std::vector<std::string> aliases;
  DeviceKind kind = DeviceKind::kCpu;
  std::vector<DeviceFact> facts;
  std::vector<Ceiling> ceilings;

  // The fact's value, or nothing.
  std::optional<std::string> fact(std::string_view fact_name) const;
};

}  // namespace deepgap
