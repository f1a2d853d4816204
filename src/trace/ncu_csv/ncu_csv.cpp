#include "trace/ncu_csv/ncu_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
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

// All figures are held: what a tool prints of some thousand kernels, not of a whole program.
constexpr std::int64_t kMostFigures = 5'000'000;

// Columns that are no metrics in the wide form.
constexpr std::string_view kColumns[] = {"ID",
                                         "Process ID",
                                         "Process Name",
                                         "Host Name",
                                         "Kernel Name",
                                         "Context",
                                         "Stream",
                                         "Block Size",
                                         "Grid Size",
                                         "Device",
                                         "CC",
                                         "Section Name",
                                         "Rule Name",
                                         "Rule Type",
                                         "Rule Description",
                                         "Kernel Time",
                                         "Estimated Speedup Type",
                                         "Estimated Speedup",
                                         "Metric Name",
                                         "Metric Unit",
                                         "Metric Value"};

bool is_duration(std::string_view metric) {
  return metric == "gpu__time_duration.sum" || metric == "Duration" ||
         metric == "gpu__time_duration_measured_user.sum";
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Reader {
 public:
  explicit Reader(ByteSource& source) : source_(source), lines_(source) {}

  Result<FileContent> read() {
    for (std::string line;;) {
      DEEPGAP_ASSIGN(const bool more, lines_.next(line));
      if (!more) break;
      if (line.starts_with("==")) {
        if (line.starts_with("==ERROR==")) last_error_ = printable(line);
        continue;
      }
      auto fields = csv_fields(line);
      if (!fields) {
        if (!names_.empty() && line.starts_with('"')) ++damaged_;
        continue;
      }
      if (has(*fields, "Kernel Name") && has(*fields, "ID")) {
        names_ = std::move(*fields);  // again where several runs stand in one file
        units_.clear();
        wide_ = !has(names_, "Metric Name");
        continue;
      }
      if (names_.empty() || (fields->size() == 1 && names_.size() > 1)) continue;  // the program's own lines
      DEEPGAP_RETURN_IF_ERROR(add(*fields));
    }
    return finished();
  }

 private:
  Result<void> add(const std::vector<std::string>& fields) {
    const CsvRow row(names_, fields, "");
    if (fields.size() != names_.size()) {
      ++damaged_;
      return {};
    }
    if (wide_ && units_.empty() && row.text("ID").empty()) {
      units_ = fields;
      return {};
    }
    if (row.text("Kernel Name").empty()) {
      ++damaged_;
      return {};
    }
    OpTable::Row& kernel = kernel_of(row);
    if (!wide_)
      return add_metric(kernel, row.text("Metric Name"), row.text("Metric Value"), row.text("Metric Unit"));
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (std::find(std::begin(kColumns), std::end(kColumns), names_[i]) != std::end(kColumns)) continue;
      DEEPGAP_RETURN_IF_ERROR(add_metric(kernel, names_[i], trim(fields[i]),
                                         i < units_.size() ? trim(units_[i]) : std::string_view()));
    }
    return {};
  }

  OpTable::Row& kernel_of(const CsvRow& row) {
    const auto key = std::make_pair(std::string(row.text("Process ID")), std::string(row.text("ID")));
    const auto [found, is_new] = kernels_.try_emplace(key, table_.rows.size());
    if (!is_new && !wide_) return table_.rows[found->second];
    found->second = table_.rows.size();
    OpTable::Row& kernel = table_.rows.emplace_back();
    kernel.record.name = printable(row.text("Kernel Name"), 4096);
    kernel.record.role = OpRole::kKernel;
    if (!row.text("Stream").empty()) kernel.record.lane = "stream " + printable(row.text("Stream"));
    const ops::KernelName name = ops::parse_kernel_name(row.text("Kernel Name"));
    if (name.family != ops::KernelFamily::kUnknown) kernel.kind = ops::name_of(name.family);
    kernel.record.precision_path = name.precision;
    kernel.count = 1;
    if (!row.text("Device").empty()) devices_.insert(printable(row.text("Device")));
    if (!row.text("CC").empty()) capabilities_.insert(printable(row.text("CC")));
    for (const char* size : {"Grid Size", "Block Size"}) {
      if (!row.text(size).empty()) kernel.figures.push_back({size, printable(row.text(size)), ""});
    }
    return kernel;
  }

  Result<void> add_metric(OpTable::Row& kernel, std::string_view name, std::string_view value,
                          std::string_view unit) {
    if (name.empty() || value.empty()) return {};
    if (++figures_ > kMostFigures) {
      return bad_input(
          fmt::format("{}, line {}: expected at most {} metrics: export fewer kernels or sections",
                      printable(source_.path()), lines_.number(), kMostFigures));
    }
    if (is_duration(name)) {
      if (const auto ns = nanoseconds_of(value, unit)) {
        kernel.record.duration = Nanoseconds{*ns};
        timed_.insert(static_cast<std::size_t>(&kernel - table_.rows.data()));
      }
    }
    kernel.figures.push_back({printable(name, 200), printable(value, 200), printable(unit, 40)});
    return {};
  }

  Result<FileContent> finished() {
    FileContent content;
    if (const auto fault = lines_.cut_off()) {
      content.diagnostics.push_back(diagnose(diagnostics::kFileCutOff, "", *fault));
    }
    if (damaged_ > 0) {
      content.diagnostics.push_back(
          diagnose(diagnostics::kEventsLost, "",
                   fmt::format("{} rows are cut off or lack a kernel's name", damaged_), damaged_));
    }
    if (table_.rows.empty()) {
      content.diagnostics.push_back(diagnose(diagnostics::kNoResults, "",
                                             last_error_.empty()
                                                 ? "expected rows of kernels, found none"
                                                 : fmt::format("no kernel was profiled: {}", last_error_)));
      return content;
    }
    table_.title = "kernels";
    table_.per = OpTable::Per::kExecution;
    table_.timed = timed_.size() == table_.rows.size();
    if (!table_.timed && !timed_.empty()) {
      content.diagnostics.push_back(
          diagnose(diagnostics::kEventsLost, "",
                   fmt::format("{} of {} kernels have no duration, so that none is shown",
                               table_.rows.size() - timed_.size(), table_.rows.size()),
                   static_cast<std::int64_t>(table_.rows.size() - timed_.size())));
    }
    if (!table_.timed) {
      for (OpTable::Row& row : table_.rows) row.record.duration = {};
    }
    table_.facts.emplace_back("devices",
                              join(std::vector<std::string>(devices_.begin(), devices_.end()), " "));
    table_.facts.emplace_back(
        "compute_capability",
        join(std::vector<std::string>(capabilities_.begin(), capabilities_.end()), " "));
    content.op_tables.push_back(std::move(table_));
    return content;
  }

  ByteSource& source_;
  LineReader lines_;
  std::vector<std::string> names_;
  std::vector<std::string> units_;
  bool wide_ = false;
  OpTable table_;
  std::map<std::pair<std::string, std::string>, std::size_t> kernels_;
  std::set<std::size_t> timed_;
  std::set<std::string> devices_;
  std::set<std::string> capabilities_;
  std::string last_error_;
  std::int64_t figures_ = 0;
  std::int64_t damaged_ = 0;
};

class NcuCsvImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{
        .id = "nsight-compute-csv",
        .title = "Nsight Compute, what `ncu --csv` prints",
        .content = "kernels with their duration, launch sizes and all metrics with units",
        .basis = "real files of the long form; the wide form (--page raw) from its documentation"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    for (std::size_t at = 0; at < head.size();) {
      const std::size_t end = std::min(head.find('\n', at), head.size());
      const std::string_view line = head.substr(at, end - at);
      if (line.find("\"Kernel Name\"") != std::string_view::npos &&
          line.find("\"ID\"") != std::string_view::npos) {
        return Match::kSurely;
      }
      at = end + 1;
    }
    const bool tool = head.starts_with("==PROF==") || head.starts_with("\xef\xbb\xbf==PROF==") ||
                      head.starts_with("==ERROR==") || head.find("\n==PROF==") != std::string_view::npos ||
                      head.find("\n==ERROR==") != std::string_view::npos;
    return tool ? Match::kPerhaps : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& /*options*/) const override {
    return Reader(source).read();
  }
};

}  // namespace

const Importer& ncu_csv_importer() {
  static const NcuCsvImporter importer;
  return importer;
}

}  // namespace deepgap::trace
