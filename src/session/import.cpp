#include "session/import.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "report/views.h"
#include "store/store.h"

namespace deepgap::session {
namespace {

Result<report::ImportFindings::File> import_file(store::Store& store, const std::string& path,
                                                 const trace::ImportOptions& options) {
  DEEPGAP_ASSIGN(const trace::FileContent content,
                 trace::read_file(path, options).in("nothing was imported"));
  if (content.measurements.empty()) {
    return bad_input(fmt::format("{}: expected measurements, found a file of the format {} without any",
                                 printable(path), content.format));
  }
  report::ImportFindings::File file{.path = path, .format = content.format};
  for (const Measurement& measurement : content.measurements) {
    if (store.resolve_prefix(measurement.id.str()).ok()) {
      ++file.present;
      continue;
    }
    ++file.added;
    file.reported += static_cast<std::int64_t>(measurement.reported.size());
    DEEPGAP_RETURN_IF_ERROR(store.put_measurement(measurement));
  }
  return file;
}

}  // namespace

Result<Answer> import_files(const std::string& database, const std::vector<std::string>& files,
                            const trace::ImportOptions& options) {
  // Before a store is made: what is no file of ours is the likeliest mistake.
  for (const std::string& file : files) {
    DEEPGAP_ASSIGN(const trace::ByteSource source, trace::ByteSource::open(file));
    DEEPGAP_RETURN_IF_ERROR(trace::importer_of(source));
  }
  DEEPGAP_ASSIGN(store::Store store, store::Store::open(database, store::OpenMode::kWrite));
  report::ImportFindings findings{.database = database};
  DEEPGAP_RETURN_IF_ERROR(store.in_one_transaction([&]() -> Result<void> {
    for (const std::string& path : files) {
      DEEPGAP_ASSIGN(report::ImportFindings::File file, import_file(store, path, options));
      findings.files.push_back(std::move(file));
    }
    return {};
  }));
  return Answer{.document = report::import_document(findings)};
}

Result<Answer> show_file(const std::string& file) {
  DEEPGAP_ASSIGN(trace::FileContent content, trace::read_file(file));
  report::FileFindings findings{.path = file, .format = content.format};
  findings.measurements = std::move(content.measurements);
  return Answer{.document = report::file_document(findings)};
}

}  // namespace deepgap::session
