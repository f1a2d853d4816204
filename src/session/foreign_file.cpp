#include "session/foreign_file.h"

#include <utility>

#include "report/views.h"
#include "session/trace.h"
#include "trace/quality.h"

namespace deepgap::session {

Answer file_answer(trace::FileContent content, const std::string& path, const std::string& schema) {
  const trace::Verdict verdict = trace::judge(content);
  report::FileFindings findings{
      .path = path, .format = std::move(content.format), .verdict = std::string(trace::name_of(verdict))};
  findings.diagnostics = std::move(content.diagnostics);
  for (const Measurement& measurement : content.measurements)
    findings.summaries.push_back(summarise(measurement));
  findings.measurements = std::move(content.measurements);
  findings.op_tables = std::move(content.op_tables);
  findings.telemetry = std::move(content.telemetry);
  return {.document = report::file_document(findings, schema),
          .exit = verdict == trace::Verdict::kUnusable ? ExitCode::kPartial : ExitCode::kDone};
}

Result<Answer> show_file(const std::string& file) {
  DEEPGAP_ASSIGN(trace::FileContent content, trace::read_file(file));
  if (content.timeline) return trace_content(std::move(content), file, {});
  return file_answer(std::move(content), file, "deepgap.show/1");
}

}  // namespace deepgap::session
