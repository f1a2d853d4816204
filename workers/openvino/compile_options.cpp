#include "compile_options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/text.h"

namespace deepgap::openvino {
namespace {

const std::string kThreads(settings::kThreads);
const std::string kStreams(settings::kStreams);
const std::string kAffinity(settings::kAffinity);
const std::string kHugePages(settings::kHugePages);

std::optional<std::string> requested(const run::LoadRequest& request, const std::string& name) {
  const auto entry = request.settings.find(name);
  if (entry == request.settings.end()) return std::nullopt;
  return entry->second;
}

// The number of a setting; nothing where it is not set or `auto`.
Result<std::optional<int>> count_of(const run::LoadRequest& request, const std::string& name) {
  const auto text = requested(request, name);
  if (!text || *text == "auto") return std::optional<int>();
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < 1)
    return usage_error(
        fmt::format("expected {} to be a number from 1, or auto, found '{}'", name, printable(*text, 60)));
  return std::optional<int>(value);
}

// A property as text; nothing where the compiled model does not tell it.
std::optional<std::string> tell(const ov::CompiledModel& compiled, const std::string& property) {
  try {
    return compiled.get_property(property).as<std::string>();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<std::string> precision_name(const std::optional<std::string>& element) {
  if (!element) return std::nullopt;
  if (*element == "f32") return "fp32";
  if (*element == "f16") return "fp16";
  return element;  // "bf16" is its own name
}

std::optional<std::string> yes_or_no(const std::optional<std::string>& flag) {
  if (!flag) return std::nullopt;
  return *flag == "YES" || *flag == "true" || *flag == "1" ? "yes" : "no";
}

}  // namespace

std::vector<std::string> setting_names() {
  return {kThreads, kStreams, kAffinity, kHugePages};
}

Result<ov::AnyMap> compile_properties(const run::LoadRequest& request) {
  ov::AnyMap properties;
  // Precisions that the engine makes from an FP32 model itself go here, each with its inference precision.
  if (request.precision != Precision::kFp32)
    return usage_error(fmt::format("expected the precision fp32, found {}", name_of(request.precision)));
  properties.insert(ov::hint::inference_precision(ov::element::f32));
  DEEPGAP_ASSIGN(const std::optional<int> threads, count_of(request, kThreads));
  if (threads) properties.insert(ov::inference_num_threads(*threads));
  DEEPGAP_ASSIGN(const std::optional<int> streams, count_of(request, kStreams));
  if (streams)
    properties.insert(ov::num_streams(ov::streams::Num(*streams)));
  else
    properties.insert(ov::hint::performance_mode(request.mode == Mode::kLatency
                                                     ? ov::hint::PerformanceMode::LATENCY
                                                     : ov::hint::PerformanceMode::THROUGHPUT));
  // Given a list of processors the threads may move among them; `none` lets them move everywhere.
  if (requested(request, kAffinity)) properties.insert(ov::hint::enable_cpu_pinning(false));
  return properties;
}

std::vector<Setting> effective_settings(const ov::CompiledModel& compiled, const run::LoadRequest& request) {
  const auto own = [&](const char* name, std::optional<std::string> value) {
    return Setting{name, std::nullopt, std::move(value)};
  };
  return {
      {kThreads, requested(request, kThreads), tell(compiled, ov::inference_num_threads.name())},
      {kStreams, requested(request, kStreams), tell(compiled, ov::num_streams.name())},
      {std::string(settings::kInferencePrecision), std::string(name_of(request.precision)),
       precision_name(tell(compiled, ov::hint::inference_precision.name()))},
      own("openvino.performance_hint", tell(compiled, ov::hint::performance_mode.name())),
      own("openvino.execution_mode", tell(compiled, ov::hint::execution_mode.name())),
      own("openvino.cpu_pinning", yes_or_no(tell(compiled, ov::hint::enable_cpu_pinning.name()))),
      own("openvino.hyper_threading", yes_or_no(tell(compiled, ov::hint::enable_hyper_threading.name()))),
      own("openvino.scheduling_core_type", tell(compiled, ov::hint::scheduling_core_type.name())),
      own("openvino.optimal_requests", tell(compiled, ov::optimal_number_of_infer_requests.name())),
      own("openvino.execution_devices", tell(compiled, ov::execution_devices.name())),
  };
}

}  // namespace deepgap::openvino
