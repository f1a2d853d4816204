#include "trace/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "trace/dcgm/dcgm.h"
#include "trace/file_looks.h"
#include "trace/kineto/kineto.h"
#include "trace/loadgen/loadgen.h"
#include "trace/ncu_csv/ncu_csv.h"
#include "trace/nsys_sqlite/nsys_sqlite.h"
#include "trace/nsys_stats/nsys_stats.h"
#include "trace/nvidia_smi/dmon.h"
#include "trace/nvidia_smi/nvidia_smi_csv.h"
#include "trace/openvino_report/openvino_report.h"
#include "trace/ort_profile/ort_profile.h"
#include "trace/perf_analyzer/perf_analyzer.h"
#include "trace/study_csv/study_csv.h"
#include "trace/trtexec/trtexec.h"

namespace deepgap::trace {

std::span<const Importer* const> importers() {
  static const std::array all{&ort_profile_importer(),     &kineto_importer(),
                              &ncu_csv_importer(),         &nsys_stats_importer(),
                              &nsys_sqlite_importer(),     &nvidia_smi_csv_importer(),
                              &nvidia_smi_dmon_importer(), &dcgm_importer(),
                              &loadgen_summary_importer(), &loadgen_detail_importer(),
                              &openvino_report_importer(), &openvino_counters_importer(),
                              &perf_analyzer_importer(),   &trtexec_times_importer(),
                              &trtexec_profile_importer(), &trtexec_layers_importer(),
                              &trtexec_summary_importer(), &study_csv_importer()};
  return all;
}

Result<const Importer*> importer_of(const ByteSource& source) {
  const Importer* best = nullptr;
  Match match = Match::kNo;
  for (const Importer* importer : importers()) {
    const Match found = importer->sniff(source.head(), source.size());
    if (found > match) {
      best = importer;
      match = found;
    }
  }
  if (best != nullptr) return best;
  return bad_input(fmt::format("{}: expected a file of a format that `deepgap formats` lists, found {}",
                               printable(source.path()), looks_of(source.head(), source.size())));
}

Result<FileContent> read_file(const std::string& path, const ImportOptions& options) {
  DEEPGAP_ASSIGN(ByteSource source, ByteSource::open(path));
  DEEPGAP_ASSIGN(const Importer* const importer, importer_of(source));
  DEEPGAP_ASSIGN(FileContent content, importer->import(source, options));
  content.format = importer->format().id;
  return content;
}

}  // namespace deepgap::trace
