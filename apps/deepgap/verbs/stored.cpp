// list, show, export, merge.

#include "session/stored.h"

#include "verbs/database.h"
#include "verbs/verbs.h"

namespace deepgap::app {
namespace {

constexpr PositionalSpec kSubjects[] = {
    {"SUBJECT",
     "ids or selectors such as resnet50/openvino/cpu/fp32/b8; any part may be *; '*' alone is every cell", 0,
     -1},
};
constexpr PositionalSpec kSubject[] = {{"SUBJECT",
                                        "an id (or the start of one), a selector (of several matches the "
                                        "newest), or a file of `deepgap formats`",
                                        1, 1}};
constexpr PositionalSpec kStores[] = {{"DB", "stores whose cells are added", 1, -1}};
constexpr OptionSpec kExportOptions[] = {
    {"--columns", "NAME",
     "deepgap: a row a cell with intervals; deep-gap, gdev-ai: the columns of the studies", "deepgap"},
};
constexpr std::string_view kListExamples[] = {"deepgap list", "deepgap list 'resnet*/*/*/*/*' --format csv"};
constexpr std::string_view kShowExamples[] = {"deepgap show 3f2a90c1",
                                              "deepgap show resnet50/openvino/cpu/fp32/b8 --format json"};
constexpr std::string_view kExportExamples[] = {
    "deepgap export '*' --columns gdev-ai --format csv -o cells.csv"};
constexpr std::string_view kMergeExamples[] = {"deepgap merge other-machine.db --db all.db"};

Result<session::Answer> list(const Arguments& arguments, session::Environment&) {
  return session::list(database_path(arguments), arguments.texts("SUBJECT"));
}

Result<session::Answer> show(const Arguments& arguments, session::Environment&) {
  return session::show(database_path(arguments), *arguments.text("SUBJECT"));
}

Result<session::Answer> export_cells(const Arguments& arguments, session::Environment& environment) {
  return session::export_cells(database_path(arguments), arguments.texts("SUBJECT"),
                               arguments.text("--columns").value_or("deepgap"), environment);
}

Result<session::Answer> merge(const Arguments& arguments, session::Environment&) {
  return session::merge(database_path(arguments), arguments.texts("DB"));
}

}  // namespace

const CommandSpec& list_command() {
  static const CommandSpec command{"list",
                                   "Show what is stored, newest first",
                                   "One row a cell: median latency with its interval, tail percentiles, "
                                   "throughput. Doubts that need every sample of "
                                   "a cell to be looked at (regimes, level shifts, drifts) are in `show`.",
                                   kSubjects,
                                   {},
                                   kListExamples,
                                   list};
  return command;
}

const CommandSpec& show_command() {
  static const CommandSpec command{
      "show",
      "Show one measurement in full, or what is in a file",
      "Estimates with their methods, each process, the run context (requested and effective), "
      "diagnostics.",
      kSubject,
      {},
      kShowExamples,
      show};
  return command;
}

const CommandSpec& export_command() {
  static const CommandSpec command{"export",
                                   "Write cells as a table for other tools",
                                   "Every match of every subject; all cells where none is named.",
                                   kSubjects,
                                   kExportOptions,
                                   kExportExamples,
                                   export_cells};
  return command;
}

const CommandSpec& merge_command() {
  static const CommandSpec command{
      "merge",
      "Add the cells of other stores to this one",
      "Cells that are there already are left alone; merging twice changes nothing.",
      kStores,
      {},
      kMergeExamples,
      merge};
  return command;
}

}  // namespace deepgap::app
