// trace: whether a trace can be trusted, what is in it, and where each step's time went.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.h"
#include "report/json_of.h"
#include "report/trace_findings.h"
#include "report/views/trace_answer.h"
#include "report/views/trace_ops.h"

namespace deepgap::report {
namespace {

std::string verdict_text(const TraceFindings& findings) {
  if (findings.verdict == "usable") {
    return findings.diagnostics.empty() ? "Usable: nothing was lost or repaired."
                                        : "Usable: nothing was lost or repaired; see the notes below.";
  }
  if (findings.verdict == "usable_with_loss") return "Usable with loss: see what is said below.";
  return "Unusable: no step of it can be trusted.";
}

std::string basis_text(const TraceFindings& findings) {
  const std::size_t count = findings.steps.size();
  const std::string steps = counted(static_cast<std::int64_t>(count), "step");
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
      fmt::format("Format {}{}: {}, {} of them kept, {} ignored, {} lost; ", findings.format, devices,
                  counted(findings.read, "event"), findings.kept, findings.ignored, findings.lost);
  text += findings.kernels == 0
              ? "no kernels"
              : fmt::format("{} of {} in all", counted(findings.kernels, "kernel"),
                            format_value(static_cast<double>(findings.kernel_ns), Unit::kNanoseconds));
  if (findings.window_ns) {
    text += fmt::format(" in a window of {}",
                        format_value(static_cast<double>(*findings.window_ns), Unit::kNanoseconds));
  }
  return text + "; " + basis_text(findings) + ".";
}

// What of the devices the times are of.
std::string device_text(const TraceFindings& findings) {
  if (!findings.device || findings.working_devices.size() < 2) return "";
  return fmt::format(" Of {} devices with work the times below are of device {} (another: --device N).",
                     findings.working_devices.size(), *findings.device);
}

Table mean_table(const TraceFindings& findings, const TraceMean& mean) {
  Table table{.title = fmt::format("Where a step's time went, mean of {}", findings.averaged.size())};
  table.columns = {{.id = "label", .title = "label"},
                   {.id = "time", .title = "time", .align = Align::kRight, .scale = milliseconds()},
                   {.id = "share", .title = "share", .align = Align::kRight, .scale = percent()},
                   {.id = "meaning", .title = findings.device ? "the device" : "the program"}};
  std::vector<std::size_t> order;
  for (std::size_t label = 0; label < mean.labels_ns.size(); ++label) {
    if (mean.labels_ns[label] > 0) order.push_back(label);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return mean.labels_ns[a] > mean.labels_ns[b]; });
  for (const std::size_t label : order) {
    const std::string words =
        label < findings.label_words.size() ? findings.label_words[label].device : std::string();
    table.rows.push_back({findings.steps[0].labels[label].first, mean.labels_ns[label],
                          mean.share(mean.labels_ns[label]), words});
  }
  table.rows.push_back({std::string("a step"), mean.wall_ns, 1.0, std::string(kBlank)});
  return table;
}

constexpr std::size_t kShownSteps = 12;

// Those that stand out where there are many: what is in no average, then the longest.
std::vector<std::size_t> shown_steps(const TraceFindings& findings) {
  std::vector<std::size_t> shown(findings.steps.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (shown.size() <= kShownSteps) return shown;
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t step) {
      const TraceFindings::Step& each = findings.steps[step];
      return std::pair(each.broken || each.warmup, each.wall_ns);
    };
    return rank(a) > rank(b);
  });
  shown.resize(kShownSteps);
  std::sort(shown.begin(), shown.end());
  return shown;
}

Table steps_table(const TraceFindings& findings) {
  const std::vector<std::size_t> shown = shown_steps(findings);
  const bool all = shown.size() == findings.steps.size();
  Table table{.title = all ? std::string("Steps")
                           : fmt::format("Steps: {} of {}, those in no average and the longest", shown.size(),
                                         findings.steps.size()),
              .machine = false};
  table.columns = {{.id = "step", .title = "step"},
                   {.id = "wall", .title = "wall", .align = Align::kRight, .scale = milliseconds()}};
  std::vector<std::size_t> labels;
  for (std::size_t label = 0; label < findings.steps[0].labels.size(); ++label) {
    const auto has = [&](std::size_t step) { return findings.steps[step].labels[label].second > 0; };
    if (std::none_of(shown.begin(), shown.end(), has)) continue;
    labels.push_back(label);
    const std::string& name = findings.steps[0].labels[label].first;
    const std::string title = label < findings.label_words.size() ? findings.label_words[label].title : name;
    table.columns.push_back({.id = name, .title = title, .align = Align::kRight, .scale = milliseconds()});
  }
  table.columns.push_back({.id = "note", .title = "note"});
  for (const std::size_t index : shown) {
    const TraceFindings::Step& step = findings.steps[index];
    std::vector<Cell> row{step.name, static_cast<double>(step.wall_ns)};
    for (const std::size_t label : labels) row.emplace_back(static_cast<double>(step.labels[label].second));
    row.emplace_back(step.broken ? "broken: in no average" : step.warmup ? "warm-up" : std::string(kBlank));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Json json_of_mean(const TraceFindings& findings, const TraceMean& mean) {
  Json json{{"steps", findings.averaged}, {"wall_ns", json_number(mean.wall_ns)}};
  if (findings.mean_half_width_ns) {
    json["lower_ns"] = json_number(mean.wall_ns - *findings.mean_half_width_ns);
    json["upper_ns"] = json_number(mean.wall_ns + *findings.mean_half_width_ns);
  }
  json["labels"] = Json::array();
  for (std::size_t label = 0; label < mean.labels_ns.size(); ++label) {
    json["labels"].push_back(
        {{"id", findings.steps[0].labels[label].first}, {"ns", json_number(mean.labels_ns[label])}});
  }
  return json;
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
  if (const auto mean = mean_of(findings)) json["mean"] = json_of_mean(findings, *mean);
  json["ops"] = json_of_ops(findings);
  json["facts"] = Json::object();
  for (const auto& [name, value] : findings.facts) json["facts"][name] = value;
  return json;
}

}  // namespace

Document trace_document(const TraceFindings& findings) {
  Document document{.schema = "deepgap.trace/1"};
  document.add(Paragraph{verdict_text(findings) + " " + content_text(findings) + device_text(findings)});
  if (const auto mean = mean_of(findings); mean && findings.verdict != "unusable") {
    for (std::string& text : trace_answer(findings, *mean)) document.add(Paragraph{std::move(text)});
    document.add(mean_table(findings, *mean));
    if (std::optional<Table> ops = ops_table(findings, *mean)) document.add(std::move(*ops));
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
