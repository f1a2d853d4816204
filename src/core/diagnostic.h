// Doubtful data, kept with the fact it casts doubt on: never an abort, never only a line in a log.
//
//   warning  foreign_load  resnet50/openvino/cpu/fp32/b8: other processes used 38 % of the cores
//
// Every kind is declared once, in the catalogue of diagnostic.cpp; it feeds reports, JSON, the store and the
// documentation (docs/metrics.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deepgap {

enum class Severity { kNote, kWarning, kError };  // "note", "warning", "error"
std::string_view name_of(Severity severity);
std::optional<Severity> parse_severity(std::string_view name);

// One kind of trouble, as catalogued.
struct DiagnosticKind {
  std::string_view id;  // snake_case, never reused for another meaning
  Severity severity;
  std::string_view meaning;  // one sentence for the documentation
  std::string_view remedy;   // what to do about it
};

struct Diagnostic {
  std::string id;
  Severity severity = Severity::kNote;
  std::string where;  // cell, file, step: what it is about
  std::string text;   // what was expected and what was found
  std::int64_t count = 1;
  std::optional<int> process = {};  // index of the process whose visit met it; absent: of the whole cell
};

// Kinds by name, so that a typing error does not compile.
namespace diagnostics {
extern const DiagnosticKind kForeignLoad;           // other processes used the cores
extern const DiagnosticKind kStealTime;             // the hypervisor took the cores away
extern const DiagnosticKind kClockChanged;          // the clock frequency moved while a cell ran
extern const DiagnosticKind kQuotaThrottled;        // the cgroup's CPU quota stopped us
extern const DiagnosticKind kTwoRegimes;            // the samples have two levels (bimodal)
extern const DiagnosticKind kLevelShift;            // the samples' level changed at a moment
extern const DiagnosticKind kDrift;                 // the samples rose or fell steadily
extern const DiagnosticKind kPrecisionNotReached;   // the interval of the median is wider than asked
extern const DiagnosticKind kFewSamples;            // a percentile has no bound at this sample size
extern const DiagnosticKind kNotSteady;             // warm-up ended at its limit while the time still drifted
extern const DiagnosticKind kSettingNotEffective;   // requested and effective setting differ
extern const DiagnosticKind kWorkerLost;            // crash, hang or protocol breach of a worker
extern const DiagnosticKind kOutOfMemory;           // the cell did not fit
extern const DiagnosticKind kPredictedNotToFit;     // the cell was not tried: it cannot fit in memory
extern const DiagnosticKind kUnsupportedPrecision;  // the cell was not tried: the engine does not run it
extern const DiagnosticKind kModelRemark;           // what is odd about the model's file
extern const DiagnosticKind kImportAssumption;      // what an imported file does not say was taken as usual
extern const DiagnosticKind kCancelled;             // stopped by the user before its end
extern const DiagnosticKind kProcessesDiffer;    // the processes' medians differ by more than samples explain
extern const DiagnosticKind kEmulatedPrecision;  // this device has no arithmetic for the precision asked for
// Of traces.
extern const DiagnosticKind kFileCutOff;              // the file or its compressed stream ends too early
extern const DiagnosticKind kTextRepaired;            // it is no proper JSON
extern const DiagnosticKind kEventsLost;              // events that could not be used
extern const DiagnosticKind kLaunchesWithoutKernels;  // the profiler dropped device records
extern const DiagnosticKind kKernelsWithoutLaunches;  // or host records
extern const DiagnosticKind kNegativeDurations;
extern const DiagnosticKind kOverlappingKernels;  // on one stream
extern const DiagnosticKind kClockSkew;           // work that begins before its launch
extern const DiagnosticKind kNoDeviceActivity;
extern const DiagnosticKind kNoShapes;
extern const DiagnosticKind kProfilerInflation;  // the traced step takes longer than an unprofiled one
extern const DiagnosticKind kOpaqueGraphs;       // graph launches without their kernels
extern const DiagnosticKind kStepsDiffer;
extern const DiagnosticKind kColdStart;
extern const DiagnosticKind kHostRunsAhead;  // the first step is set apart
// Of other tools' results.
extern const DiagnosticKind kNoResults;    // an accuracy run, an aborted one: nothing to store
extern const DiagnosticKind kRunNotValid;  // by the tool's own rules
extern const DiagnosticKind kSumsDiffer;   // parts of a table and its total
extern const DiagnosticKind kKernelsOutsideWindow;
extern const DiagnosticKind kZeroDurations;
extern const DiagnosticKind kEmptySteps;  // that launch nothing, beside some that do
extern const DiagnosticKind kStretchedByAnnotations;
extern const DiagnosticKind kLabelsDoNotSum;  // a fault of deepgap's own
// Of logs of sensors.
extern const DiagnosticKind kTelemetryLost;        // rows or values that could not be used
extern const DiagnosticKind kTelemetryClockBack;   // times that go back
extern const DiagnosticKind kTelemetryRepeated;    // rows that stand there twice
extern const DiagnosticKind kTelemetryAssumption;  // when its rows were written
extern const DiagnosticKind kDevicesNotNamed;      // several of them in one series
extern const DiagnosticKind kColumnsNotUsed;
}  // namespace diagnostics

std::span<const DiagnosticKind* const> all_diagnostics();
Diagnostic diagnose(const DiagnosticKind& kind, std::string where, std::string text, std::int64_t count = 1);
// Those of one id and place as one, in the order of their first: counts are added, the most severe stays.
std::vector<Diagnostic> gathered(std::span<const Diagnostic> diagnostics);
// The remedy for an id of the catalogue; empty for an id of a newer version.
std::string_view remedy_of(std::string_view id);

}  // namespace deepgap
