#include "trace/study_csv/study_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time_text.h"
#include "core/setting.h"
#include "trace/csv.h"
#include "trace/csv_row.h"
#include "trace/result_cell.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kMostRows =
    1'000'000;  // a study has a thousand; all of a file's cells are held at once

// A column whose text goes into the run context as it is.
struct ContextColumn {
  std::string_view column;
  std::string_view setting;
};
constexpr ContextColumn kContext[] = {{"threads", settings::kThreads},
                                      {"hostname", settings::kHostName},
                                      {"os", settings::kHostOs},
                                      {"kernel", settings::kHostKernel},
                                      {"arch", settings::kHostArchitecture},
                                      {"cpu_model", settings::kHostCpuModel},
                                      {"cpu_sockets", settings::kHostCpuSockets},
                                      {"cpu_cores_per_socket", settings::kHostCpuCoresPerSocket},
                                      {"cpu_threads_per_core", settings::kHostCpuThreadsPerCore},
                                      {"cpu_logical_cpus", settings::kHostCpuLogicalCpus},
                                      {"mem_total_mb", settings::kHostMemTotalMb},
                                      {"python_version", "python.version"},
                                      {"torch_version", "torch.version"},
                                      {"cuda_available", "torch.cuda_available"},
                                      {"torchvision_version", "torchvision.version"}};

// A column of a figure, what it is called here, and what one of it is in the unit.
struct FigureColumn {
  std::string_view column;
  std::string_view metric;
  Unit unit;
  double scale;
};
constexpr FigureColumn kFigures[] = {{"median_ms", "p50", Unit::kNanoseconds, 1e6},
                                     {"mean_ms", "mean", Unit::kNanoseconds, 1e6},
                                     {"std_latency_ms", "standard_deviation", Unit::kNanoseconds, 1e6},
                                     {"p99_latency_ms", "p99", Unit::kNanoseconds, 1e6},
                                     {"throughput_ips", "throughput", Unit::kSamplesPerSecond, 1},
                                     {kStudyDeviceMemory, "peak_device_memory", Unit::kBytes, 1 << 20}};

class Reader {
 public:
  Reader(ByteSource& source, const ImportOptions& options)
      : source_(source), options_(options), csv_(source) {}

  Result<FileContent> read() {
    DEEPGAP_RETURN_IF_ERROR(read_names());
    std::vector<std::string> fields;
    std::size_t rows = 0;
    for (;;) {
      DEEPGAP_ASSIGN(const bool more, csv_.next(fields));
      if (!more) break;
      if (fields.size() != names_.size()) {
        return bad_input(
            fmt::format("{}: expected {} columns as in the first line, found {}: the file is cut off or "
                        "not a table",
                        place(), names_.size(), fields.size()));
      }
      if (++rows > kMostRows)
        return bad_input(
            fmt::format("{}: expected at most {} rows: split the file by model", place(), kMostRows));
      DEEPGAP_RETURN_IF_ERROR(add(CsvRow(names_, fields, place())));
    }
    if (rows == 0)
      return bad_input(fmt::format("{}: expected rows behind the names of the columns, found none",
                                   printable(source_.path())));
    FileContent content;
    for (ResultCell& cell : cells_) content.measurements.push_back(cell.finished());
    return content;
  }

 private:
  std::string place() const { return fmt::format("{}, line {}", printable(source_.path()), csv_.line()); }

  Result<void> read_names() {
    DEEPGAP_ASSIGN([[maybe_unused]] const bool any, csv_.next(names_));
    for (std::string& name : names_) name = std::string(trim(name));
    std::vector<std::string> missing;
    for (const std::string_view column : kStudyColumns) {
      if (std::find(names_.begin(), names_.end(), column) == names_.end()) missing.emplace_back(column);
    }
    if (missing.empty()) return {};
    return bad_input(fmt::format("{}: expected the columns of the studies, found none called {}", place(),
                                 join(missing, ", ")));
  }

