// What the verbs found, as values: the input of the views. Made by session, rendered here, never computed
// here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/device.h"
#include "core/measurement.h"
#include "core/op_table.h"
#include "core/summary.h"
#include "core/telemetry_log.h"

namespace deepgap::report {

// Cells of one (model, engine, device, precision, mode) over their batches.
struct SaturationRow {
  CellKey key;  // of any of the cells; its batch says nothing
  std::optional<Saturation> saturation;
};

struct ListFindings {
  std::vector<CellSummary> cells;
};

// A sweep that was run, or run as far as it came.
struct RunFindings {
  SweepId sweep;
  std::string database;
  std::vector<CellSummary> cells;
  std::vector<SaturationRow> saturation;
  std::size_t planned_cells = 0;
  bool cancelled = false;
  std::int64_t failed_visits =
      0;  // that gave no samples, cells left untried after another's failure included
  std::optional<Nanoseconds> measured_time;
  std::vector<std::string> next_commands;
};

// One row of a dry run.
struct ForecastRow {
  CellKey key;
  int repeats = 0;
  std::optional<Bytes> memory;
  std::optional<Nanoseconds> time;       // on a quiet machine
  std::optional<Nanoseconds> most_time;  // and at most
  std::string refusal;                   // why it will not be tried
  std::string note;                      // what to know of one that will be
};
struct PlanFindings {
  std::vector<ForecastRow> cells;        // in the order of the first visits
  std::optional<Nanoseconds> time;       // on a quiet machine
  std::optional<Nanoseconds> most_time;  // and at most
  std::optional<Bytes> available_memory;
  std::optional<int> most_processes;  // of a cell, where more than planned are made if they differ
  std::size_t visits = 0;
  std::size_t processes = 0;
  std::uint64_t seed = 0;
};

struct ShowFindings {
  Measurement measurement;
  CellSummary summary;
  std::vector<ProcessSummary> processes;
  std::vector<TelemetrySummary> telemetry;
};

struct EngineRow {
  std::string name;
  bool available = false;
  std::string version;
  std::string program;
  std::string reason;  // why it cannot run here
  std::vector<std::string> devices;
  std::vector<std::pair<std::string, std::string>> precisions;  // name, made by ("engine", "graph_pass")
  std::vector<std::string> settings;
};

struct ModelRow {
  std::string name;
  std::string title;
  std::string inputs;
  std::vector<std::pair<std::string, std::string>> parameters;  // name, what it means with its standard
  double parameter_count = 0;
  double flops = 0;  // batch 1, standard parameters
  std::string source;
};

struct FormatRow {
  std::string id;
  std::string title;
  std::string content;  // what of it is used
  bool reads = true;
  std::string basis;  // "real files", "documentation"
};

// Rows of exactly the given columns: what `export` writes.
struct ExportFindings {
  std::string layout;  // "deepgap", "deep-gap", "gdev-ai"
  std::vector<std::string> columns;
  std::vector<std::string>
      text_columns;  // of them, those that hold text, whatever it looks like; the rest: numbers
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> notes;  // what the columns cannot hold, without full stops
};

// Foreign files whose content was stored.
struct ImportFindings {
  struct File {
    std::string path;
    std::string format;
    std::int64_t added = 0;     // measurements
    std::int64_t present = 0;   // that the store had already
    std::int64_t reported = 0;  // figures without samples, of those added
    std::int64_t samples = 0;   // of those added
    std::int64_t ops = 0;       // op records, of those added
    std::int64_t series = 0;    // of telemetry, joined to measurements
    std::vector<Diagnostic> diagnostics;
  };
  std::string database;
  std::vector<File> files;
};

// What is in one foreign file that is no trace.
struct FileFindings {
  std::string path;
  std::string format;
  std::string verdict;  // "usable", "usable_with_loss", "unusable"
  std::vector<Diagnostic> diagnostics;
  std::vector<Measurement> measurements;
  std::vector<CellSummary> summaries;  // of the measurements, in their order
  std::vector<OpTable> op_tables;
  std::optional<TelemetryLog> telemetry;
};

struct MergeFindings {
  struct Source {
    std::string path;
    std::int64_t added = 0;
    std::int64_t extended = 0;
    std::int64_t present = 0;
  };
  std::string database;
  std::vector<Source> sources;
};

}  // namespace deepgap::report
