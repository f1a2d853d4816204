// One function a verb: its findings as a Document. The JSON members are those of section 8 of the design;
// fields may be added, none may change.
#pragma once

#include <span>

#include "report/document.h"
#include "report/findings.h"

namespace deepgap::report {

Document list_document(ListFindings findings);
Document run_document(const RunFindings& findings);
Document plan_document(const PlanFindings& findings);
Document show_document(const ShowFindings& findings);
Document engines_document(std::span<const EngineRow> engines);
Document models_document(std::span<const ModelRow> models);
Document devices_document(std::span<const Device> devices);
Document formats_document(std::span<const FormatRow> formats);
Document export_document(const ExportFindings& findings);
Document merge_document(const MergeFindings& findings);
Document import_document(const ImportFindings& findings);
// Of a file that is no trace: its verdict and format, each measurement, tables of ops, telemetry. `schema` is
// the verb's: "deepgap.show/1" or "deepgap.trace/1".
Document file_document(const FileFindings& findings, const std::string& schema);

}  // namespace deepgap::report
