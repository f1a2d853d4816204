// deepgap-worker-conformance: runs a worker through docs/worker-protocol.md and says what it violates.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/file_system.h"
#include "base/text.h"
#include "rules.h"
#include "tiny_onnx.h"

namespace deepgap::conformance {
namespace {

constexpr const char* kUsage =
    "usage: deepgap-worker-conformance WORKER [--model FILE --input NAME:DTYPE:SHAPE ...] [--format NAME]\n"
    "                                  [--precision NAME] [--device ADDRESS] [--set NAME=VALUE ...]\n"
    "                                  [--patience DURATION] [--log FILE] [--only GROUP[,GROUP...]]\n"
    "\n"
    "Starts the worker several times, sends it requests and says of each rule of docs/worker-protocol.md "
    "whether it is\n"
    "kept. Exit code 0: all are, 1: one is violated, 2: wrong usage.\n"
    "\n"
    "  --model FILE       the model to load; by default a tiny ONNX model of its own\n"
    "  --input SPEC       an input of that model at batch 1, as input:float32:1x3x224x224; its first extent "
    "is the batch\n"
    "  --set NAME=VALUE   a setting of each load\n"
    "  --patience TIME    how long a reply may take (default 30s)\n"
    "  --only GROUP,...   of requests, probing, loading, measuring, limits, scheduling, cancelling, verbs, "
    "ending\n"
    "  --log FILE         where the worker's own output goes (default: nowhere)\n";

Result<run::TensorSpec> parse_input(const std::string& text) {
  const auto parts = split(text, ':');
  if (parts.size() != 3)
    return usage_error("expected --input NAME:DTYPE:SHAPE, found '" + printable(text) + "'");
  run::TensorSpec spec{parts[0], parts[1], {}, 0, 1};
  for (const auto& extent : split(parts[2], 'x')) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(extent.data(), extent.data() + extent.size(), value);
    if (error != std::errc{} || end != extent.data() + extent.size() || value < 1)
      return usage_error("expected a shape such as 1x3x224x224, found '" + printable(parts[2]) + "'");
    spec.shape.push_back(value);
  }
  return spec;
}

Result<Options> parse_arguments(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (!name.starts_with("--")) {
      if (!options.worker.empty())
        return usage_error("expected one worker, found a second: '" + printable(name) + "'");
      options.worker = name;
      continue;
    }
    if (i + 1 == arguments.size())
      return usage_error("expected a value after " + printable(name) + ", found none");
    const std::string& value = arguments[++i];
    if (name == "--model") {
      options.model_path = value;
    } else if (name == "--format") {
      options.model_format = value;
    } else if (name == "--device") {
      options.device = value;
    } else if (name == "--log") {
      options.log_path = value;
    } else if (name == "--input") {
      DEEPGAP_ASSIGN(run::TensorSpec input, parse_input(value));
      options.inputs.push_back(std::move(input));
    } else if (name == "--precision") {
      options.precision = parse_precision(value);
      if (!options.precision) return usage_error("unknown precision '" + printable(value) + "'");
    } else if (name == "--set") {
      const auto equals = value.find('=');
      if (equals == std::string::npos)
        return usage_error("expected --set NAME=VALUE, found '" + printable(value) + "'");
      options.settings[value.substr(0, equals)] = value.substr(equals + 1);
    } else if (name == "--only") {
      const auto& known = rule_groups();
      for (const auto& group : split(value, ',')) {
        if (std::find(known.begin(), known.end(), group) == known.end())
          return usage_error(unknown_name("group of rules", group, known));
        options.groups.push_back(group);
      }
    } else if (name == "--patience") {
      DEEPGAP_ASSIGN(options.patience, parse_duration(value));
    } else {
      return usage_error("unknown option " + printable(name));
    }
  }
  if (options.worker.empty()) return usage_error("expected the path of a worker, found none");
  if (!options.model_path.empty() && options.inputs.empty())
    return usage_error("expected --input for each input of the model of --model, found none");
  return options;
}

// The model that is used where none is given, in a folder of its own that goes with this.
class TinyModel {
 public:
  TinyModel() = default;
  TinyModel(const TinyModel&) = delete;
  TinyModel& operator=(const TinyModel&) = delete;
  ~TinyModel() {
    if (folder_.empty()) return;
    unlink(path().c_str());
    rmdir(folder_.c_str());
  }
  Result<void> write() {
    std::error_code error;
    const auto base = std::filesystem::temp_directory_path(error);  // $TMPDIR, where that is set
    std::string pattern = (error ? std::string(".") : base.string()) + "/deepgap-conformance-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr)
      return bad_input("expected to make the folder " + pattern + ": set TMPDIR to one that can be written");
    folder_ = pattern;
    return write_file_atomically(path(), workers::tiny_onnx());
  }
  std::string path() const { return folder_ + "/tiny.onnx"; }

 private:
  std::string folder_;
};

int run_program(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    std::fputs(kUsage, arguments.empty() ? stderr : stdout);
    return arguments.empty() ? 2 : 0;
  }
  auto options = parse_arguments(arguments);
  if (!options.ok()) {
    std::fprintf(stderr, "error: %s\n\n%s", options.error().message().c_str(), kUsage);
    return 2;
  }
  TinyModel tiny;
  if (options->model_path.empty()) {
    if (auto written = tiny.write(); !written.ok()) {
      std::fprintf(stderr, "error: %s\n", written.error().message().c_str());
      return 2;
    }
    options->model_path = tiny.path();
    options->own_model = true;
    options->inputs = {workers::tiny_input(1)};
  }
  const bool kept = check_worker(*options, [](const Finding& finding) {
    const char* verdict = finding.verdict == Verdict::kKept       ? "ok"
                          : finding.verdict == Verdict::kViolated ? "violated"
                                                                  : "skipped";
    std::fputs(fmt::format("{:<9} {:<25} {}{}{}\n", verdict, finding.rule, finding.meaning,
                           finding.text.empty() ? "" : ": ", finding.text)
                   .c_str(),
               stdout);
    std::fflush(stdout);
  });
  std::puts(kept ? "the worker keeps the protocol" : "the worker violates the protocol");
  return kept ? 0 : 1;
}

}  // namespace
}  // namespace deepgap::conformance

int main(int argc, char** argv) {
  return deepgap::conformance::run_program({argv + 1, argv + argc});
}
