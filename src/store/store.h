// The store: one SQLite file that keeps what was measured, raw facts only. What is derived from them
// (quantiles, intervals, verdicts) is recomputed by others each time.
//
//   DEEPGAP_ASSIGN(Store store, Store::open("deepgap.db", OpenMode::kWrite));
//   DEEPGAP_RETURN_IF_ERROR(store.create_sweep(sweep));
//   DEEPGAP_RETURN_IF_ERROR(store.put_measurement(measurement));          // the first visit of a cell
//   DEEPGAP_RETURN_IF_ERROR(store.append_visit(measurement.id, visit));   // its next process, rounds later
//   store.for_each({.selector = selector}, LoadDepth::kListColumns, [&](Measurement& cell) { ...; return
//   true; });
//
// Each call that writes is one transaction: it is stored as a whole or not at all, and once it has returned
// ok a killed process does not lose it (a power cut may: docs/store.md says why). Several processes may write
// to one file; a writer waits up to kBusyTimeout for another. A Store is used by one thread at a time and is
// not carried across a fork.
//
// Errors of a file that is no store, of a full disk, of a store from a newer version have
// ErrorKind::kBadInput and leave everything stored before as it was. The tables are described in
// docs/store.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "core/measurement.h"
#include "core/op_record.h"
#include "core/workload.h"

namespace deepgap::store {

class Connection;  // store/sqlite.h

inline constexpr Nanoseconds kBusyTimeout = std::chrono::seconds(20);

enum class OpenMode {
  kRead,   // an existing file, never changed; also one without write permission, and one of an older version
  kWrite,  // made if absent, brought up to this version's schema if older
};

// One `run`, kept so that --resume can go on with it.
struct Sweep {
  SweepId id;
  std::int64_t created_realtime_ns = 0;  // since 1970, UTC
  std::string command_line;
  std::uint64_t seed = 0;
  std::string plan_json;                             // the planner's own; the store does not look into it
  std::optional<std::int64_t> finished_realtime_ns;  // absent: interrupted, or still running
};

// What one visit of a cell brought: the samples of a fresh process, or why there are none, and what was seen
// beside.
struct CellVisit {
  std::optional<ProcessRun>
      process;  // absent: the process gave nothing; diagnostics then belong to the whole cell
  // Rows that name no process are of this one. Settings are stored where they differ from the cell's.
  std::vector<Setting> settings;
  std::vector<Diagnostic> diagnostics;
  std::vector<TelemetrySeries> telemetry;
  std::vector<AccuracyRecord> accuracy;
  std::optional<CellFailure> failure;  // replaces the cell's
};

// A measurement without what makes it large.
struct MeasurementHeader {
  MeasurementId id;
  SweepId sweep;
  CellKey key;
  std::string device_name;
  std::vector<std::string> device_aliases;
  std::int64_t created_realtime_ns = 0;
  int planned_processes = 1;
  std::vector<int> processes;  // their indices, ascending
  std::int64_t samples = 0;    // of all processes
  std::optional<CellFailure> failure;
  std::string origin;
};

// Which measurements; every condition that is set must hold.
struct Filter {
  std::optional<Selector> selector;
  std::optional<SweepId> sweep;
};

// How much of each Measurement is filled in.
enum class LoadDepth {
  kHeader,       // the row itself and the device's address, name, aliases and kind
  kListColumns,  // also processes with samples.host_ns and start_ns, diagnostics: what `list` is made of
  kAll,          // everything
};

// Return false to stop. The Measurement is reused for the next one, so move out of it what is to stay. The
// visitor must not write to the same Store.
using Visitor = std::function<bool(Measurement&)>;

// What an iteration met. A cell that cannot be read is skipped and said here; it does not hide the others.
struct Visited {
  std::int64_t cells = 0;             // given to the visitor
  std::int64_t damaged = 0;           // skipped
  std::vector<std::string> problems;  // one sentence each, naming the cell; the first 20
};

// What a merge did. Merging the same store again adds nothing.
struct MergeCount {
  std::int64_t measurements_added = 0;
  std::int64_t measurements_extended = 0;  // present on both sides, with processes that only the other had
  std::int64_t measurements_skipped = 0;   // present already, nothing new
  std::int64_t measurements_damaged = 0;   // of the other store: left out, with their traces
  std::int64_t processes_added = 0;        // of added and extended measurements
  std::int64_t sweeps_added = 0;
  std::int64_t traces_added = 0;
  std::vector<std::string> problems;  // one sentence for each damaged cell, naming it; the first 20
};

using TraceId = StrongId<struct TraceIdTag>;  // 16 lower-case hexadecimal digits

// Where op records come from: an imported trace, or an engine's per-op table.
struct Trace {
  TraceId id;
  std::optional<MeasurementId> measurement;  // absent: a trace by itself
  std::optional<int> process;                // index of the process that was traced
  std::string format;                        // "chrome", "engine-profile": an importer's name
  std::string source;                        // the file's name as given, or the engine
  std::string content_hash;                  // of the file (base/hash.h); "" where there is none
  std::int64_t created_realtime_ns = 0;
  std::optional<ClockPair> clocks;  // joins the records' times to wall-clock time
};

class Store {
 public:
  // Errors name the path and say what was found in place of a store. An empty file is a new store.
  static Result<Store> open(const std::string& path, OpenMode mode);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::string& path() const { return path_; }

