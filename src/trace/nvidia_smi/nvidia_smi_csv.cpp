#include "trace/nvidia_smi/nvidia_smi_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time_text.h"
#include "trace/first_lines.h"
#include "trace/line_reader.h"
#include "trace/nvidia_smi/query_columns.h"
#include "trace/nvidia_smi/query_row.h"
#include "trace/sensor_log.h"

namespace deepgap::trace {
namespace {

using Use = QueryColumn::Use;

// A script's or a shell's own words may stand before the names.
constexpr std::size_t kLinesToNames = 16;
constexpr std::size_t kShown = 60;

// Of rows that each have their own moment nearly all distances are alike; of those of several devices without
// a column for them, at least every second one is much shorter.
bool comes_in_groups(const TelemetryLog& log) {
  std::vector<std::int64_t> distances;
  const auto longest =
      std::max_element(log.series.begin(), log.series.end(),
                       [](const auto& a, const auto& b) { return a.at_ns.size() < b.at_ns.size(); });
  if (longest == log.series.end() || longest->at_ns.size() < 5) return false;
  const std::vector<std::int64_t>& at_ns = longest->at_ns;
  for (std::size_t i = 1; i < at_ns.size(); ++i) distances.push_back(at_ns[i] - at_ns[i - 1]);
  const auto usual =
      distances.begin() + static_cast<std::ptrdiff_t>(distances.size() * 15 / 16);  // of 16 devices
  std::nth_element(distances.begin(), usual, distances.end());
  const std::int64_t short_ns = *usual / 4;
  const auto shorter = std::count_if(distances.begin(), distances.end(),
                                     [short_ns](std::int64_t each) { return each < short_ns; });
  return shorter * 5 >= static_cast<std::ptrdiff_t>(distances.size()) * 2;
}

bool has_names(std::string_view head) {
  const std::vector<std::string_view> lines = first_lines(head, kLinesToNames);
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return are_query_names(query_cells(line)); });
}

class Reader {
 public:
  Reader(ByteSource& source, const ImportOptions& options)
      : source_(source),
        options_(options),
        lines_(source),
        log_(source.path()),
        named_(has_names(source.head())) {}

  Result<FileContent> read() {
    for (std::string line;;) {
      DEEPGAP_ASSIGN(const bool more, lines_.next(line));
      if (!more) break;
      if (trim(line).empty()) continue;
      DEEPGAP_RETURN_IF_ERROR(take(line));
    }
    if (const auto why = lines_.cut_off()) log_.note_cut_off(*why);
    if (columns_.empty()) {
      return bad_input(
          fmt::format("{}: expected rows of nvidia-smi's query, found no line of names and no row",
                      printable(source_.path())));
    }
    note_time();
    FileContent content = log_.finished(has_times_);
    if (!devices_named_ && has_times_ && comes_in_groups(*content.telemetry)) {
      content.diagnostics.push_back(diagnose(
          diagnostics::kDevicesNotNamed, "",
          "rows come in groups of one moment: several devices, or times that are coarser than the rows"));
    }
    return content;
  }

 private:
  Result<void> take(const std::string& line) {
    const std::vector<std::string_view> cells = query_cells(line);
    if (cells.size() > kMostQueryColumns) {
      log_.lose_row(lines_.number(), fmt::format("more than {} columns", kMostQueryColumns));
      return {};
    }
    if (line == names_) return {};  // some scripts write them before each row
    if (named_ && are_query_names(cells)) {
      use_names(line, cells);
      return {};
    }
    if (columns_.empty()) {
      if (named_) {
        log_.lose_row(lines_.number(), "it stands before the names of the columns");
        return {};
      }
      if (!are_query_readings(cells)) {
        log_.lose_row(lines_.number(), "it has neither a time nor a unit");
        return {};
      }
      columns_ = columns_by_form(cells);
      fresh_names_ = true;
    }
    if (cells.size() != columns_.size()) {
      const std::string why = fmt::format("{} columns and not {}", cells.size(), columns_.size());
      if (lines_.ended())
        log_.lose_row(lines_.number(), why);
      else
        log_.note_cut_off(fmt::format("the last line ends after {}", why));
      return {};
    }
    // A number may have lost its last digits.
    if (!lines_.ended()) {
      log_.note_cut_off("the last line has no end and was left out", Severity::kNote);
      return {};
    }
    if (fresh_names_) settle_columns(cells);
    return add(cells);
  }

  void use_names(const std::string& line, const std::vector<std::string_view>& cells) {
    names_ = line;
    columns_.clear();
    bool time = false;
    for (const std::string_view cell : cells) {
      columns_.push_back(column_of(cell));
      QueryColumn& column = columns_.back();
      if (column.use == Use::kUnknown) column.name = printable(column.name, kShown);
      if (column.use == Use::kTime && std::exchange(time, true)) column.use = Use::kUnknown;
    }
    fresh_names_ = true;
  }

