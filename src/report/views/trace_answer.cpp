#include "report/views/trace_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/text.h"
#include "base/units.h"
#include "report/views/trace_ops.h"

namespace deepgap::report {
namespace {

// What is worth a word: the first always, others from this share of a step on.
constexpr double kWorthAWord = 0.1;
constexpr std::size_t kMostWords = 3;

std::string time_text(double ns) {
  return format_value(ns, Unit::kNanoseconds);
}

std::string percent_text(double share) {
  return format_number(share * 100, share >= 0.1 ? 2 : 1) + " %";
}

// The ops with most of something, with their shares of the step: "linear 40 %, gelu 12 %".
template <typename Of>
std::string ops_text(const TraceFindings& findings, const TraceMean& mean, Of of, bool shares) {
  std::map<std::string, double> sums;
  for (const TraceFindings::Op& op : findings.ops) {
    if (op.kind != "rest" && of(op) > 0) sums[short_name(op)] += static_cast<double>(of(op));
  }
  std::vector<std::pair<std::string, double>> most(sums.begin(), sums.end());
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (const auto& [name, ns] : most) {
    if (texts.size() == kMostWords || (!texts.empty() && ns < most[0].second / 5)) break;
    texts.push_back(printable(name, 40) + (shares ? " " + percent_text(mean.share(ns)) : ""));
  }
  return join(texts, ", ");
}

std::string wall_text(const TraceFindings& findings, const TraceMean& mean) {
  std::string text = fmt::format("A step takes {}", time_text(mean.wall_ns));
  if (findings.averaged.size() > 1) {
    std::int64_t least = findings.steps[findings.averaged[0]].wall_ns;
    std::int64_t most = least;
    for (const std::size_t step : findings.averaged) {
      least = std::min(least, findings.steps[step].wall_ns);
      most = std::max(most, findings.steps[step].wall_ns);
    }
    text += fmt::format(" (mean of {}, from {} to {}", findings.averaged.size(),
                        time_text(static_cast<double>(least)), time_text(static_cast<double>(most)));
    if (findings.mean_half_width_ns)
      text += fmt::format("; 95 % interval of the mean +-{}", time_text(*findings.mean_half_width_ns));
    text += ")";
  }
  return text;
}

// FP32 products that matrix units could do in another arithmetic.
std::string precision_text(const TraceFindings& findings, const TraceMean& mean) {
  double fp32 = 0;
  for (const TraceFindings::Op& op : findings.ops) {
    const bool product = op.family == "gemm" || op.family == "implicit_gemm" || op.family == "winograd" ||
                         op.family == "direct" || op.family == "fft" || op.family == "attention";
    // What is kept in half and multiplied in float has no other path to take.
    const bool half = !op.dtypes.empty() && op.dtypes[0].find("16") != std::string::npos;
    if (product && !half && op.precision_path == "fp32") fp32 += static_cast<double>(op.charge_ns);
  }
  if (mean.share(fp32) < kWorthAWord) return "";
  std::string ways;
  for (const TraceFindings::Device& device : findings.devices) {
    if (device.id != findings.device || !device.compute_capability) continue;
    const std::string& capability = *device.compute_capability;
    if (capability.starts_with("7.")) ways = "FP16 (torch.autocast, half())";
    if (capability.size() > 1 && (capability[0] >= '8' || capability.find('.') >= 2))
      ways = "TF32 (torch.set_float32_matmul_precision(\"high\")), BF16 or FP16 (torch.autocast)";
  }
  if (ways.empty()) return "";
  return fmt::format("products in FP32 take {} of a step, and matrix units do them in {}",
                     percent_text(mean.share(fp32)), ways);
}

}  // namespace

double TraceMean::label(const TraceFindings& findings, std::string_view id) const {
  for (std::size_t label = 0; label < labels_ns.size(); ++label) {
    if (findings.steps[0].labels[label].first == id) return labels_ns[label];
  }
  return 0;
}

std::optional<TraceMean> mean_of(const TraceFindings& findings) {
  if (findings.averaged.empty()) return std::nullopt;
  const auto count = static_cast<double>(findings.averaged.size());
  TraceMean mean;
  mean.labels_ns.assign(findings.steps[findings.averaged[0]].labels.size(), 0);
  for (const std::size_t step : findings.averaged) {
    mean.wall_ns += static_cast<double>(findings.steps[step].wall_ns) / count;
    for (std::size_t label = 0; label < mean.labels_ns.size(); ++label)
      mean.labels_ns[label] += static_cast<double>(findings.steps[step].labels[label].second) / count;
  }
  return mean;
}

std::vector<std::string> trace_answer(const TraceFindings& findings, const TraceMean& mean) {
  std::vector<std::string> answer;
  const double kernel = mean.label(findings, "kernel");
  std::string text = wall_text(findings, mean);
  const std::string_view who = findings.device ? "the device" : "the CPU";
  text += fmt::format(": {} computes for {} of it", who, percent_text(mean.share(kernel)));
  const auto charge = [](const TraceFindings::Op& op) { return op.charge_ns; };
  if (const std::string ops = ops_text(findings, mean, charge, true);
      !ops.empty() && mean.share(kernel) >= 0.2)
    text += " (" + ops + ")";
  // What else it does, most first.
  std::vector<std::size_t> others;
  for (std::size_t label = 0; label < mean.labels_ns.size(); ++label) {
    if (findings.steps[0].labels[label].first != "kernel" && mean.labels_ns[label] > 0)
      others.push_back(label);
  }
  std::stable_sort(others.begin(), others.end(),
                   [&](std::size_t a, std::size_t b) { return mean.labels_ns[a] > mean.labels_ns[b]; });
  std::vector<std::string> remedies;
  std::size_t said = 0;
  for (const std::size_t label : others) {
    const double share = mean.share(mean.labels_ns[label]);
    if (said == kMostWords || share < (said == 0 ? 0.02 : kWorthAWord)) break;
    if (label >= findings.label_words.size()) break;
    const TraceFindings::LabelWords& words = findings.label_words[label];
    ++said;
    text += fmt::format("; for {} it {}", percent_text(share), words.device);
    if (findings.steps[0].labels[label].first == "idle_host_launch") {
      const auto wait = [](const TraceFindings::Op& op) { return op.launch_wait_ns; };
      if (const std::string ops = ops_text(findings, mean, wait, false); !ops.empty())
        text += fmt::format(" (mostly {})", ops);
    }
    if (findings.device && share >= kWorthAWord && !words.remedy.empty()) remedies.push_back(words.remedy);
  }
  answer.push_back(text + ".");
  if (const std::string precision = precision_text(findings, mean); !precision.empty())
    remedies.insert(mean.share(kernel) >= 0.5 ? remedies.begin() : remedies.end(), precision);
  if (!remedies.empty()) answer.push_back("To try: " + join(remedies, "; ") + ".");
  if (findings.unprofiled_ns && *findings.unprofiled_ns > 0) {
    answer.push_back(
        fmt::format("Without the profiler a step takes {}: {} times as long in the trace.",
                    time_text(static_cast<double>(*findings.unprofiled_ns)),
                    format_number(mean.wall_ns / static_cast<double>(*findings.unprofiled_ns), 3)));
  }
  return answer;
}

}  // namespace deepgap::report
