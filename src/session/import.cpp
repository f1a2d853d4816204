#include "session/import.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/text.h"
#include "report/views.h"
#include "store/store.h"

namespace deepgap::session {
namespace {

// Keeps what it is given in the store.
class IntoStore final : public trace::ImportSink {
 public:
  IntoStore(store::Store& store, report::ImportFindings::File& file) : store_(&store), file_(&file) {}

  Result<void> measurement(Measurement measurement) override {
    if (store_->resolve_prefix(measurement.id.str()).ok()) {
      ++file_->present;
      return {};
    }
    ++file_->added;
    file_->reported += static_cast<std::int64_t>(measurement.reported.size());
    return store_->put_measurement(measurement);
  }

 private:
  store::Store* store_;
  report::ImportFindings::File* file_;
};

// Keeps it for a view.
class IntoMemory final : public trace::ImportSink {
 public:
  std::vector<Measurement> measurements;

  Result<void> measurement(Measurement measurement) override {
    measurements.push_back(std::move(measurement));
    return {};
  }
};

// The format's id.
Result<std::string> import_file(const std::string& path, const trace::ImportOptions& options,
                                trace::ImportSink& sink) {
  DEEPGAP_ASSIGN(trace::ByteSource source, trace::ByteSource::open(path));
  DEEPGAP_ASSIGN(const trace::Importer* const importer, trace::importer_of(source));
  DEEPGAP_RETURN_IF_ERROR(importer->import(source, options, sink));
  return std::string(importer->format().id);
}

}  // namespace

Result<Answer> import_files(const std::string& database, const std::vector<std::string>& files,
                            const trace::ImportOptions& options) {
  // Before a store is made: what is no file of ours is the likeliest mistake.
  for (const std::string& file : files) {
    DEEPGAP_ASSIGN(const trace::ByteSource source, trace::ByteSource::open(file));
    DEEPGAP_ASSIGN(const trace::Importer* const importer, trace::importer_of(source));
    if (importer->format().traces) {
      return bad_input(fmt::format(
          "{}: expected results, found a trace of the format {}, and nothing was imported: `deepgap trace` "
          "shows what is in it",
          printable(file), importer->format().id));
    }
  }
  DEEPGAP_ASSIGN(store::Store store, store::Store::open(database, store::OpenMode::kWrite));
  report::ImportFindings findings{.database = database};
  DEEPGAP_RETURN_IF_ERROR(store.in_one_transaction([&]() -> Result<void> {
    for (const std::string& path : files) {
      report::ImportFindings::File file{.path = path};
      IntoStore sink(store, file);
      DEEPGAP_ASSIGN(file.format, import_file(path, options, sink).in("nothing was imported"));
      findings.files.push_back(std::move(file));
    }
    return {};
  }));
  return Answer{.document = report::import_document(findings)};
}

Result<Answer> show_file(const std::string& file) {
  IntoMemory sink;
  report::FileFindings findings{.path = file};
  DEEPGAP_ASSIGN(findings.format, import_file(file, {}, sink));
  findings.measurements = std::move(sink.measurements);
  return Answer{.document = report::file_document(findings)};
}

}  // namespace deepgap::session
