#include "trace/perf_analyzer/perf_analyzer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/setting.h"
#include "trace/csv.h"
#include "trace/csv_row.h"
#include "trace/result_cell.h"

namespace deepgap::trace {
namespace {

constexpr std::size_t kMostRows = 10'000;  // a search tries some dozens
constexpr double kMicrosecond = 1000;

struct Figure {
  std::string_view column;
  std::string_view metric;
};
constexpr Figure kLatencies[] = {{"p50 latency", "p50"},
                                 {"p90 latency", "p90"},
                                 {"p95 latency", "p95"},
                                 {"p99 latency", "p99"},
                                 {"Avg latency", "mean"}};

// Where a request's time went, in their order.
constexpr std::string_view kParts[] = {
    "Client Send",          "Network+Server Send/Recv", "Server Queue", "Server Compute Input",
    "Server Compute Infer", "Server Compute Output",    "Client Recv"};

struct DeviceFigure {
  std::string_view column;
  std::string_view metric;
  Unit unit;
};
constexpr DeviceFigure kDeviceFigures[] = {{"Avg GPU Utilization", "device_utilisation", Unit::kRatio},
                                           {"Avg GPU Power Usage", "power", Unit::kWatts},
                                           {"Max GPU Memory Usage", "peak_device_memory", Unit::kBytes}};

struct OfDevice {
  std::string device;
  double value = 0;
};

// "GPU-8557549f-...:0.045;GPU-...:0.5;"
std::vector<OfDevice> of_devices(std::string_view text) {
  std::vector<OfDevice> found;
  for (const std::string& part : split(text, ';')) {
    const std::size_t colon = part.rfind(':');
    if (colon == std::string::npos) continue;
    OfDevice each{.device = printable(trim(std::string_view(part).substr(0, colon)))};
    const std::string_view number = trim(std::string_view(part).substr(colon + 1));
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), each.value);
    const bool whole = error == std::errc{} && end == number.data() + number.size();
    if (whole && each.value >= 0 && each.value <= kLargestFigure * 1e3) found.push_back(std::move(each));
  }
  return found;
}

class Reader {
 public:
  Reader(ByteSource& source, const ImportOptions& options)
      : source_(source), options_(options), csv_(source) {}

  Result<FileContent> read() {
    DEEPGAP_ASSIGN([[maybe_unused]] const bool any, csv_.next(names_));
    for (std::string& name : names_) name = std::string(trim(name));
    std::vector<std::string> fields;
    for (std::size_t rows = 0;;) {
      DEEPGAP_ASSIGN(const bool more, csv_.next(fields));
      if (!more) break;
      // A list of devices ends with a comma that the names lack.
      if (fields.size() == names_.size() + 1 && fields.back().empty()) fields.pop_back();
      if (fields.size() != names_.size()) {
        return bad_input(
            fmt::format("{}: expected {} columns as in the first line, found {}: the file is cut off",
                        place(), names_.size(), fields.size()));
      }
      if (++rows > kMostRows)
        return bad_input(fmt::format("{}: expected at most {} rows", place(), kMostRows));
      DEEPGAP_RETURN_IF_ERROR(add(CsvRow(names_, fields, place())));
    }
    if (content_.measurements.empty()) {
      content_.diagnostics.push_back(
          diagnose(diagnostics::kNoResults, "", "expected rows behind the names of the columns, found none"));
    }
    return std::move(content_);
  }

 private:
  std::string place() const { return fmt::format("{}, line {}", printable(source_.path()), csv_.line()); }

  Result<void> add(const CsvRow& row) {
    ResultCell cell(source_, perf_analyzer_importer().format().id, options_);
    cell.usual_engine("triton");
    Measurement& measurement = cell.measurement();
    std::string load;
    if (!row.text("Concurrency").empty()) {
      DEEPGAP_ASSIGN(const std::int64_t concurrency, row.whole("Concurrency", 1));
      cell.set(settings::kInFlight, std::to_string(concurrency));
      measurement.key.workload.mode = concurrency > 1 ? Mode::kThroughput : Mode::kLatency;
      load = fmt::format("concurrency {}", concurrency);
    } else {
      DEEPGAP_ASSIGN(const auto rate, row.figure("Request Rate"));
      if (!rate) return row.expected("Request Rate", "a rate, or a concurrency in a column of that name");
      cell.set("run.request_rate", row.text("Request Rate"));
      measurement.key.workload.mode = Mode::kServer;
      load = fmt::format("{} requests/s", format_number(*rate));
    }
    DEEPGAP_ASSIGN(const auto throughput, row.figure("Inferences/Second"));
    if (!throughput) return row.expected("Inferences/Second", "a number");
    cell.report("throughput", *throughput, Unit::kSamplesPerSecond);
    for (const Figure& figure : kLatencies) {
      DEEPGAP_ASSIGN(const auto value, row.figure(figure.column));
      if (value) cell.report(figure.metric, *value * kMicrosecond, Unit::kNanoseconds);
    }
    add_devices(row, cell);
    content_.measurements.push_back(cell.finished());
    return add_parts(row, load);
  }

  // Of several devices each has a run's place of its own in the figures.
  static void add_devices(const CsvRow& row, ResultCell& cell) {
    std::vector<std::string> devices;
    for (const DeviceFigure& figure : kDeviceFigures) {
      for (const OfDevice& each : of_devices(row.text(figure.column))) {
        auto place = std::find(devices.begin(), devices.end(), each.device);
        if (place == devices.end()) place = devices.insert(devices.end(), each.device);
        cell.report(figure.metric, each.value, figure.unit, std::nullopt,
                    static_cast<int>(place - devices.begin()));
      }
    }
    if (!devices.empty()) cell.set("triton.devices", join(devices, " "));
  }

  Result<void> add_parts(const CsvRow& row, const std::string& load) {
    OpTable table{.measurement = content_.measurements.back().id,
                  .title = fmt::format("parts of a request's time, {}", load)};
    for (const std::string_view part : kParts) {
      DEEPGAP_ASSIGN(const auto value, row.figure(part));
      if (!value) continue;
      OpTable::Row& each = table.rows.emplace_back();
      each.record.name = part;
      each.record.duration = Nanoseconds{std::llround(*value * kMicrosecond)};
    }
    if (!table.rows.empty()) content_.op_tables.push_back(std::move(table));
    return {};
  }

  ByteSource& source_;
  const ImportOptions& options_;
  CsvReader csv_;
  std::vector<std::string> names_;
  FileContent content_;
};

class PerfAnalyzerImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "perf-analyzer",
        .title = "Triton perf_analyzer CSV",
        .content =
            "throughput and latency for each concurrency or request rate, parts of a request's time, "
            "utilisation, power and memory of devices",
        .basis = "a real file with concurrencies and device columns; request rates from its documentation"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    const std::string_view line = head.substr(0, head.find('\n'));
    const auto has = [line](std::string_view name) { return line.find(name) != std::string_view::npos; };
    const bool load = has("Concurrency,") || has("Request Rate,");
    return load && has("Inferences/Second") && has("Client Send") ? Match::kSurely : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& options) const override {
    return Reader(source, options).read();
  }
};

}  // namespace

const Importer& perf_analyzer_importer() {
  static const PerfAnalyzerImporter importer;
  return importer;
}

}  // namespace deepgap::trace
