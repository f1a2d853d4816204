// trace: whether a trace can be trusted, what is in it, and where each step's time went.

#include <fmt/format.h>

#include <algorithm>

#include "report/json_of.h"
#include "report/trace_findings.h"
#include "report/views/trace_ops.h"

namespace deepgap::report {
namespace {

std::string verdict_text(const TraceFindings& findings) {
  if (findings.verdict == "usable") return "Usable: nothing was lost or repaired.";
  if (findings.verdict == "usable_with_loss") return "Usable with loss: see what is said below.";
  return "Unusable: no step of it can be trusted.";
}

std::string basis_text(const TraceFindings& findings) {
  const std::size_t count = findings.steps.size();
  const std::string steps = fmt::format("{} step{}", count, count == 1 ? "" : "s");
  if (findings.step_basis == "profiler_steps") return steps + ", marked by the profiler";
  if (findings.step_basis == "annotations") return steps + ", by an annotation that comes back";
  if (findings.step_basis == "repeated_ops") return steps + ", by a sequence of ops that comes back";
  if (findings.step_basis == "repeated_launches") return steps + ", by launches that come back";
  return "no steps are marked: the whole trace is one";
}

std::string content_text(const TraceFindings& findings) {
  std::string devices;
  for (const TraceFindings::Device& device : findings.devices) {
    if (device.name.empty() || devices.find(device.name) != std::string::npos) continue;
    devices += (devices.empty() ? ", " : " and ") + device.name;
  }
  std::string text =
      fmt::format("Format {}{}: {} events, of which {} were kept, {} ignored, {} lost; ", findings.format,
                  devices, findings.read, findings.kept, findings.ignored, findings.lost);
  text += findings.kernels == 0
              ? "no kernels"
              : fmt::format("{} kernels of {} in all", findings.kernels,
                            format_value(static_cast<double>(findings.kernel_ns), Unit::kNanoseconds));
  if (findings.window_ns) {
    text += fmt::format(" in a window of {}",
                        format_value(static_cast<double>(*findings.window_ns), Unit::kNanoseconds));
  }
  return text + "; " + basis_text(findings) + ".";
}

double mean_wall(const TraceFindings& findings) {
  const auto count = static_cast<double>(findings.averaged.size());
  double wall = 0;
  for (const std::size_t step : findings.averaged)
    wall += static_cast<double>(findings.steps[step].wall_ns) / count;
  return wall;
}

// The mean of the steps that may have one.
Table mean_table(const TraceFindings& findings) {
  const auto count = static_cast<double>(findings.averaged.size());
  const double wall = mean_wall(findings);
  Table table{.title = fmt::format("Where a step's time went, mean of {}", findings.averaged.size())};
  table.columns = {{.id = "label", .title = "label"},
                   {.id = "time", .title = "time", .align = Align::kRight, .scale = milliseconds()},
                   {.id = "share", .title = "share", .align = Align::kRight, .scale = percent()}};
  const std::size_t labels = findings.steps[findings.averaged[0]].labels.size();
  for (std::size_t label = 0; label < labels; ++label) {
    double mean = 0;
    for (const std::size_t step : findings.averaged) {
      mean += static_cast<double>(findings.steps[step].labels[label].second) / count;
    }
    if (mean > 0)
      table.rows.push_back({findings.steps[0].labels[label].first, mean, wall > 0 ? mean / wall : 0});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::get<double>(a[1]) > std::get<double>(b[1]);
  });
  table.rows.push_back({std::string("a step"), wall, 1.0});
  return table;
}

Table steps_table(const TraceFindings& findings) {
  Table table{.title = "Steps", .machine = false};
  table.columns = {{.id = "step", .title = "step"},
                   {.id = "wall", .title = "wall", .align = Align::kRight, .scale = milliseconds()}};
  std::vector<std::size_t> shown;
  for (std::size_t label = 0; label < findings.steps[0].labels.size(); ++label) {
    const auto has = [label](const TraceFindings::Step& step) { return step.labels[label].second > 0; };
    if (std::none_of(findings.steps.begin(), findings.steps.end(), has)) continue;
    shown.push_back(label);
    const std::string& name = findings.steps[0].labels[label].first;
    table.columns.push_back({.id = name, .title = name, .align = Align::kRight, .scale = milliseconds()});
  }
  table.columns.push_back({.id = "note", .title = "note"});
  for (const TraceFindings::Step& step : findings.steps) {
    std::vector<Cell> row{step.name, static_cast<double>(step.wall_ns)};
    for (const std::size_t label : shown) row.emplace_back(static_cast<double>(step.labels[label].second));
    row.emplace_back(step.broken ? "broken: in no average" : step.warmup ? "warm-up" : std::string(kBlank));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json json_of_trace(const TraceFindings& findings) {
  Json json;
  json["quality"] = {{"verdict", findings.verdict},
                     {"diagnostics", json_of(std::span<const Diagnostic>(findings.diagnostics))}};
  json["format"] = findings.format;
  json["file"] = findings.path;
  json["devices"] = Json::array();
  for (const TraceFindings::Device& device : findings.devices) {
    Json each{{"id", device.id}, {"name", device.name}};
    put(each, "multiprocessors", device.multiprocessors);
    put(each, "compute_capability", device.compute_capability);
    put(each, "memory_bytes", device.memory_bytes);
    json["devices"].push_back(std::move(each));
  }
  put(json, "device", findings.device);
  put(json, "window_ns", findings.window_ns);
  json["events"] = {{"read", findings.read},
                    {"kept", findings.kept},
                    {"ignored", findings.ignored},
                    {"lost", findings.lost}};
  json["kernels"] = {{"count", findings.kernels}, {"total_ns", findings.kernel_ns}};
  json["step_basis"] = findings.step_basis;
  json["step_extent"] = findings.step_extent;
  json["launches_block"] = findings.launches_block;
  json["steps"] = Json::array();
  for (const TraceFindings::Step& step : findings.steps) {
    Json labels = Json::array();
    for (const auto& [id, ns] : step.labels) labels.push_back({{"id", id}, {"ns", ns}});
    json["steps"].push_back({{"name", step.name},
                             {"wall_ns", step.wall_ns},
                             {"warmup", step.warmup},
                             {"broken", step.broken},
                             {"labels", std::move(labels)}});
  }
  json["ops"] = json_of_ops(findings);
  json["facts"] = Json::object();
  for (const auto& [name, value] : findings.facts) json["facts"][name] = value;
  return json;
}

}  // namespace

Document trace_document(const TraceFindings& findings) {
  Document document{.schema = "deepgap.trace/1"};
  document.add(Paragraph{verdict_text(findings) + " " + content_text(findings)});
  if (!findings.averaged.empty() && findings.verdict != "unusable") {
    document.add(mean_table(findings));
    if (std::optional<Table> ops = ops_table(findings, mean_wall(findings))) document.add(std::move(*ops));
  }
  if (!findings.steps.empty()) document.add(steps_table(findings));
  if (findings.launches_block) {
    document.add(Paragraph{
        "Launches block in this trace (CUDA_LAUNCH_BLOCKING=1, or a debugging layer): host and device never "
        "overlap, and that is what it shows first."});
  }
  document.add(DiagnosticList{findings.diagnostics});
  document.data = ready(json_of_trace(findings));
  return document;
}

}  // namespace deepgap::report
