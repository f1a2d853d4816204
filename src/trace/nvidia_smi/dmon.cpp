#include "trace/nvidia_smi/dmon.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "base/text.h"
#include "base/time_text.h"
#include "trace/first_lines.h"
#include "trace/line_reader.h"
#include "trace/reading.h"
#include "trace/sensor_log.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kMostColumns = 256;
constexpr std::size_t kLinesToNames = 16;
constexpr std::size_t kShown = 40;
constexpr double kMiB = 1024 * 1024;

struct Column {
  std::string_view name;
  std::string_view unit;  // as the line of units has it
  Sensor sensor;
};
// By `nvidia-smi dmon -h`. Its MB of memory are MiB, as in the query's CSV.
constexpr Column kColumns[] = {
    {"pwr", "W", {"power", Unit::kWatts, 1}},
    {"temp", "C", {"temperature", Unit::kCelsius, 1}},  // before driver 390
    {"gtemp", "C", {"temperature", Unit::kCelsius, 1}},
    {"mtemp", "C", {"temperature.memory", Unit::kCelsius, 1}},
    {"sm", "%", {"utilisation.gpu", Unit::kRatio, 0.01}},
    {"mem", "%", {"utilisation.memory", Unit::kRatio, 0.01}},
    {"enc", "%", {"utilisation.encoder", Unit::kRatio, 0.01}},
    {"dec", "%", {"utilisation.decoder", Unit::kRatio, 0.01}},
    {"jpg", "%", {"utilisation.jpeg", Unit::kRatio, 0.01}},
    {"ofa", "%", {"utilisation.optical_flow", Unit::kRatio, 0.01}},
    {"mclk", "MHz", {"clock.memory", Unit::kHertz, 1e6}},
    {"pclk", "MHz", {"clock.sm", Unit::kHertz, 1e6}},
    {"pviol", "%", {"throttle.power", Unit::kRatio, 0.01}},
    {"tviol", "bool", {"throttle.thermal", Unit::kCount, 1}},
    {"fb", "MB", {"memory.used", Unit::kBytes, kMiB}},
    {"bar1", "MB", {"memory.bar1.used", Unit::kBytes, kMiB}},
    {"ccpm", "MB", {"memory.protected.used", Unit::kBytes, kMiB}},
    {"sbecc", "errs", {"ecc.corrected", Unit::kCount, 1}},
    {"dbecc", "errs", {"ecc.uncorrected", Unit::kCount, 1}},
    {"pci", "errs", {"pcie.replays", Unit::kCount, 1}},
    {"rxpci", "MB/s", {"pcie.receive", Unit::kBytesPerSecond, 1e6}},
    {"txpci", "MB/s", {"pcie.transmit", Unit::kBytesPerSecond, 1e6}},
};

const Column* column_named(std::string_view name) {
  const auto found = std::find_if(std::begin(kColumns), std::end(kColumns),
                                  [name](const Column& each) { return each.name == name; });
  return found == std::end(kColumns) ? nullptr : &*found;
}

// Between white space, or between commas as `--format csv` has them.
std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  const bool commas = line.find(',') != std::string_view::npos;
  const std::string_view separators = commas ? "," : " \t";
  while (cells.size() <= kMostColumns) {
    if (!commas) line = trim(line);
    if (line.empty()) break;
    const std::size_t end = line.find_first_of(separators);
    cells.push_back(trim(line.substr(0, end)));
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  return cells;
}

bool holds(const std::vector<std::string_view>& cells, std::string_view name) {
  return std::find(cells.begin(), cells.end(), name) != cells.end();
}

// Of a line "# gpu pwr ..." the names; of others nothing.
std::vector<std::string_view> names_of(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('#')) return {};
  std::vector<std::string_view> names = cells_of(line.substr(1));
  const bool known = std::any_of(names.begin(), names.end(), [](std::string_view name) {
    return column_named(name) != nullptr || name == "pid";
  });
  if (!holds(names, "gpu") || !known || names.size() > kMostColumns) return {};
  return names;
}

// A time of day counted from one midnight on, over later ones.
class Clock {
 public:
  std::optional<std::int64_t> next(std::string_view time) {
    constexpr std::int64_t kDay = std::int64_t{86'400} * 1'000'000'000;
    const auto of_day = parse_time("1970-01-01 " + std::string(time));
    if (!of_day) return std::nullopt;
    // Less than half a day back the clock was set, more is the next day.
    if (last_ && *of_day < *last_ - kDay / 2) days_ns_ += kDay;
    if (last_ && *of_day > *last_ + kDay / 2 && days_ns_ > 0) days_ns_ -= kDay;
    last_ = of_day;
    return *of_day + days_ns_;
  }

 private:
  std::optional<std::int64_t> last_;
  std::int64_t days_ns_ = 0;
};

class Reader {
 public:
  Reader(ByteSource& source, const ImportOptions& options)
      : source_(source), options_(options), lines_(source), log_(source.path()) {}

  Result<FileContent> read() {
    for (std::string line;;) {
      DEEPGAP_ASSIGN(const bool more, lines_.next(line));
      if (!more) break;
      if (trim(line).empty()) continue;
      if (trim(line).starts_with('#')) {
        DEEPGAP_RETURN_IF_ERROR(take_names(line));
        continue;
      }
      DEEPGAP_RETURN_IF_ERROR(take_row(line));
    }
    if (const auto why = lines_.cut_off()) log_.note_cut_off(*why);
    if (names_.empty()) {
      return bad_input(
          fmt::format("{}: expected the names of nvidia-smi dmon's columns ('# gpu pwr ...'), found none",
                      printable(source_.path())));
    }
    if (timing_ == Timing::kNone && rows_ > 0)
      log_.note_assumption("rows have no times: those of a device were taken to be 1 s apart, dmon's usual");
    if (timing_ == Timing::kClock) log_.note_assumption("rows have a time of day, and no date");
    if (timing_ == Timing::kDate && options_.utc_offset_ns == 0)
      log_.note_assumption("times are without a zone and were taken as UTC");
    return log_.finished(timing_ == Timing::kDate);
  }

