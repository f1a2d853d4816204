#include "session/stored.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "base/text.h"
#include "core/summary.h"
#include "report/views.h"
#include "session/export_layout.h"
#include "session/subject.h"
#include "store/store.h"

namespace deepgap::session {
namespace {

Result<store::Store> open_existing(const std::string& database) {
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored)) {
    return bad_input(fmt::format("there is no store at {}: `deepgap run MODEL` makes one, `--db FILE` names another",
                                 printable(database)));
  }
  return store::Store::open(database, store::OpenMode::kRead);
}

// Diagnostics about cells that could not be read: the others are shown all the same.
void tell_damage(const store::Visited& visited, Answer& answer) {
  if (visited.damaged == 0) return;
  std::vector<Diagnostic> problems;
  for (const std::string& problem : visited.problems) {
    problems.push_back({.id = "damaged_cell", .severity = Severity::kError, .where = "", .text = problem, .count = 1});
  }
  answer.document.add(report::DiagnosticList{std::move(problems)});
  answer.exit = ExitCode::kPartial;
}

}  // namespace

Result<Answer> list(const std::string& database, const std::vector<std::string>& subjects) {
  DEEPGAP_ASSIGN(store::Store store, open_existing(database));
  report::ListFindings findings;
  store::Visited visited;
  const auto take = [&findings](Measurement& measurement) {
    findings.cells.push_back(summarise(measurement, SummaryDepth::kQuick));
    return true;
  };
  if (subjects.empty()) {
    DEEPGAP_ASSIGN(visited, store.for_each({}, store::LoadDepth::kListColumns, take));
  } else {
    DEEPGAP_ASSIGN(const std::vector<MeasurementId> ids, resolve_all(subjects, store));
    for (const MeasurementId& id : ids) {
      DEEPGAP_ASSIGN(Measurement measurement, store.load(id));
      take(measurement);
    }
  }
  Answer answer{.document = report::list_document(std::move(findings))};
  tell_damage(visited, answer);
  return answer;
}

Result<Answer> show(const std::string& database, const std::string& subject) {
  DEEPGAP_ASSIGN(store::Store store, open_existing(database));
  DEEPGAP_ASSIGN(const MeasurementId id, resolve_one(subject, store));
  report::ShowFindings findings;
  DEEPGAP_ASSIGN(findings.measurement, store.load(id));
  findings.summary = summarise(findings.measurement, SummaryDepth::kFull);
  for (const ProcessRun& process : findings.measurement.processes) findings.processes.push_back(summarise(process));
  return Answer{.document = report::show_document(findings)};
}

Result<Answer> export_cells(const std::string& database, const std::vector<std::string>& subjects, const std::string& layout) {
  DEEPGAP_ASSIGN(const ExportLayout* const columns, find_export_layout(layout));
  DEEPGAP_ASSIGN(store::Store store, open_existing(database));
  DEEPGAP_ASSIGN(const std::vector<MeasurementId> ids, resolve_all(subjects.empty() ? std::vector<std::string>{"*"} : subjects, store));
  report::ExportFindings findings{.layout = std::string(columns->name), .columns = columns->columns()};
  for (const MeasurementId& id : ids) {
    DEEPGAP_ASSIGN(const Measurement measurement, store.load(id));
    for (std::vector<std::string>& row : columns->rows(measurement)) findings.rows.push_back(std::move(row));
  }
  return Answer{.document = report::export_document(findings)};
}

Result<Answer> merge(const std::string& database, const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    std::error_code ignored;
    if (!std::filesystem::exists(source, ignored)) {
      return bad_input(fmt::format("there is no store at {}: nothing was merged", printable(source)));
    }
    if (std::filesystem::equivalent(source, database, ignored)) {
      return usage_error(fmt::format("{} is the store merged into: expected another one; nothing was merged", printable(source)));
    }
  }
  DEEPGAP_ASSIGN(store::Store store, store::Store::open(database, store::OpenMode::kWrite));
  report::MergeFindings findings{.database = database};
  for (const std::string& source : sources) {
    DEEPGAP_ASSIGN(const store::MergeCount count, store.merge(source));
    findings.sources.push_back({.path = source,
                                .added = count.measurements_added,
                                .extended = count.measurements_extended,
                                .present = count.measurements_skipped});
  }
  return Answer{.document = report::merge_document(findings)};
}

}  // namespace deepgap::session
