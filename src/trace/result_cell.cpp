#include "trace/result_cell.h"

#include <fmt/format.h>

#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "core/diagnostic.h"
#include "core/setting.h"

namespace deepgap::trace {
namespace {

std::string stem_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return printable(name.substr(0, name.find('.')));
}

}  // namespace

ResultCell::ResultCell(const ByteSource& source, std::string_view format, const ImportOptions& options)
    : ResultCell(source.path(), format, options) {}

ResultCell::ResultCell(const std::string& path, std::string_view format, const ImportOptions& options)
    : options_(options) {
  const std::string stem = stem_of(path);
  measurement_.key = {.workload = {.model = options.model.value_or(stem.empty() ? "unknown" : stem),
                                   .batch = options.batch.value_or(1),
                                   .precision = options.precision.value_or(Precision::kFp32)},
                      .engine = options.engine.value_or("unknown"),
                      .device = options.device.value_or("unknown")};
  measurement_.device.address = measurement_.key.device;
  measurement_.device.name = measurement_.key.device;
  measurement_.device.kind = measurement_.key.device == "cpu" ? DeviceKind::kCpu : DeviceKind::kGpu;
  measurement_.origin = fmt::format("import:{}", format);
  set(settings::kImportSource, printable(path));
}

void ResultCell::says_model(std::string_view model) {
  said_.model = true;
  if (!options_.model) measurement_.key.workload.model = model;
}

void ResultCell::says_engine(std::string_view engine) {
  said_.engine = true;
  if (!options_.engine) measurement_.key.engine = engine;
}

void ResultCell::usual_engine(std::string_view engine) {
  if (!options_.engine) measurement_.key.engine = engine;
}

void ResultCell::says_device(std::string_view address, std::string_view name, DeviceKind kind) {
  usual_device(address, kind);
  said_.device = true;
  if (!name.empty()) measurement_.device.name = name;
}

void ResultCell::usual_device(std::string_view address, DeviceKind kind) {
  measurement_.device.kind = kind;
  if (options_.device) return;
  measurement_.key.device = address;
  measurement_.device.address = address;
  measurement_.device.name = address;
}

void ResultCell::says_precision(Precision precision) {
  said_.precision = true;
  if (!options_.precision) measurement_.key.workload.precision = precision;
}

void ResultCell::says_batch(std::int64_t batch) {
  said_.batch = true;
  if (!options_.batch) measurement_.key.workload.batch = batch;
}

void ResultCell::set(std::string_view setting, std::string_view effective) {
  measurement_.settings.push_back({.name = std::string(setting), .effective = std::string(effective)});
}

void ResultCell::report(std::string_view metric, double value, Unit unit, std::optional<std::int64_t> n,
                        int run) {
  measurement_.reported.push_back(
      {.metric = std::string(metric), .value = value, .unit = unit, .n = n, .process = run});
}

Measurement ResultCell::finished() {
  const CellKey& key = measurement_.key;
  std::vector<std::string> assumed;
  const auto assume = [&assumed](bool known, std::string_view what, std::string_view value) {
    if (!known) assumed.push_back(fmt::format("the {} ({})", what, value));
  };
  assume(said_.model || options_.model, "model", key.workload.model);
  assume(said_.engine || options_.engine, "engine", key.engine);
  assume(said_.device || options_.device, "device", key.device);
  assume(said_.precision || options_.precision, "precision", name_of(key.workload.precision));
  assume(said_.batch || options_.batch, "batch", std::to_string(key.workload.batch));
  if (!assumed.empty()) {
    std::string text = assumed[0];
    for (std::size_t i = 1; i < assumed.size(); ++i) {
      text += (i + 1 == assumed.size() ? " and " : ", ") + assumed[i];
    }
    measurement_.diagnostics.push_back(diagnose(diagnostics::kImportAssumption, key.selector(),
                                                "the file does not say " + text + ": these were taken"));
  }
  measurement_.id = content_id(measurement_);
  return std::move(measurement_);
}

MeasurementId content_id(const Measurement& measurement) {
  std::string text = measurement.key.selector() + fmt::format("|{}", measurement.created_realtime_ns);
  for (const Setting& setting : measurement.settings) {
    if (setting.name != settings::kImportSource && setting.effective) {
      text += fmt::format("|{}={}", setting.name, *setting.effective);
    }
  }
  for (const ReportedValue& value : measurement.reported) {
    text += fmt::format("|{}:{}={}", value.process, value.metric, value.value);
  }
  for (const ProcessRun& process : measurement.processes) {
    for (const std::int64_t ns : process.samples.host_ns) text += fmt::format("|{}", ns);
  }
  return MeasurementId(content_hash(text).substr(0, 16));
}

}  // namespace deepgap::trace
