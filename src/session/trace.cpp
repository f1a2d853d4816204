#include "session/trace.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "report/trace_findings.h"
#include "session/foreign_file.h"
#include "session/op_findings.h"
#include "stats/distributions.h"
#include "trace/attribution.h"
#include "trace/importer.h"
#include "trace/label_words.h"
#include "trace/perfetto.h"
#include "trace/quality.h"
#include "trace/steps.h"
#include "trace/traced_ops.h"

namespace deepgap::session {
namespace {

std::string case_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.find('.'));
}

std::set<std::int64_t> devices_with_work(const trace::Timeline& timeline) {
  std::set<std::int64_t> devices;
  for (const trace::Event& event : timeline.events) {
    const bool work = event.role == trace::Role::kKernel || event.role == trace::Role::kCopy ||
                      event.role == trace::Role::kMemset;
    if (work) devices.insert(timeline.launches[event.detail].device);
  }
  return devices;
}

Result<void> check_device(const trace::Timeline& timeline, std::int64_t device) {
  const std::set<std::int64_t> devices = devices_with_work(timeline);
  if (devices.contains(device)) return {};
  std::vector<std::string> names;
  for (const std::int64_t each : devices) names.push_back(std::to_string(each));
  return usage_error(
      fmt::format("--device {}: expected a device that the trace has work of ({}), found none of it", device,
                  names.empty() ? "it has none" : join(names, ", ")));
}

// Of the 95 % interval of the steps' mean, by Student's t: the steps of a trace are few, and none is left
// out.
std::optional<double> half_width(const trace::Steps& steps, const std::vector<std::size_t>& averaged) {
  if (averaged.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(averaged.size());
  double mean = 0;
  for (const std::size_t step : averaged) mean += static_cast<double>(steps.steps[step].wall_ns()) / count;
  double squares = 0;
  for (const std::size_t step : averaged) {
    const double off = static_cast<double>(steps.steps[step].wall_ns()) - mean;
    squares += off * off;
  }
  return stats::student_t_quantile(0.975, count - 1) * std::sqrt(squares / (count - 1) / count);
}

report::TraceFindings findings_of(const trace::Timeline& timeline, const trace::Steps& steps,
                                  const trace::Attribution& attribution, const trace::Quality& quality) {
  report::TraceFindings findings;
  findings.format = timeline.format;
  findings.verdict = trace::name_of(quality.verdict);
  findings.diagnostics = quality.diagnostics;
  for (const trace::TraceDevice& device : timeline.devices) {
    findings.devices.push_back(
        {device.id, device.name, device.multiprocessors, device.compute_capability, device.memory_bytes});
  }
  if (attribution.device) findings.device = *attribution.device;
  if (timeline.window_end_ns >= timeline.window_start_ns) {
    findings.window_ns = timeline.window_end_ns - timeline.window_start_ns;
  }
  findings.read = timeline.counts.read;
  findings.kept = timeline.counts.kept;
  findings.ignored = timeline.counts.ignored;
  findings.lost = timeline.counts.lost;
  const trace::Total kernels = trace::total_of(timeline, trace::Role::kKernel);
  findings.kernels = kernels.count;
  findings.kernel_ns = kernels.ns;
  for (const std::int64_t device : devices_with_work(timeline)) findings.working_devices.push_back(device);
  findings.step_basis = trace::name_of(steps.basis);
  findings.step_extent = trace::name_of(steps.extent);
  findings.launches_block = attribution.launches_block;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    report::TraceFindings::Step step{.name = steps.steps[i].name,
                                     .wall_ns = steps.steps[i].wall_ns(),
                                     .warmup = steps.steps[i].warmup,
                                     .broken = quality.broken[i],
                                     .labels = {}};
    for (std::size_t label = 0; label < trace::kLabels; ++label) {
      step.labels.emplace_back(trace::name_of(static_cast<trace::Label>(label)),
                               attribution.steps[i].ns[label]);
    }
    findings.steps.push_back(std::move(step));
  }
  for (std::size_t label = 0; label < trace::kLabels; ++label) {
    const trace::LabelWords& words = trace::words_of(static_cast<trace::Label>(label));
    findings.label_words.push_back(
        {std::string(words.title), std::string(words.device), std::string(words.remedy)});
  }
  findings.averaged = trace::steps_to_average(steps, quality);
  findings.mean_half_width_ns = half_width(steps, findings.averaged);
  findings.facts = timeline.facts;
  return findings;
}

}  // namespace

Result<std::int64_t> unprofiled_time(const std::string& text, const std::string& trace_path) {
  if (const auto time = parse_duration(text); time.ok()) return time->count();
  std::ifstream lines(text);
  if (!lines) {
    return usage_error(fmt::format(
        "--timing: expected a time such as 40.4ms or a file of JSON lines, found '{}'", printable(text)));
  }
  const std::string wanted = case_of(trace_path);
  std::optional<double> found;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("case", nlohmann::json()) != wanted) continue;
    const auto wall = json.find("wall_ms_p50");
    if (wall != json.end() && wall->is_number()) found = wall->get<double>();
  }
  if (!found || !(*found > 0) || *found > 1e12) {
    return bad_input(
        fmt::format("{}: expected a line with the case '{}' and its wall_ms_p50 above 0, found none",
                    printable(text), printable(wanted)));
  }
  return std::llround(*found * 1e6);
}

Result<Answer> trace_file(const std::string& path, const TraceOptions& options) {
  DEEPGAP_ASSIGN(trace::FileContent content, trace::read_file(path));
  return trace_content(std::move(content), path, options);
}

Result<Answer> trace_content(trace::FileContent content, const std::string& path,
                             const TraceOptions& options) {
  if (!content.timeline) {
    if (options.device || options.unprofiled_ns) {
      return usage_error(
          fmt::format("{}: --device and --timing are for traces, found a file of the format {}",
                      printable(path), content.format));
    }
    return file_answer(std::move(content), path, "deepgap.trace/1");
  }
  const trace::Timeline& timeline = *content.timeline;
  if (options.device) DEEPGAP_RETURN_IF_ERROR(check_device(timeline, *options.device));
  const trace::Steps steps = trace::find_steps(timeline);
  std::optional<std::int32_t> device;
  if (options.device) device = static_cast<std::int32_t>(*options.device);  // one of the trace's
  const trace::Attribution attribution = trace::attribute(timeline, steps, device);
  const trace::Quality quality = trace::judge(timeline, steps, attribution, options.unprofiled_ns);
  report::TraceFindings findings = findings_of(timeline, steps, attribution, quality);
  findings.path = path;
  findings.unprofiled_ns = options.unprofiled_ns;
  DEEPGAP_ASSIGN(const trace::TracedOps traced, trace::trace_ops(timeline, steps, attribution));
  findings.ops = op_findings(timeline, traced, findings.averaged);
  findings.ops_shown = options.ops;
  Answer answer{.document = report::trace_document(findings),
                .exit = quality.verdict == trace::Verdict::kUnusable ? ExitCode::kPartial : ExitCode::kDone};
  answer.document.perfetto = [kept = std::make_shared<const trace::FileContent>(std::move(content)), steps,
                              attribution](const ByteSink& write) {
    return trace::write_perfetto(*kept->timeline, steps, attribution, write);
  };
  return answer;
}

}  // namespace deepgap::session
