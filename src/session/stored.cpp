#include "session/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.h"
#include "core/summary.h"
#include "report/views.h"
#include "session/export_layout.h"
#include "session/export_layout_studies.h"
#include "session/foreign_file.h"
#include "session/list_summaries.h"
#include "session/subject.h"
#include "store/store.h"

namespace deepgap::session {
namespace {

Result<store::Store> open_existing(const std::string& database) {
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored)) {
    return bad_input(
        fmt::format("there is no store at {}: `deepgap run MODEL` makes one, `--db FILE` names another",
                    printable(database)));
  }
  return store::Store::open(database, store::OpenMode::kRead);
}

// Diagnostics about cells that could not be read: the others are shown all the same.
void tell_damage(const store::Visited& visited, Answer& answer) {
  if (visited.damaged == 0) return;
  std::vector<Diagnostic> problems;
  for (const std::string& problem : visited.problems) {
    problems.push_back(
        {.id = "damaged_cell", .severity = Severity::kError, .where = "", .text = problem, .count = 1});
  }
  answer.document.add(report::DiagnosticList{std::move(problems)});
  answer.exit = ExitCode::kPartial;
}

// Every measurement of the subjects (all where there are none), each once, as far as it can be read.
Result<store::Visited> for_each_of(store::Store& store, const std::vector<std::string>& subjects,
                                   store::LoadDepth depth, const store::Visitor& visit) {
  if (subjects.empty()) return store.for_each({}, depth, visit);
  std::set<std::string> seen;
  const store::Visitor once = [&](Measurement& measurement) {
    return !seen.insert(measurement.id.str()).second || visit(measurement);
  };
  store::Visited all;
  for (const std::string& subject : subjects) {
    DEEPGAP_ASSIGN(const Subject resolved, resolve_subject(subject, &store));
    if (const auto* selector = std::get_if<Selector>(&resolved)) {
      DEEPGAP_ASSIGN(const store::Visited visited, store.for_each({.selector = *selector}, depth, once));
      if (visited.cells + visited.damaged == 0 && subject != "*") {
        return usage_error(
            fmt::format("no stored cell matches '{}' in {}: `deepgap list` shows what there is",
                        printable(subject), printable(store.path())));
      }
      all.cells += visited.cells;
      all.damaged += visited.damaged;
      all.problems.insert(all.problems.end(), visited.problems.begin(), visited.problems.end());
      continue;
    }
    DEEPGAP_ASSIGN(const MeasurementId id, resolve_one(subject, store));
    DEEPGAP_ASSIGN(Measurement measurement, store.load(id));
    once(measurement);
    ++all.cells;
  }
  return all;
}

}  // namespace

Result<Answer> list(const std::string& database, const std::vector<std::string>& subjects) {
  DEEPGAP_ASSIGN(store::Store store, open_existing(database));
  ListSummaries summaries(ListSummaries::spare_cpus());
  DEEPGAP_ASSIGN(const store::Visited visited, for_each_of(store, subjects, store::LoadDepth::kListColumns,
                                                           [&summaries](Measurement& measurement) {
                                                             summaries.add(measurement);
                                                             return true;
                                                           }));
  Answer answer{.document = report::list_document({.cells = summaries.take()})};
  tell_damage(visited, answer);
  return answer;
}

Result<Answer> show(const std::string& database, const std::string& subject) {
  // A file needs no store, and wins over what a store may have.
  if (is_file_subject(subject)) return show_file(subject);
  DEEPGAP_ASSIGN(store::Store store, open_existing(database));
  DEEPGAP_ASSIGN(const MeasurementId id, resolve_one(subject, store));
  report::ShowFindings findings;
  DEEPGAP_ASSIGN(findings.measurement, store.load(id));
  findings.summary = summarise(findings.measurement, SummaryDepth::kFull);
  for (const ProcessRun& process : findings.measurement.processes)
    findings.processes.push_back(summarise(process));
  for (const TelemetrySeries& series : findings.measurement.telemetry)
    findings.telemetry.push_back(summarise(series));
  return Answer{.document = report::show_document(findings)};
}

Result<Answer> export_cells(const std::string& database, const std::vector<std::string>& subjects,
                            const std::string& layout, const Environment& environment) {
  DEEPGAP_ASSIGN(const ExportLayout* const columns, find_export_layout(layout));
  DEEPGAP_ASSIGN(store::Store store, open_existing(database));
  report::ExportFindings findings{
      .layout = std::string(columns->name), .columns = columns->columns(), .text_columns = text_columns()};
  StudyCells cells;
  StudySweeps sweeps;
  if (columns->of_a_study) {
    DEEPGAP_ASSIGN(sweeps, StudySweeps::of(store));
  }
  DEEPGAP_ASSIGN(const store::Visited visited,
                 for_each_of(store, subjects, store::LoadDepth::kAll, [&](Measurement& measurement) {
                   if (columns->of_a_study && !cells.takes(measurement)) return true;
                   measurement.settings = joined(measurement.settings);
                   const int first_sweep = sweeps.first_of(measurement.sweep);
                   for (std::vector<std::string>& row : columns->rows(measurement, first_sweep))
                     findings.rows.push_back(std::move(row));
                   return true;
                 }));
  findings.notes = cells.notes(columns->name);
  if (environment.say) {
    for (const std::string& note : findings.notes) environment.say("export: " + note);
  }
  Answer answer{.document = report::export_document(findings)};
  // A header alone is not what was asked for.
  if (findings.rows.empty() && visited.cells > 0) answer.exit = ExitCode::kPartial;
  tell_damage(visited, answer);
  return answer;
}

Result<Answer> merge(const std::string& database, const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    std::error_code ignored;
    if (!std::filesystem::exists(source, ignored)) {
      return bad_input(fmt::format("there is no store at {}: nothing was merged", printable(source)));
    }
    if (std::filesystem::equivalent(source, database, ignored)) {
      return usage_error(fmt::format("{} is the store merged into: expected another one; nothing was merged",
                                     printable(source)));
    }
  }
  // All are looked at before the first is merged: a bad one leaves the store as it was.
  for (const std::string& source : sources) {
    DEEPGAP_ASSIGN([[maybe_unused]] const store::Store readable,
                   store::Store::open(source, store::OpenMode::kRead));
  }
  DEEPGAP_ASSIGN(store::Store store, store::Store::open(database, store::OpenMode::kWrite));
  report::MergeFindings findings{.database = database};
  std::vector<Diagnostic> damage;
  for (const std::string& source : sources) {
    DEEPGAP_ASSIGN(const store::MergeCount count, store.merge(source));
    if (count.measurements_damaged > 0) {
      damage.push_back(
          {.id = "damaged_cell",
           .severity = Severity::kError,
           .where = "",
           .text = fmt::format("cells of '{}' left out because they are damaged: {}; the first: {}",
                               printable(source), count.measurements_damaged, count.problems.front()),
           .count = 1});
    }
    findings.sources.push_back({.path = source,
                                .added = count.measurements_added,
                                .extended = count.measurements_extended,
                                .present = count.measurements_skipped});
  }
  Answer answer{.document = report::merge_document(findings)};
  if (!damage.empty()) {
    answer.document.add(report::DiagnosticList{std::move(damage)});
    answer.exit = ExitCode::kPartial;
  }
  return answer;
}

}  // namespace deepgap::session
