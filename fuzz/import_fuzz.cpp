// A target for each importer: whatever the bytes, what it gives keeps its promises, and so does all that is
// made of it. Seeds are the fixtures of its format and small files in import_seeds.cpp.

#include <limits>
#include <numeric>

#include "example_store.h"
#include "import_seeds.h"
#include "session/foreign_file.h"
#include "session/trace.h"
#include "session/trace_measurement.h"
#include "target.h"
#include "trace/dcgm/dcgm.h"
#include "trace/kineto/kineto.h"
#include "trace/loadgen/loadgen.h"
#include "trace/ncu_csv/ncu_csv.h"
#include "trace/nsys_sqlite/nsys_sqlite.h"
#include "trace/nsys_stats/nsys_stats.h"
#include "trace/nvidia_smi/dmon.h"
#include "trace/nvidia_smi/nvidia_smi_csv.h"
#include "trace/op_records.h"
#include "trace/openvino_report/openvino_report.h"
#include "trace/ort_profile/ort_profile.h"
#include "trace/perf_analyzer/perf_analyzer.h"
#include "trace/perfetto.h"
#include "trace/study_csv/study_csv.h"
#include "trace/trtexec/trtexec.h"

namespace deepgap::fuzz {
namespace {

void check_measurement(const Measurement& measurement) {
  require(!measurement.id.empty(), "what is imported has an id");
  for (const Diagnostic& doubt : measurement.diagnostics) require(!doubt.text.empty(), "a doubt has a text");
  for (const ProcessRun& process : measurement.processes) {
    const SampleColumns& samples = process.samples;
    for (const auto* column : {&samples.start_ns, &samples.enqueue_ns, &samples.device_ns}) {
      require(column->empty() || column->size() == samples.size(), "columns are of equal length or absent");
    }
    for (const std::int64_t ns : samples.host_ns) require(ns >= 0, "no call takes less than no time");
  }
}

void check_telemetry(const TelemetryLog& log) {
  for (const TelemetryLog::Series& series : log.series) {
    require(series.at_ns.size() == series.values.size(), "each value has a time");
    for (std::size_t i = 1; i < series.at_ns.size(); ++i) {
      require(series.at_ns[i - 1] <= series.at_ns[i], "a series goes on in time");
    }
  }
}

void check_ops(const OpTable& table) {
  for (const OpTable::Row& row : table.rows) {
    require(row.record.duration.count() >= 0, "no op takes less than no time");
    require(table.timed || row.record.duration.count() == 0, "what is not timed has no time");
    require(!row.count || *row.count >= 0, "no count is below zero");
  }
}

void check_timeline(const trace::Timeline& timeline) {
  const trace::EventCounts& counts = timeline.counts;
  require(counts.read == counts.kept + counts.ignored + counts.lost, "every event is kept, ignored or lost");
  require(counts.kept == static_cast<std::int64_t>(timeline.events.size() + timeline.memory.size()),
          "what is kept is there");
  const trace::Steps steps = trace::find_steps(timeline);
  const trace::Attribution attribution = trace::attribute(timeline, steps);
  require(attribution.steps.size() == steps.steps.size(), "each step has labels");
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    std::int64_t sum = 0;
    for (const std::int64_t ns : attribution.steps[i].ns) {
      require(ns >= 0, "no label is below zero");
      sum += ns;
    }
    require(sum == steps.steps[i].wall_ns(), "labels sum to the step");
    require(steps.steps[i].start_ns >= end, "steps do not overlap");
    end = steps.steps[i].end_ns;
  }
  const trace::Quality quality = trace::judge(timeline, steps, attribution);
  require(quality.broken.size() == steps.steps.size(), "each step is judged");
  const auto traced = trace::trace_ops(timeline, steps, attribution);
  require(traced.ok(), "the ops' charges are the label kernel");
  std::vector<std::size_t> all(steps.steps.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  require(trace::op_rows(timeline, *traced, all, 3).size() <= 4, "the rest is one row");
  require(trace::op_records(timeline, *traced, steps).size() >= traced->work.size(), "all work is recorded");
  const auto measurement = session::measurement_of(timeline, steps, quality, *traced, "fuzzed", {});
  if (checked(measurement)) check_measurement(*measurement);
  std::size_t written = 0;
  const auto take = [&written](std::string_view piece) {
    written += piece.size();
    return Result<void>{};
  };
  require(trace::write_perfetto(timeline, steps, attribution, take).ok() && written > 0,
          "it is written as a trace");
}

template <const trace::Importer& (*kImporter)()>
void survive(std::string_view input) {
  const std::string path = scratch_file("foreign");
  write_scratch(path, input);
  auto source = trace::ByteSource::open(path);
  if (!checked(source)) return;
  (void)kImporter().sniff(source->head(), source->size());
  // Also where it would not take the file for its own.
  auto content = kImporter().import(*source, {});
  if (!checked(content)) return;
  for (const Measurement& measurement : content->measurements) check_measurement(measurement);
  for (const OpTable& table : content->op_tables) check_ops(table);
  if (content->telemetry) check_telemetry(*content->telemetry);
  if (content->timeline) check_timeline(*content->timeline);
  content->format = kImporter().format().id;
  const auto shown = session::trace_content(std::move(*content), path, {});
  if (checked(shown)) require_document(shown->document);
}

constexpr Target kTargets[] = {
    {"import_dcgm", "what DCGM prints", survive<trace::dcgm_importer>, dcgm_seeds},
    {"import_kineto", "PyTorch profiler traces", survive<trace::kineto_importer>, kineto_seeds},
    {"import_loadgen_summary", "summaries of LoadGen", survive<trace::loadgen_summary_importer>,
     loadgen_summary_seeds},
    {"import_loadgen_detail", "logs of LoadGen", survive<trace::loadgen_detail_importer>,
     loadgen_detail_seeds},
    {"import_nsight_compute_csv", "metrics by Nsight Compute", survive<trace::ncu_csv_importer>,
     ncu_csv_seeds},
    {"import_nsys_sqlite", "exports of Nsight Systems", survive<trace::nsys_sqlite_importer>,
     nsys_sqlite_seeds},
    {"import_nsys_stats_csv", "summaries by Nsight Systems", survive<trace::nsys_stats_importer>,
     nsys_stats_seeds},
    {"import_onnxruntime_profile", "profiles of ONNX Runtime", survive<trace::ort_profile_importer>,
     ort_profile_seeds},
    {"import_openvino_report", "reports of benchmark_app", survive<trace::openvino_report_importer>,
     openvino_report_seeds},
    {"import_openvino_counters", "counters of benchmark_app", survive<trace::openvino_counters_importer>,
     openvino_counters_seeds},
    {"import_perf_analyzer", "tables of perf_analyzer", survive<trace::perf_analyzer_importer>,
     perf_analyzer_seeds},
    {"import_nvidia_smi_csv", "queries of nvidia-smi", survive<trace::nvidia_smi_csv_importer>,
     nvidia_smi_csv_seeds},
    {"import_nvidia_smi_dmon", "logs of nvidia-smi dmon", survive<trace::nvidia_smi_dmon_importer>,
     nvidia_smi_dmon_seeds},
    {"import_trtexec_times", "times of trtexec", survive<trace::trtexec_times_importer>, trtexec_times_seeds},
    {"import_trtexec_profile", "profiles of trtexec", survive<trace::trtexec_profile_importer>,
     trtexec_profile_seeds},
    {"import_trtexec_layers", "layer information of trtexec", survive<trace::trtexec_layers_importer>,
     trtexec_layers_seeds},
    {"import_trtexec_summary", "summaries of trtexec", survive<trace::trtexec_summary_importer>,
     trtexec_summary_seeds},
    {"import_study_csv", "tables of the two studies", survive<trace::study_csv_importer>, study_csv_seeds},
};

}  // namespace

std::span<const Target> import_targets() {
  return kTargets;
}

}  // namespace deepgap::fuzz
