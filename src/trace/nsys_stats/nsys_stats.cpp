#include "trace/nsys_stats/nsys_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ops/kernel_name.h"
#include "trace/csv.h"
#include "trace/csv_row.h"
#include "trace/line_reader.h"
#include "trace/tool_number.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kMostRows = 5'000'000;

// "Total Time (ns)" is the name "Total Time" in "ns"; versions differ in the space before the unit.
struct Column {
  std::string name;
  std::string unit;
};

Column column_of(std::string_view text) {
  text = trim(text);
  const std::size_t open = text.rfind('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return {std::string(text), ""};
  return {std::string(trim(text.substr(0, open))),
          std::string(text.substr(open + 1, text.size() - open - 2))};
}

// A table's columns by the names that versions give them.
struct Columns {
  std::vector<Column> columns;

  std::optional<std::size_t> of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == name) return i;
      }
    }
    return std::nullopt;
  }
  std::optional<std::size_t> name() const { return of({"Name", "Operation", "Range"}); }
  std::optional<std::size_t> count() const {
    return of({"Instances", "Count", "Num Calls", "Calls", "Operations"});
  }
  std::optional<std::size_t> total() const { return of({"Total Time"}); }
  bool is_summary() const { return name() && count() && total(); }
  bool is_list() const { return of({"Start"}) && of({"Duration"}) && of({"Strm"}) && name(); }
};

