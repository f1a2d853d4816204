// Turns rows into a Measurement: the measurement's own row, and the child rows in step with it. Private to
// the module.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/measurement.h"
#include "store/child_rows.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace deepgap::store {

// What read_row() expects of its row; `m` is the measurement.
inline constexpr std::string_view kMeasurementColumns =
    "SELECT m.key, m.id, m.created_realtime_ns, m.sweep, m.model, m.model_hash, m.dims, m.batch, "
    "m.precision, m.mode, "
    "m.engine, m.engine_version, m.device_address, m.device, m.planned_processes, m.origin, f.kind, f.text, "
    "f.bytes_asked, m.target FROM measurement m LEFT JOIN failure f ON f.measurement = m.key ";

// A field that has no meaning in this version.
Error damaged(std::string_view what, std::string_view found);
// An index or a count of the file as an int.
Result<int> as_int(std::int64_t value, std::string_view what);

// Child tables in step with the walk; see store/child_rows.h.
struct Children {
  ChildRows processes;
  ChildRows host;
  ChildRows start;
  ChildRows diagnostics;
};

// Fills a Measurement from the row of a walk and what hangs from it.
class MeasurementReader {
 public:
  explicit MeasurementReader(Connection& connection) : connection_(connection) {}

  // Everything but processes and what hangs from the cell. `row` has kMeasurementColumns.
  Result<void> read_row(const Statement& row, bool full_device, Measurement& measurement);
  // The rest, as far as `depth` goes.
  Result<void> read_rest(std::int64_t key, LoadDepth depth, Measurement& measurement);

 private:
  Result<void> read_processes(std::int64_t key, Measurement& measurement);
  // One sample column of all processes, which are in ascending order.
  Result<void> read_column(ChildRows& rows, std::int64_t key,
                           std::vector<std::int64_t> SampleColumns::*column, std::string_view name,
                           Measurement& measurement);
  Result<void> read_other_columns(std::int64_t key, Measurement& measurement);
  Result<void> read_diagnostics(std::int64_t key, Measurement& measurement);
  Result<void> read_settings(std::int64_t key, Measurement& measurement);
  Result<void> read_telemetry(std::int64_t key, Measurement& measurement);
  Result<void> read_accuracy(std::int64_t key, Measurement& measurement);
  Result<void> read_reported(std::int64_t key, Measurement& measurement);
  Result<const Device*> device(std::int64_t key, bool full);

  Connection& connection_;
  std::optional<Children> children_;
  std::vector<std::size_t> sample_counts_;            // of the processes that are being read
  std::unordered_map<std::int64_t, Device> devices_;  // few, and the same for many cells
};

}  // namespace deepgap::store
