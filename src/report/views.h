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
// `deepgap.show/1` of a file: its format, and each measurement with what was reported.
Document file_document(const FileFindings& findings);

}  // namespace deepgap::report
