// A log of sensors, made row by row: one series of each quantity of each device, in the order of time.
//
//   SensorLog log(source.path());
//   DEEPGAP_ASSIGN(const std::size_t gpu, log.device("0", {"gpu0"}, "NVIDIA H200"));
//   DEEPGAP_RETURN_IF_ERROR(log.add_row(gpu, at_ns, {{"power", Unit::kWatts, 74.5}}, throttle_mask));
//   return log.finished();
//
// What is doubtful becomes diagnostics: rows and values that were lost, a clock that went back, rows that
// stand twice, columns that are not used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/estimate.h"
#include "trace/importer.h"

namespace deepgap::trace {

// Where a log does not say when its rows were written: how far they are taken to be apart.
inline constexpr std::int64_t kAssumedInterval = 1'000'000'000;

class SensorLog {
 public:
  struct Value {
    std::string_view quantity;
    Unit unit = Unit::kCount;
    double value = 0;
  };

  explicit SensorLog(std::string path) : path_(std::move(path)) {}

  // The device that `key` stands for; a new one is called by the first of `sources` that no other has. Errors
  // (bad input): more devices than a machine has.
  Result<std::size_t> device(const std::string& key, std::span<const std::string> sources,
                             std::string_view name);
  // `throttle`: bits of NVML's clock event reasons, each of which becomes a series of 0 and 1 where it was
  // ever set. Of two values of one quantity the first is used. Errors (bad input): more values than can be
  // held.
  Result<void> add_row(std::size_t device, std::int64_t at_ns, std::span<const Value> values,
                       std::optional<std::uint64_t> throttle = std::nullopt);
  // A time for the device's next row where the log has none.
  std::int64_t assumed_time(std::size_t device);
  // What does not change over the log; the first of several values, which finished() then leaves out.
  void add_fact(std::size_t device, std::string_view name, std::string_view value);

  void lose_row(std::int64_t line, std::string_view why);
  void lose_value(std::int64_t line, std::string_view column, std::string_view found);
  void leave_out(const std::string& column);  // a column that is not used
  void note_cut_off(std::string text, Severity severity = Severity::kWarning);
  void note_assumption(std::string text);

  // Once, at the end. Without times of day the first row's time becomes 0.
  FileContent finished(bool has_time_of_day);

 private:
  struct Device {
    std::string source;
    std::string name;
    std::vector<TelemetryLog::Series> series;
    std::vector<std::int64_t> last_row;  // beside the series: in which they have a value
    std::int64_t row = 0;
    std::size_t next_series = 0;  // rows repeat the order of their values
    std::vector<std::pair<std::int64_t, std::uint64_t>> throttle;
    std::vector<std::pair<std::string, std::optional<std::string>>> facts;  // nothing: it changes
    std::unordered_set<std::uint64_t> rows;                                 // hashes
    std::int64_t assumed_ns = 0;
  };

  std::size_t series_of(Device& device, std::string_view quantity, Unit unit);
  void expand_throttle(Device& device);
  void add_diagnostics(FileContent& content, bool empty);

  std::string path_;
  std::vector<Device> devices_;
  std::unordered_map<std::string, std::size_t> keys_;
  std::unordered_set<std::string> sources_;
  std::int64_t values_ = 0;
  std::int64_t lost_rows_ = 0, lost_values_ = 0, repeated_ = 0, steps_back_ = 0, longest_step_ns_ = 0;
  std::string first_lost_row_, first_lost_value_;
  std::vector<std::string> left_out_;
  std::optional<Diagnostic> cut_off_;
  std::vector<Diagnostic> doubts_;
};

}  // namespace deepgap::trace