  Result<void> add(const CsvRow& row) {
    DEEPGAP_ASSIGN(const std::int64_t batch, row.whole("batch_size", 1, kLargestBatch));
    DEEPGAP_ASSIGN(const std::int64_t calls, row.whole("iters", 1));
    if (row.text("model").empty()) return row.expected("model", "a name");
    if (row.text("device").empty()) return row.expected("device", "a device such as cpu or cuda");
    const std::optional<std::int64_t> created = parse_time(row.text("timestamp_utc"));
    if (!created) return row.expected("timestamp_utc", "a time such as 2026-11-30T12:03:04Z");

    std::vector<std::string> key{std::string(row.text("model")), std::to_string(batch),
                                 std::string(row.text("device"))};
    for (const ContextColumn& column : kContext) key.emplace_back(row.text(column.column));
    const auto [found, is_new] = by_key_.try_emplace(std::move(key), cells_.size());
    if (is_new) cells_.push_back(new_cell(row, batch, *created));
    ResultCell& cell = cells_[found->second];
    Measurement& measurement = cell.measurement();
    measurement.created_realtime_ns = std::min(measurement.created_realtime_ns, *created);
    const int run = is_new ? 0 : measurement.planned_processes++;
    for (const FigureColumn& column : kFigures) {
      DEEPGAP_ASSIGN(const std::optional<double> figure, row.figure(column.column));
      if (!figure) continue;
      cell.report(column.metric, *figure * column.scale, column.unit, calls, run);
    }
    return {};
  }

  ResultCell new_cell(const CsvRow& row, std::int64_t batch, std::int64_t created) const {
    const std::string device(row.text("device"));
    const bool on_cpu = device == "cpu";
    ResultCell cell(source_, study_csv_importer().format().id, options_);
    cell.says_model(row.text("model"));
    cell.says_batch(batch);
    cell.says_device(device, on_cpu ? row.text("cpu_model") : row.text("device"),
                     on_cpu ? DeviceKind::kCpu : DeviceKind::kGpu);
    const std::string torch(row.text("torch_version"));
    cell.usual_engine(torch.empty() ? "unknown" : "torch");
    Measurement& measurement = cell.measurement();
    if (measurement.key.engine == "torch") measurement.engine_version = torch;
    measurement.created_realtime_ns = created;
    for (const ContextColumn& column : kContext) {
      if (!row.text(column.column).empty()) cell.set(column.setting, row.text(column.column));
    }
    cell.set(settings::kProtocol, fmt::format("fixed:{}+{}", row.text("warmup_iters"), row.text("iters")));
    return cell;
  }

  ByteSource& source_;
  const ImportOptions& options_;
  CsvReader csv_;
  std::vector<std::string> names_;
  std::vector<ResultCell> cells_;  // in the order of their first rows
  std::map<std::vector<std::string>, std::size_t> by_key_;
};

class StudyCsvImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "study-csv",
        .title = "result tables of GDEV-AI and DEEP-GAP, and of `export --columns gdev-ai` and `deep-gap`",
        .content =
            "median, mean, deviation, p99, throughput, device memory of each run; machine and versions",
        .basis = "the columns that the studies describe; files that deepgap wrote"};
    return format;
  }

  // A first line with the columns that no other table has together.
  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    const std::string_view line = head.substr(0, head.find('\n'));
    const auto has = [line](std::string_view name) { return line.find(name) != std::string_view::npos; };
    if (!has("batch_size") || !has("median_ms") || line.find(',') == std::string_view::npos)
      return Match::kNo;
    return has("sweep_id") && has("repeat_id") && has("throughput_ips") ? Match::kSurely : Match::kPerhaps;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    return Reader(source, options).read();
  }
};

}  // namespace

const Importer& study_csv_importer() {
  static const StudyCsvImporter importer;
  return importer;
}

}  // namespace deepgap::trace
