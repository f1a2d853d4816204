// Foreign formats: one folder each behind one interface, and the one list of them.
//
//   DEEPGAP_ASSIGN(ByteSource source, ByteSource::open(path));
//   DEEPGAP_ASSIGN(const Importer* importer, importer_of(source));      // by content, never by name
//   importer->format().id                                               // "study-csv"
//   DEEPGAP_RETURN_IF_ERROR(importer->import(source, {}, sink));
//
// To add a format: a folder here with one Importer, and a line in importers() (importer.cpp). `deepgap
// formats`, `import` and every verb that takes a file follow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/measurement.h"
#include "core/precision.h"
#include "trace/byte_source.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// What a user should know of a format.
struct Format {
  std::string_view id;       // "study-csv"; measurements have the origin "import:ID"
  std::string_view title;    // one line
  std::string_view content;  // what of it is used
  std::string_view basis;    // what the importer was made and tested with: real files, documentation
  bool traces = false;       // what a profiler saw, for ImportSink::timeline(), and not results
};

// How sure an importer is that a file is of its format.
enum class Match { kNo, kPerhaps, kSurely };

// What a file does not say, in the user's words; absent: the format's own usual.
struct ImportOptions {
  std::optional<std::string> engine;
  std::optional<Precision> precision;
};

// Takes what is found, piece by piece. An error of the sink ends the import.
class ImportSink {
 public:
  virtual ~ImportSink() = default;
  // With samples or with reported figures alone; its id follows from its content, so that a file that is
  // imported twice gives the same measurements.
  virtual Result<void> measurement(Measurement measurement) = 0;
  // What a profiler saw. A sink that has no use for one says so.
  virtual Result<void> timeline(Timeline timeline);
};

class Importer {
 public:
  virtual ~Importer() = default;
  virtual const Format& format() const = 0;
  // By the file's first bytes (64 KiB, or all there are) and its size.
  virtual Match sniff(std::string_view head, std::int64_t size) const = 0;
  // Reads the source to its end, without holding it in memory. Errors (bad input) name the place in the file.
  virtual Result<void> import(ByteSource& source, const ImportOptions& options, ImportSink& sink) const = 0;
};

std::span<const Importer* const> importers();
// The surest of those that know the file. Errors (bad input): none does; says what the file looks like and
// which formats there are.
Result<const Importer*> importer_of(const ByteSource& source);

}  // namespace deepgap::trace
