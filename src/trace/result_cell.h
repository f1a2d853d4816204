// A measurement made of a foreign tool's results: what the file does not say is taken from the user's options
// or as usual, and said; its id follows from its content.
//
//   ResultCell cell(source, "trtexec-times", options);
//   cell.says_batch(8);                             // what the file says of itself
//   cell.usual_engine("tensorrt");                  // what the format's files usually are: an assumption
//   cell.report("p99", 1.5e6, Unit::kNanoseconds);
//   content.measurements.push_back(cell.finished());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/measurement.h"
#include "trace/byte_source.h"
#include "trace/importer.h"

namespace deepgap::trace {

class ResultCell {
 public:
  // Model: the option, else the file's name up to its first dot, as an assumption; engine, device, precision
  // and batch: the options, else "unknown", "unknown", fp32 and 1, as assumptions.
  ResultCell(const ByteSource& source, std::string_view format, const ImportOptions& options);
  ResultCell(const std::string& path, std::string_view format, const ImportOptions& options);

  // What the file says of itself: no assumption. The user's option, where given, wins.
  void says_model(std::string_view model);
  void says_engine(std::string_view engine);
  void says_device(std::string_view address, std::string_view name, DeviceKind kind);
  void says_precision(Precision precision);
  void says_batch(std::int64_t batch);
  // The format's own usual, which the file does not say: still an assumption.
  void usual_engine(std::string_view engine);
  void usual_device(std::string_view address, DeviceKind kind);

  Measurement& measurement() { return measurement_; }
  void set(std::string_view setting, std::string_view effective);
  // `metric` of core's catalogue.
  void report(std::string_view metric, double value, Unit unit, std::optional<std::int64_t> n = std::nullopt,
              int run = 0);

  // With the assumptions as a diagnostic, and its id.
  Measurement finished();

 private:
  Measurement measurement_;
  ImportOptions options_;
  struct {
    bool model = false, engine = false, device = false, precision = false, batch = false;
  } said_;
};

// The id that follows from all that a measurement holds, and not from where its file lies.
MeasurementId content_id(const Measurement& measurement);

}  // namespace deepgap::trace