  // --- sweeps
  Result<void> create_sweep(const Sweep& sweep);
  Result<void> finish_sweep(const SweepId& id, std::int64_t finished_realtime_ns);
  Result<Sweep> load_sweep(const SweepId& id);
  Result<std::vector<Sweep>> sweeps();  // newest first

  // --- measurements, writing
  // A new measurement with everything that it has so far. Its sweep must be stored unless it is empty; its id
  // must not.
  Result<void> put_measurement(const Measurement& measurement);
  // One more visit of a stored measurement. A process index that is stored already is an error.
  Result<void> append_visit(const MeasurementId& id, const CellVisit& visit);
  // Replaces the cell's failure; nullopt takes it away (the cell was measured after all).
  Result<void> set_failure(const MeasurementId& id, const std::optional<CellFailure>& failure);
  // Everything that `work` writes through this Store becomes one transaction: all of it, or nothing if it
  // returns an error. For imports of many cells.
  Result<void> in_one_transaction(const std::function<Result<void>()>& work);

  // --- measurements, reading
  Result<Measurement> load(const MeasurementId& id);
  // The matching measurements, newest first, one at a time: memory does not grow with the store. All are of
  // one moment, whatever others write meanwhile.
  Result<Visited> for_each(const Filter& filter, LoadDepth depth, const Visitor& visitor);
  Result<std::vector<MeasurementHeader>> headers(const Filter& filter);
  Result<std::optional<MeasurementId>> newest(const Filter& filter);
  // The one measurement whose id begins with `prefix` (hexadecimal digits, any case). Errors are of kind
  // kUsage and list the candidates.
  Result<MeasurementId> resolve_prefix(std::string_view prefix);

  // --- stores of other machines
  // Adds what the other store has and this one has not, in one transaction; the other file is not changed.
  // What for_each would skip there as damaged is left out.
  Result<MergeCount> merge(const std::string& other_path);

  // --- devices
  // Stores the device, or brings it up to date: new aliases replace the old, a ceiling whose value is new is
  // added and counts from then on. Devices that differ in kind, address, name or a fact are different
  // devices.
  Result<void> save_device(const Device& device);
  Result<std::vector<Device>>
  devices();  // last stored first, with the newest ceiling of each quantity and origin

  // --- traces and op records
  // The trace and its records in one transaction; OpRecord::parent counts within `records`.
  Result<void> put_trace(const Trace& trace, std::span<const OpRecord> records);
  Result<std::vector<Trace>> traces(
      const std::optional<MeasurementId>& measurement = std::nullopt);  // newest first
  Result<std::vector<OpRecord>> op_records(const TraceId& id);

 private:
  Store(std::string path, std::unique_ptr<Connection> connection);

  std::string path_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace deepgap::store
