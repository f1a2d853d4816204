// import: foreign results into the store.

#include "session/import.h"

#include "base/text.h"
#include "verbs/database.h"
#include "verbs/verbs.h"

namespace deepgap::app {
namespace {

constexpr PositionalSpec kFiles[] = {{"FILE", "files of the formats that `deepgap formats` lists", 1, -1}};
constexpr OptionSpec kOptions[] = {
    {"--engine", "NAME", "what executed the models, where a file does not say it", "the format's usual"},
    {"--precision", "NAME", "the precision, where a file does not say it", "fp32"},
};
constexpr std::string_view kExamples[] = {"deepgap import study.csv --precision fp16 --db studies.db"};

Result<session::Answer> import(const Arguments& arguments, session::Environment&) {
  trace::ImportOptions options{.engine = arguments.text("--engine")};
  if (const auto name = arguments.text("--precision")) {
    options.precision = parse_precision(*name);
    if (!options.precision) {
      std::vector<std::string> names;
      for (const Precision precision : all_precisions()) names.emplace_back(name_of(precision));
      return usage_error(unknown_name("precision", *name, names));
    }
  }
  return session::import_files(database_path(arguments), arguments.texts("FILE"), options);
}

}  // namespace

const CommandSpec& import_command() {
  static const CommandSpec command{
      "import",
      "Store what foreign files hold",
      "The format is told by the content. Of results without samples the reported figures are kept; they "
      "have no "
      "intervals. All files are stored, or none; rows that are there already are left alone.",
      kFiles,
      kOptions,
      kExamples,
      import};
  return command;
}

}  // namespace deepgap::app