 private:
  enum class Timing { kNone, kClock, kDate };

  Result<void> take_names(std::string_view line) {
    const std::vector<std::string_view> names = names_of(line);
    if (holds(names, "pid")) {
      return bad_input(fmt::format(
          "{}, line {}: expected the output of nvidia-smi dmon, found that of pmon, which has a row for each "
          "process: log the device with `nvidia-smi dmon -o DT`",
          printable(source_.path()), lines_.number()));
    }
    if (names.empty()) {
      take_units(cells_of(trim(line).substr(1)));
      return {};
    }
    if (std::equal(names.begin(), names.end(), names_.begin(), names_.end())) return {};
    names_.assign(names.begin(), names.end());
    columns_.clear();
    for (const std::string_view name : names) {
      columns_.push_back(column_named(name));
      const bool other = name == "gpu" || name == "Date" || name == "Time";
      if (columns_.back() == nullptr && !other) log_.leave_out(printable(name, kShown));
    }
    const Timing timing = !holds(names, "Time")  ? Timing::kNone
                          : holds(names, "Date") ? Timing::kDate
                                                 : Timing::kClock;
    if (rows_ > 0 && timing != timing_) {
      return bad_input(
          fmt::format("{}, line {}: expected rows with the times that those before have, found other "
                      "columns: split the file there",
                      printable(source_.path()), lines_.number()));
    }
    timing_ = timing;
    return {};
  }

  void take_units(const std::vector<std::string_view>& units) {
    if (!holds(units, "Idx") || units.size() != columns_.size()) return;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (columns_[i] == nullptr || columns_[i]->unit == units[i]) continue;
      log_.leave_out(fmt::format("{} (in {})", columns_[i]->name, printable(units[i], kShown)));
      columns_[i] = nullptr;
    }
  }

  Result<void> take_row(std::string_view line) {
    if (names_.empty()) {
      log_.lose_row(lines_.number(), "it stands before the names of the columns");
      return {};
    }
    const std::vector<std::string_view> cells = cells_of(line);
    const bool whole = cells.size() == names_.size();
    if (!lines_.ended()) {  // a number may have lost its last digits
      log_.note_cut_off("the last line has no end and was left out",
                        whole ? Severity::kNote : Severity::kWarning);
      return {};
    }
    if (!whole) {
      log_.lose_row(lines_.number(), fmt::format("{} columns and not {}", cells.size(), names_.size()));
      return {};
    }
    return add(cells);
  }

  std::string_view cell_of(const std::vector<std::string_view>& cells, std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? "" : cells[static_cast<std::size_t>(found - names_.begin())];
  }

  Result<void> add(const std::vector<std::string_view>& cells) {
    const std::string index(cell_of(cells, "gpu"));
    if (index.empty() || index.find_first_not_of("0123456789") != std::string::npos) {
      log_.lose_row(lines_.number(), fmt::format("'{}' is no number of a device", printable(index, kShown)));
      return {};
    }
    std::optional<std::int64_t> at_ns;
    if (timing_ != Timing::kNone) {
      const std::string date(cell_of(cells, "Date"));
      const std::string time(cell_of(cells, "Time"));
      at_ns = timing_ == Timing::kDate ? parse_time(date + " " + time, options_.utc_offset_ns)
                                       : clock_.next(time);
      if (!at_ns) {
        log_.lose_row(lines_.number(),
                      fmt::format("'{}' is no time", printable(trim(date + " " + time), kShown)));
        return {};
      }
    }
    DEEPGAP_ASSIGN(const std::size_t device, log_.device(index, std::vector{"gpu" + index}, ""));
    values_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i] == nullptr) continue;
      const Reading reading = read_reading(cells[i]);
      if (reading.kind == Reading::Kind::kMissing) continue;
      const Sensor& sensor = columns_[i]->sensor;
      const auto value = reading.kind == Reading::Kind::kNumber ? value_of(sensor, reading) : std::nullopt;
      if (value)
        values_.push_back({.quantity = sensor.quantity, .unit = sensor.unit, .value = *value});
      else
        log_.lose_value(lines_.number(), columns_[i]->name, cells[i]);
    }
    ++rows_;
    return log_.add_row(device, at_ns ? *at_ns : log_.assumed_time(device), values_);
  }

  ByteSource& source_;
  const ImportOptions& options_;
  LineReader lines_;
  SensorLog log_;
  std::vector<std::string> names_;
  std::vector<const Column*> columns_;  // beside the names; null where a column is none of ours
  std::vector<SensorLog::Value> values_;
  Timing timing_ = Timing::kNone;
  Clock clock_;
  std::int64_t rows_ = 0;
};

class NvidiaSmiDmonImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "nvidia-smi-dmon",
        .title = "nvidia-smi dmon log",
        .content =
            "power, temperatures, utilisation, clocks, violations, memory, ECC errors, PCIe traffic, each "
            "device's over time",
        .basis = "a real file without times; times, CSV and other columns from descriptions"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    const std::vector<std::string_view> lines = first_lines(head, kLinesToNames);
    const bool named = std::any_of(lines.begin(), lines.end(),
                                   [](std::string_view line) { return !names_of(line).empty(); });
    return named ? Match::kSurely : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    return Reader(source, options).read();
  }
};

}  // namespace

const Importer& nvidia_smi_dmon_importer() {
  static const NvidiaSmiDmonImporter importer;
  return importer;
}

}  // namespace deepgap::trace
