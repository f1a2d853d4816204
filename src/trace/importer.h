// Foreign formats: one folder each behind one interface, and the one list of them.
//
//   DEEPGAP_ASSIGN(const FileContent content, read_file(path));      // the format by content, never by name
//   content.format                                                  // "study-csv"
//   content.measurements ...
//
// To add a format: a folder here with one Importer, and a line in importers() (importer.cpp). `deepgap
// formats`, `import` and every verb that takes a file follow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/measurement.h"
#include "core/op_table.h"
#include "core/precision.h"
#include "core/telemetry_log.h"
#include "trace/byte_source.h"
#include "trace/timeline.h"

namespace deepgap::trace {

// What a user should know of a format.
struct Format {
  std::string_view id;       // "study-csv"; measurements have the origin "import:ID"
  std::string_view title;    // one line
  std::string_view content;  // what of it is used
  std::string_view basis;    // what the importer was made and tested with: real files, documentation
};

// How sure an importer is that a file is of its format.
enum class Match { kNo, kPerhaps, kSurely };

// What a file does not say, in the user's words; absent: the format's own usual.
struct ImportOptions {
  std::optional<std::string> model;
  std::optional<std::string> engine;
  std::optional<std::string> device;  // "cuda:0"
  std::optional<Precision> precision;
  std::optional<std::int64_t> batch;
  std::int64_t utc_offset_ns = 0;  // of the machine's clock, where times are written without their zone
};

// What a file held.
struct FileContent {
  std::string format;  // id of its Format
  // With samples or with reported figures alone. Their ids follow from their content, so that a file that is
  // imported twice gives the same measurements (result_cell.h).
  std::vector<Measurement> measurements;
  std::vector<OpTable> op_tables;         // what each operator or kernel took, without times of day
  std::optional<Timeline> timeline;       // what a profiler saw
  std::optional<TelemetryLog> telemetry;  // what sensors said over time
  // What reading it brought up and belongs to none of these; a timeline has its own. The quality verdict of a
  // file that is no trace is made of them.
  std::vector<Diagnostic> diagnostics;
};

class Importer {
 public:
  virtual ~Importer() = default;
  virtual const Format& format() const = 0;
  // By the file's first bytes (64 KiB, or all there are) and its size.
  virtual Match sniff(std::string_view head, std::int64_t size) const = 0;
  // Reads the source to its end, without holding it in memory. Errors (bad input) name the place in the file.
  virtual Result<FileContent> import(ByteSource& source, const ImportOptions& options) const = 0;
};

std::span<const Importer* const> importers();
// The surest of those that know the file. Errors (bad input): none does; says what the file looks like.
Result<const Importer*> importer_of(const ByteSource& source);
// The three steps in one: opens the file, finds its importer, reads it.
Result<FileContent> read_file(const std::string& path, const ImportOptions& options = {});

}  // namespace deepgap::trace