Columns columns_of(const std::vector<std::string>& fields) {
  Columns columns;
  for (const std::string& field : fields) columns.columns.push_back(column_of(field));
  return columns;
}

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(source), lines_(source) {}

  Result<FileContent> read() {
    for (std::string line;;) {
      DEEPGAP_ASSIGN(const bool more, lines_.next(line));
      if (!more) break;
      const auto fields = csv_fields(line);
      if (!fields) {
        if (in_table()) ++damaged_;
        continue;
      }
      if (begins_table(*fields)) continue;
      if (trim(line).empty() || fields->size() == 1) {  // a title, a message, the end of a table
        take_title(line);
        columns_ = {};
        continue;
      }
      if (!in_table()) continue;
      if (fields->size() != columns_.columns.size()) {
        ++damaged_;
        continue;
      }
      if (++rows_ > kMostRows) {
        return bad_input(fmt::format("{}: expected at most {} rows: read the report's SQLite export instead",
                                     printable(source_.path()), kMostRows));
      }
      if (!(columns_.is_list() ? add_event(*fields) : add_row(*fields))) ++damaged_;
    }
    return finished();
  }

 private:
  bool in_table() const { return !columns_.columns.empty(); }

  // " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):"
  void take_title(std::string_view line) {
    const std::size_t open = line.rfind('(');
    const std::size_t close = line.rfind(')');
    if (line.find("**") == std::string_view::npos || open == std::string_view::npos || close < open) return;
    title_ = printable(line.substr(open + 1, close - open - 1), 100);
  }

  bool begins_table(const std::vector<std::string>& fields) {
    Columns columns = columns_of(fields);
    if (!columns.is_summary() && !columns.is_list()) return false;
    columns_ = std::move(columns);
    if (columns_.is_list()) {
      if (!timeline_) timeline_.emplace();
      return true;
    }
    OpTable& table = tables_.emplace_back();
    table.title = title_.empty() ? (columns_.of({"Operation"}) ? "copies" : "kernels or calls") : title_;
    table.per = OpTable::Per::kExecution;
    title_.clear();
    return true;
  }

  bool add_row(const std::vector<std::string>& fields) {
    const std::size_t total = *columns_.total();
    const auto ns = nanoseconds_of(fields[total], columns_.columns[total].unit);
    const auto count = tool_number(fields[*columns_.count()]);
    const std::string& name = fields[*columns_.name()];
    if (!ns || !count || *count < 1 || *count > 1e15 || *count != std::floor(*count) || name.empty())
      return false;
    OpTable::Row row;
    row.record.name = printable(name, 4096);
    row.count = static_cast<std::int64_t>(*count);
    row.record.duration = Nanoseconds{std::llround(static_cast<double>(*ns) / *count)};
    if (const ops::KernelName kernel = ops::parse_kernel_name(name);
        kernel.family != ops::KernelFamily::kUnknown) {
      row.kind = ops::name_of(kernel.family);
      row.record.precision_path = kernel.precision;
    }
    row.figures.push_back({"total", std::to_string(*ns), "ns"});
    for (const char* figure : {"Med", "Median", "Min", "Minimum", "Max", "Maximum", "StdDev"}) {
      if (const auto place = columns_.of({figure})) {
        row.figures.push_back({figure, printable(fields[*place], 60), columns_.columns[*place].unit});
      }
    }
    tables_.back().rows.push_back(std::move(row));
    return true;
  }

  bool add_event(const std::vector<std::string>& fields) {
    const auto time = [&](const char* name) -> std::optional<std::int64_t> {
      const auto place = columns_.of({name});
      return nanoseconds_of(fields[*place], columns_.columns[*place].unit);
    };
    const auto number = [&](const char* name) -> std::optional<std::int64_t> {
      const auto place = columns_.of({name});
      const auto value = place ? tool_number(fields[*place]) : std::nullopt;
      if (!value || *value < 0 || *value > 4e9) return std::nullopt;
      return static_cast<std::int64_t>(*value);
    };
    const auto start = time("Start");
    const auto duration = time("Duration");
    const std::string& name = fields[*columns_.name()];
    ++timeline_->counts.read;
    if (!start || !duration || name.empty() || *start > kLatestNs / 2 || *duration > kLongestNs / 2) {
      ++timeline_->counts.lost;
      return false;
    }
    ++timeline_->counts.kept;
    Event event{.start_ns = *start, .duration_ns = *duration};
    event.role = name.starts_with("[CUDA memcpy")   ? Role::kCopy
                 : name.starts_with("[CUDA memset") ? Role::kMemset
                                                    : Role::kKernel;
    event.name = timeline_->texts.id_of(name);
    if (const auto id = number("CorrId")) event.correlation = static_cast<std::uint64_t>(*id);
    LaunchDetail launch{.device = device_of(fields), .stream = number("Strm").value_or(-1)};
    const auto size = [&](const char* x) { return static_cast<std::uint32_t>(number(x).value_or(0)); };
    launch.grid = {size("GrdX"), size("GrdY"), size("GrdZ")};
    launch.block = {size("BlkX"), size("BlkY"), size("BlkZ")};
    launch.registers = size("Reg/Trd");
    event.detail = timeline_->launches.id_of(launch);
    event.lane = lane_of(launch);
    timeline_->window_start_ns = std::min(timeline_->window_start_ns, event.start_ns);
    timeline_->window_end_ns = std::max(timeline_->window_end_ns, event.end_ns());
    timeline_->events.push_back(event);
    return true;
  }

  // "NVIDIA H200 (0)"
  std::int32_t device_of(const std::vector<std::string>& fields) {
    const auto place = columns_.of({"Device"});
    if (!place) return 0;
    const Column device = column_of(fields[*place]);
    const auto number = tool_number(device.unit);
    const auto id = number && *number >= 0 && *number < 4096 ? static_cast<std::int32_t>(*number) : 0;
    const auto known = std::any_of(timeline_->devices.begin(), timeline_->devices.end(),
                                   [id](const TraceDevice& each) { return each.id == id; });
    if (!known) timeline_->devices.push_back({.id = id, .name = printable(device.name, 100)});
    return id;
  }

  std::uint32_t lane_of(const LaunchDetail& launch) {
    const Lane lane{.process = fmt::format("device {}", launch.device),
                    .thread = fmt::format("stream {}", launch.stream)};
    for (std::size_t i = 0; i < timeline_->lanes.size(); ++i) {
      if (timeline_->lanes[i].process == lane.process && timeline_->lanes[i].thread == lane.thread) {
        return static_cast<std::uint32_t>(i);
      }
    }
    if (timeline_->lanes.size() >= kMostLanes) return 0;  // a damaged file: streams are some dozens
    timeline_->lanes.push_back(lane);
    return static_cast<std::uint32_t>(timeline_->lanes.size() - 1);
  }

  Result<FileContent> finished() {
    FileContent content;
    std::vector<Diagnostic> doubts;
    if (const auto fault = lines_.cut_off()) doubts.push_back(diagnose(diagnostics::kFileCutOff, "", *fault));
    if (damaged_ > 0) {
      doubts.push_back(diagnose(diagnostics::kEventsLost, "",
                                fmt::format("{} rows are cut off or hold no numbers", damaged_), damaged_));
    }
    std::erase_if(tables_, [](const OpTable& table) { return table.rows.empty(); });
    content.op_tables = std::move(tables_);
    if (timeline_ && !timeline_->events.empty()) {
      timeline_->format = nsys_stats_importer().format().id;
      timeline_->diagnostics = std::move(doubts);
      finish(*timeline_);
      content.timeline = std::move(timeline_);
      return content;
    }
    if (content.op_tables.empty()) {
      doubts.push_back(
          diagnose(diagnostics::kNoResults, "", "expected rows behind the names of the columns, found none"));
    }
    content.diagnostics = std::move(doubts);
    return content;
  }

  static constexpr std::size_t kMostLanes = 10'000;

  ByteSource& source_;
  LineReader lines_;
  Columns columns_;
  std::string title_;
  std::vector<OpTable> tables_;
  std::optional<Timeline> timeline_;
  std::size_t rows_ = 0;
  std::int64_t damaged_ = 0;
};

class NsysStatsImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "nsys-stats-csv",
        .title = "Nsight Systems, what `nsys stats --format csv` writes",
        .content = "summaries of kernels, copies, calls and ranges; the list of all that ran on the device",
        .basis = "written from documentation: no real file was to be had"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    for (std::size_t at = 0; at < head.size();) {
      const std::size_t end = std::min(head.find('\n', at), head.size());
      std::string_view line = head.substr(at, end - at);
      at = end + 1;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find("Total Time") == std::string_view::npos && line.find("Start") == std::string_view::npos)
        continue;
      const auto fields = csv_fields(line);
      if (!fields || fields->size() < 3) continue;
      const Columns columns = columns_of(*fields);
      if (columns.is_summary() || columns.is_list()) return Match::kSurely;
    }
    return Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& /*options*/) const override {
    return Reader(source).read();
  }
};

}  // namespace

const Importer& nsys_stats_importer() {
  static const NsysStatsImporter importer;
  return importer;
}

}  // namespace deepgap::trace
