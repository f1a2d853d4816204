// import: foreign results into the store.

#include "session/import.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/time_text.h"
#include "verbs/database.h"
#include "verbs/verbs.h"

namespace deepgap::app {
namespace {

constexpr PositionalSpec kFiles[] = {{"FILE", "files of the formats that `deepgap formats` lists", 1, -1}};
constexpr OptionSpec kOptions[] = {
    {"--model", "NAME", "the model, where a file does not say it", "the file's name up to its first dot"},
    {"--engine", "NAME", "what executed the models, where a file does not say it", "the format's usual"},
    {"--device", "ADDRESS", "the device, such as cuda:0, where a file does not say it", "the format's usual"},
    {"--precision", "NAME", "the precision, where a file does not say it", "fp32"},
    {"--batch", "N", "the batch, where a file does not say it", "1"},
    {"--utc-offset", "HH:MM", "how far the clock of times without a zone was before UTC, as +02:00",
     "+00:00"},
};
constexpr std::string_view kExamples[] = {
    "deepgap import study.csv --precision fp16 --db studies.db",
    "deepgap import bert.pt.trace.json.gz telemetry.csv --model bert-base --batch 16 --utc-offset +02:00"};

// What stands in a selector: any text that can be typed there.
Result<std::optional<std::string>> part_of_key(const Arguments& arguments, std::string_view option) {
  const std::optional<std::string> name = arguments.text(option);
  if (name &&
      (name->empty() || name->find_first_of("/*?") != std::string::npos || printable(*name) != *name)) {
    return usage_error(
        fmt::format("{}: expected a name without '/', '*' and '?', found '{}'", option, printable(*name)));
  }
  return name;
}

Result<session::Answer> import(const Arguments& arguments, session::Environment&) {
  trace::ImportOptions options;
  DEEPGAP_ASSIGN(options.model, part_of_key(arguments, "--model"));
  DEEPGAP_ASSIGN(options.engine, part_of_key(arguments, "--engine"));
  DEEPGAP_ASSIGN(options.device, part_of_key(arguments, "--device"));
  DEEPGAP_ASSIGN(options.batch, arguments.integer("--batch", 1));
  if (options.batch && *options.batch > kLargestBatch) {
    return usage_error(fmt::format("--batch: expected at most {}, found {}", kLargestBatch, *options.batch));
  }
  if (const auto name = arguments.text("--precision")) {
    options.precision = parse_precision(*name);
    if (!options.precision) {
      std::vector<std::string> names;
      for (const Precision precision : all_precisions()) names.emplace_back(name_of(precision));
      return usage_error(unknown_name("precision", *name, names));
    }
  }
  if (const auto offset = arguments.text("--utc-offset")) {
    const auto ns = parse_utc_offset(*offset);
    if (!ns) {
      return usage_error(
          fmt::format("--utc-offset: expected hours and minutes such as +02:00 or -05:30, found '{}'",
                      printable(*offset)));
    }
    options.utc_offset_ns = *ns;
  }
  return session::import_files(database_path(arguments), arguments.texts("FILE"), options);
}

}  // namespace

const CommandSpec& import_command() {
  static const CommandSpec command{"import",
                                   "Store what foreign files hold",
                                   "The format is told by the content. A trace becomes a measurement whose "
                                   "samples are its steps; of results "
                                   "without samples the reported figures are kept, without intervals; "
                                   "telemetry is joined to what ran meanwhile, "
                                   "in the same files or in the store. All files are stored, or none; what "
                                   "is there already is left alone.",
                                   kFiles,
                                   kOptions,
                                   kExamples,
                                   import};
  return command;
}

}  // namespace deepgap::app
