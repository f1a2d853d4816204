#include "session/run.h"

#include <algorithm>

#include "base/text.h"
#include "verbs/database.h"
#include "verbs/verbs.h"

namespace deepgap::app {
namespace {

constexpr PositionalSpec kPositionals[] = {
    {"MODEL", "built-in models (`deepgap models`) or .onnx files; separated by commas or spaces", 0, -1},
};
constexpr OptionSpec kOptions[] = {
    {"--engine", "NAME,...", "what executes the models (`deepgap engines`)", "openvino"},
    {"--device", "NAME,...", "where", "cpu"},
    {"--precision", "NAME,...", "fp32, tf32, fp16, bf16, int8, ...: what the engine is asked for", "fp32"},
    {"--batch", "N,...", "samples a call", "1"},
    {"--mode", "NAME,...", "latency: one call at a time; throughput: calls in flight back to back",
     "latency,throughput"},
    {"--dim", "NAME=N", "size of an open dimension besides the batch, such as seq=128", "", true},
    {"--threads", "N", "threads of a CPU engine", "the engine's choice"},
    {"--set", "NAME=VALUE", "any other setting of the run or the engine (`deepgap engines` lists them)", "",
     true},
    {"--in-flight", "N", "throughput: calls in flight, at most 4096", "the engine's choice"},
    {"--input-buffers", "N", "inputs that are rotated call by call; 1 keeps caches warm", "4"},
    {"--time-limit", "TIME",
     "per cell: warm-up and timed calls of all its processes; a preset's cell has a fifth of what its "
     "study's "
     "protocol would take, loads included",
     "20s"},
    {"--target", "SHARE", "stop when the 95 % interval of the median is this near to it", "1%"},
    {"--repeats", "N[..M]",
     "fresh processes a cell; with M: more of them, until the interval with their variation is within the "
     "target",
     "3"},
    {"--isolate", "group|cell",
     "who gets a process of its own: the cells of one engine, model and precision, or each cell", "group"},
    {"--hang-limit", "TIME",
     "a worker that is silent for so long is given up; one that starts, after 30 s at most", "120s"},
    {"--seed", "N", "of the order of cells and of input values", "1"},
    {"--preset", "NAME",
     "the grid of a published study: gdev-ai, deep-gap; 3 to 12 processes a cell, until the interval with "
     "their variation is within the target; a precision that the engine does not run makes refused cells",
     ""},
    {"--like-published", "",
     "with --preset: its fixed counts (20 warm-up and 100 timed calls, 10 sweeps of 3 repeats)", ""},
    {"--dry-run", "", "print the cells with the memory and time they will take, and run nothing", ""},
    {"--resume", "", "go on with the newest unfinished sweep of the store that no other process runs", ""},
};
constexpr std::string_view kExamples[] = {
    "deepgap run resnet50 --batch 1,4,16",
    "deepgap run resnet18,mobilenet-v2 --threads 2 --time-limit 10s",
    "deepgap run my-model.onnx --dim seq=128 --mode latency",
    "deepgap run --preset gdev-ai --dry-run",
    "deepgap run --resume",
};

// "3" or "3..9".
Result<void> take_repeats(const std::string& text, session::RunOptions& options) {
  const std::size_t dots = text.find("..");
  DEEPGAP_ASSIGN(const std::int64_t least, parse_integer(text.substr(0, dots), "--repeats", 1));
  std::int64_t most = least;
  if (dots != std::string::npos) {
    DEEPGAP_ASSIGN(most, parse_integer(text.substr(dots + 2), "--repeats", least));
  }
  constexpr std::int64_t kMost = 10000;
  if (most > kMost)
    return usage_error("--repeats: expected at most 10000 processes a cell, found " + std::to_string(most));
  options.repeats = static_cast<int>(least);
  options.most_repeats = static_cast<int>(most);
  return {};
}

template <typename T>
Result<std::vector<T>> named(const Arguments& arguments, std::string_view option, std::string_view what,
                             std::optional<T> (*parse)(std::string_view),
                             const std::vector<std::string>& names) {
  DEEPGAP_ASSIGN(const std::vector<std::string> words, arguments.list(option));
  std::vector<T> values;
  for (const std::string& word : words) {
    const std::optional<T> value = parse(word);
    if (!value) return usage_error(unknown_name(what, word, names));
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
  }
  return values;
}

template <typename T>
Result<std::optional<int>> small_integer(const Arguments& arguments, std::string_view option, T least) {
  DEEPGAP_ASSIGN(const std::optional<std::int64_t> value, arguments.integer(option, least));
  if (!value) return std::optional<int>{};
  if (*value > 1'000'000)
    return usage_error(std::string(option) + ": expected at most 1000000, found " + std::to_string(*value));
  return std::optional<int>(static_cast<int>(*value));
}

Result<session::RunOptions> run_options(const Arguments& arguments) {
  session::RunOptions options{.database = database_path(arguments)};
  DEEPGAP_ASSIGN(options.models, arguments.list("MODEL"));
  DEEPGAP_ASSIGN(options.engines, arguments.list("--engine"));
  DEEPGAP_ASSIGN(options.devices, arguments.list("--device"));
  std::vector<std::string> precisions;
  for (const Precision precision : all_precisions()) precisions.emplace_back(name_of(precision));
  DEEPGAP_ASSIGN(options.precisions,
                 named<Precision>(arguments, "--precision", "precision", parse_precision, precisions));
  DEEPGAP_ASSIGN(options.modes,
                 named<Mode>(arguments, "--mode", "mode", parse_mode, {"latency", "throughput"}));
  DEEPGAP_ASSIGN(options.batches, arguments.integers("--batch", 1));
  using Pairs = std::map<std::string, std::string>;
  DEEPGAP_ASSIGN(const Pairs dims, arguments.pairs("--dim", Arguments::SplitAt::kLast));
  for (const auto& [name, size] : dims) {
    DEEPGAP_ASSIGN(options.dims[name], parse_integer(size, "--dim " + printable(name), 1));
  }
  DEEPGAP_ASSIGN(options.settings, arguments.pairs("--set"));
  DEEPGAP_ASSIGN(const std::optional<int> threads, small_integer(arguments, "--threads", 1));
  if (threads && !options.settings.emplace("cpu.threads", std::to_string(*threads)).second)
    return usage_error("--threads and --set cpu.threads: expected one of them, found both");
  DEEPGAP_ASSIGN(options.in_flight, small_integer(arguments, "--in-flight", 1));
  DEEPGAP_ASSIGN(options.input_buffers, small_integer(arguments, "--input-buffers", 1));
  DEEPGAP_ASSIGN(options.time_limit, arguments.duration("--time-limit"));
  DEEPGAP_ASSIGN(options.hang_limit, arguments.duration("--hang-limit"));
  DEEPGAP_ASSIGN(options.target, arguments.share("--target"));
  if (const auto repeats = arguments.text("--repeats"))
    DEEPGAP_RETURN_IF_ERROR(take_repeats(*repeats, options));
  DEEPGAP_ASSIGN(const std::optional<std::int64_t> seed, arguments.integer("--seed", 0));
  if (seed) options.seed = static_cast<std::uint64_t>(*seed);
  if (const auto isolation = arguments.text("--isolate")) {
    if (*isolation != "group" && *isolation != "cell")
      return usage_error(unknown_name("isolation", *isolation, std::vector<std::string>{"group", "cell"}));
    options.isolation = *isolation == "cell" ? run::Isolation::kCell : run::Isolation::kGroup;
  }
  options.preset = arguments.text("--preset");
  options.like_published = arguments.has("--like-published");
  options.dry_run = arguments.has("--dry-run");
  options.resume = arguments.has("--resume");
  return options;
}

Result<session::Answer> run(const Arguments& arguments, session::Environment& environment) {
  DEEPGAP_ASSIGN(const session::RunOptions options, run_options(arguments));
  return session::run(options, environment);
}

}  // namespace

const CommandSpec& run_command() {
  static const CommandSpec command{
      "run",
      "Measure models: every combination of what is listed is one cell",
      "Plans the sweep, measures each cell in fresh processes in seeded random "
      "order, stores every cell as it is finished, "
      "and prints a table with intervals. Ctrl-C finishes the cell in flight "
      "and keeps it, or ends the run where none is measured yet; a second Ctrl-C "
      "stops at once. "
      "Exit code 4 when a cell has no result.",
      kPositionals,
      kOptions,
      kExamples,
      run,
      true};
  return command;
}

}  // namespace deepgap::app
