#include "core/device.h"

namespace deepgap {

std::string_view name_of(DeviceKind kind) {
  return kind == DeviceKind::kCpu ? "cpu" : "gpu";
}

std::optional<DeviceKind> parse_device_kind(std::string_view name) {
  for (DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::kDatasheet:
      return "datasheet";
    case Origin::kProbe:
      return "probe";
    case Origin::kMeasured:
      return "measured";
  }
  return "";
}

std::optional<Origin> parse_origin(std::string_view name) {
  for (Origin origin : {Origin::kDatasheet, Origin::kProbe, Origin::kMeasured}) {
    if (name_of(origin) == name) return origin;
  }
  return std::nullopt;
}

std::optional<std::string> Device::fact(std::string_view fact_name) const {
  for (const DeviceFact& candidate : facts) {
    if (candidate.name == fact_name) return candidate.value;
  }
  return std::nullopt;
}

}  // namespace deepgap