  // With the first row behind the names: a script's own column of times is told by its form.
  void settle_columns(const std::vector<std::string_view>& cells) {
    fresh_names_ = false;
    const auto is_used_as = [](Use use) {
      return [use](const QueryColumn& each) { return each.use == use; };
    };
    if (std::none_of(columns_.begin(), columns_.end(), is_used_as(Use::kTime))) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (columns_[i].use != Use::kUnknown || !is_time_by_form(cells[i], i)) continue;
        columns_[i].use = Use::kTime;
        break;
      }
    }
    for (const QueryColumn& column : columns_) {
      if (column.use == Use::kUnknown) log_.leave_out(column.name);
    }
    devices_named_ =
        devices_named_ && std::any_of(columns_.begin(), columns_.end(), is_used_as(Use::kDevice));
  }

  Result<void> add(const std::vector<std::string_view>& cells) {
    std::optional<std::int64_t> at_ns;
    std::vector<std::string> sources;
    std::string key, name;
    bool timed = false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Use use = columns_[i].use;
      if (use == Use::kTime) {
        timed = true;
        at_ns = parse_time(unquoted(cells[i]), options_.utc_offset_ns);
        // Another offset changes nothing where the time has its own.
        if (rows_ == 0) zoned_ = parse_time(unquoted(cells[i]), options_.utc_offset_ns + 1) == at_ns;
        if (!at_ns) {
          log_.lose_row(lines_.number(), fmt::format("'{}' is no time", printable(cells[i], kShown)));
          return {};
        }
      } else if (use == Use::kDevice || use == Use::kDeviceName) {
        key += std::string(cells[i]) + '\x1f';
        if (read_reading(cells[i]).kind == Reading::Kind::kMissing) continue;
        if (use == Use::kDeviceName)
          name = unquoted(cells[i]);
        else
          sources.push_back(source_of(cells[i]));
      }
    }
    if (sources.empty()) sources.push_back(name.empty() ? "gpu" : name);
    if (rows_ > 0 && timed != has_times_) {
      log_.lose_row(lines_.number(), "the rows before it differ in whether they have times");
      return {};
    }
    has_times_ = timed;
    ++rows_;
    DEEPGAP_ASSIGN(const std::size_t device, log_.device(key, sources, name));
    return add_values(cells, device, at_ns ? *at_ns : log_.assumed_time(device));
  }

  Result<void> add_values(const std::vector<std::string_view>& cells, std::size_t device,
                          std::int64_t at_ns) {
    values_.clear();
    std::optional<std::uint64_t> throttle;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const QueryColumn& column = columns_[i];
      if (!column.is_sensor() && column.use != Use::kFact) continue;
      const Reading reading = read_reading(cells[i]);
      if (reading.kind == Reading::Kind::kMissing) continue;
      std::optional<double> value;
      if (column.use == Use::kFact) {
        log_.add_fact(device, column.name, unquoted(cells[i]));
        continue;
      }
      if (column.use == Use::kThrottleMask) {
        throttle = read_mask(cells[i]);
        if (!throttle) log_.lose_value(lines_.number(), column.name, cells[i]);
        continue;
      }
      if (column.use == Use::kPerformanceState) {
        value = performance_state(unquoted(cells[i]));
      } else if (column.use == Use::kActive) {
        if (reading.text == "Active" || reading.text == "Not Active")
          value = reading.text == "Active" ? 1 : 0;
      } else if (reading.kind == Reading::Kind::kNumber) {
        value = value_of({.quantity = column.quantity, .unit = column.unit, .scale = column.scale}, reading);
      }
      if (value)
        values_.push_back({.quantity = column.quantity, .unit = column.unit, .value = *value});
      else
        log_.lose_value(lines_.number(), column.name, cells[i]);
    }
    return log_.add_row(device, at_ns, values_, throttle);
  }

  // "0" -> "gpu0"; others as they are.
  static std::string source_of(std::string_view cell) {
    const std::string text(unquoted(cell));
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
    return digits && text.size() <= 4 ? "gpu" + text : text;
  }

  void note_time() {
    if (rows_ == 0) return;
    if (!has_times_) {
      log_.note_assumption("no column has times: rows of a device were taken to be 1 s apart");
    } else if (!zoned_ && options_.utc_offset_ns == 0) {
      log_.note_assumption("times are without a zone and were taken as UTC");
    }
  }

  ByteSource& source_;
  const ImportOptions& options_;
  LineReader lines_;
  SensorLog log_;
  bool named_;
  std::string names_;  // the line of names
  std::vector<QueryColumn> columns_;
  std::vector<SensorLog::Value> values_;
  std::int64_t rows_ = 0;
  bool has_times_ = false;
  bool zoned_ = false;         // the first time named its zone
  bool fresh_names_ = false;   // no row has followed them yet
  bool devices_named_ = true;  // each row says by more than its model which device it is of
};

class NvidiaSmiCsvImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "nvidia-smi-csv",
        .title = "nvidia-smi query CSV",
        .content =
            "power, clocks, temperatures, utilisation, memory, fan, PCIe link, performance state, throttle "
            "reasons, ECC errors, each device's over time",
        .basis =
            "real files of four kinds, with and without names and units; other columns from nvidia-smi's "
            "own help"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    if (has_names(head)) return Match::kSurely;
    const std::vector<std::string_view> lines = first_lines(head, 2);
    const bool readings =
        !lines.empty() && std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
          return are_query_readings(query_cells(line));
        });
    return readings ? Match::kPerhaps : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    return Reader(source, options).read();
  }
};

}  // namespace

const Importer& nvidia_smi_csv_importer() {
  static const NvidiaSmiCsvImporter importer;
  return importer;
}

}  // namespace deepgap::trace
