#include "trace/dcgm/dcgm.h"

#include <algorithm>
#include <limits>

#include "trace/first_lines.h"

namespace deepgap::trace {
namespace {

bool has_line(std::string_view head, bool (*matches)(std::string_view line)) {
  const auto lines = first_lines(head, std::numeric_limits<std::size_t>::max());
  return std::any_of(lines.begin(), lines.end(), matches);
}

// "#Entity   GPUTL"
bool is_dmon(std::string_view line) {
  constexpr std::string_view kBegin = "#Entity ";
  return line.starts_with(kBegin) && !trim(line.substr(kBegin.size())).empty();
}

// A sample of a field, or what Prometheus is told of one. (A file that lists fields for the exporter has
// neither.)
bool is_exporter(std::string_view line) {
  if (line.starts_with("# HELP DCGM_FI_") || line.starts_with("# TYPE DCGM_FI_")) return true;
  const std::string_view name = line.substr(0, line.find('{'));
  if (name.size() == line.size() || name.find_first_of(" \t,") != std::string_view::npos) return false;
  return name.starts_with("DCGM_FI_") ||
         (name.starts_with("dcgm_") && line.substr(name.size()).starts_with("{gpu="));
}

class DcgmImporter final : public Importer {
 public:
  const Format& format() const override {
    static const Format format{.id = "dcgm",
                               .title = "DCGM: dcgmi dmon, dcgm-exporter",
                               .content =
                                   "power, clocks, temperatures, utilisation, memory, activity of units, "
                                   "traffic, violations, errors, each device's over time",
                               .basis = "DCGM's documentation and sources; no real file was to be had"};
    return format;
  }

  Match sniff(std::string_view head, std::int64_t /*size*/) const override {
    return has_line(head, is_dmon) || has_line(head, is_exporter) ? Match::kSurely : Match::kNo;
  }

  Result<FileContent> import(ByteSource& source, const ImportOptions& /*options*/) const override {
    return has_line(source.head(), is_dmon) ? read_dcgmi_dmon(source) : read_dcgm_exporter(source);
  }
};

}  // namespace

const Importer& dcgm_importer() {
  static const DcgmImporter importer;
  return importer;
}

}  // namespace deepgap::trace
