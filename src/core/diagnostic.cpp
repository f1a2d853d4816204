#include "core/diagnostic.h"

#include <algorithm>
#include <array>

namespace deepgap {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

std::optional<Severity> parse_severity(std::string_view name) {
  for (Severity severity : {Severity::kNote, Severity::kWarning, Severity::kError}) {
    if (name_of(severity) == name) return severity;
  }
  return std::nullopt;
}

namespace diagnostics {

// constexpr first, so that the constants are there before any other static object is built.
constexpr DiagnosticKind kForeignLoad{
    "foreign_load", Severity::kWarning,
    "Other processes used the processor's cores while the cell ran, so its times may be too long.",
    "Stop what else runs (`top` names it) or give the run cores of its own with `--set cpu.affinity=LIST`, "
    "then "
    "measure the cell again."};
constexpr DiagnosticKind kStealTime{
    "steal_time", Severity::kWarning,
    "The hypervisor gave the cores of this virtual machine to others while the cell ran.",
    "Measure on a machine or an instance type with dedicated cores, or repeat at a quieter time and compare "
    "the "
    "processes."};
constexpr DiagnosticKind kClockChanged{
    "clock_changed", Severity::kWarning,
    "The clock frequency of the device moved while the cell ran: boost, power cap or heat.",
    "Fix the clock (on a CPU the governor `performance` without boost, on a GPU its locked clocks), let the "
    "device "
    "cool and measure again; `show` has the clock beside the samples."};
constexpr DiagnosticKind kQuotaThrottled{
    "quota_throttled", Severity::kWarning,
    "The CPU quota of the container or control group stopped the process during the cell.",
    "Raise the quota, or set `cpu.threads` to no more than the cores that it pays for."};
constexpr DiagnosticKind kTwoRegimes{
    "two_regimes", Severity::kWarning,
    "The samples have two levels, so that their median describes neither of them well.",
    "Compare the processes in `show`; frequent causes are two kinds of cores, "
    "hyper-threads that "
    "share one, a clock that switches and memory on two nodes: pin the threads with `--set "
    "cpu.affinity=LIST`."};
constexpr DiagnosticKind kLevelShift{"level_shift", Severity::kWarning,
                                     "The level of the samples changed at one moment and stayed there.",
                                     "Compare that moment with the telemetry in `show` (clock, temperature, "
                                     "foreign load); measure again, with a longer "
                                     "warm-up where the shift comes early."};
constexpr DiagnosticKind kDrift{
    "drift", Severity::kWarning,
    "The time of a call rose or fell steadily while the cell ran, so that its median moves with the number "
    "of calls.",
    "Look in the telemetry of `show` for what moved with it (temperature, clock, memory in use); let the "
    "device reach its heat with a longer warm-up, fix the clock, or look for memory that grows from call to "
    "call: more samples will not help."};
constexpr DiagnosticKind kPrecisionNotReached{
    "precision_not_reached", Severity::kWarning,
    "The interval of the cell's median, with the variation between its processes, is wider than asked.",
    "Raise `--repeats` where the processes differ and `--time-limit` where the samples do, accept a wider "
    "target with `--target`, or make the machine quieter."};
constexpr DiagnosticKind kFewSamples{
    "few_samples", Severity::kNote,
    "A percentile of this cell has no upper or lower bound, because the sample is too small for one at 95 %.",
    "Measure longer: a two-sided 95 % interval of p99 needs some 370 independent samples, of p95 some 75, of "
    "p90 some "
    "35."};
constexpr DiagnosticKind kNotSteady{"not_steady", Severity::kWarning,
                                    "The warm-up ended at its limit while the time of a call still drifted.",
                                    "Raise `--time-limit` so that warm-up has more room, and look whether "
                                    "the clock or the temperature still moves."};
constexpr DiagnosticKind kSettingNotEffective{
    "setting_not_effective", Severity::kWarning,
    "A setting was asked for and another value is in force; the number belongs to the value in force.",
    "See both values in the context of `show`; take back the request, or find out in the engine's log why it "
    "was not "
    "followed."};
constexpr DiagnosticKind kWorkerLost{
    "worker_lost", Severity::kError,
    "The engine's process crashed, hung or broke the protocol; a new one took over with the next cell.",
    "Read the worker's log, whose last lines stand in the diagnostic, and run this cell alone with "
    "`--isolate cell`."};
constexpr DiagnosticKind kOutOfMemory{
    "out_of_memory", Severity::kError,
    "The cell did not fit into the memory of the device or of the machine.",
    "Take a smaller batch, a narrower precision or a device with more memory."};
constexpr DiagnosticKind kPredictedNotToFit{
    "predicted_not_to_fit", Severity::kWarning,
    "The cell was not tried, because by its weights and activations it cannot fit into the memory.",
    "Take a smaller batch; free memory if other processes hold it. `--dry-run` shows the cells that would be "
    "left "
    "out."};
constexpr DiagnosticKind kUnsupportedPrecision{
    "unsupported_precision", Severity::kWarning,
    "The cell was not tried, because the engine does not run its precision on this device.",
    "Ask another engine for it (`engines` lists what each runs), or leave it out with `--precision`."};
constexpr DiagnosticKind kModelRemark{
    "model_remark", Severity::kNote,
    "Reading the model found something in its file that may not be what its maker meant.",
    "Look at the model; where it is as it should be, the numbers are too."};
constexpr DiagnosticKind kImportAssumption{"import_assumption", Severity::kNote,
                                           "The imported file does not say the model, engine, device, "
                                           "precision or batch, and the usual one was taken.",
                                           "Import it again with `--model`, `--engine`, `--device`, "
                                           "`--precision` or `--batch` where another was meant."};
constexpr DiagnosticKind kCancelled{
    "cancelled", Severity::kWarning,
    "The user stopped the run before this cell had all its processes and samples.",
    "Continue it with `run --resume`."};
constexpr DiagnosticKind kProcessesDiffer{
    "processes_differ", Severity::kWarning,
    "The medians of the cell's processes differ by more than the samples within them explain.",
    "Take more processes with `--repeats`, because more samples in each will not help; where memory "
    "placement differs, "
    "pin the threads or ask for huge pages."};
constexpr DiagnosticKind kEmulatedPrecision{"emulated_precision", Severity::kWarning,
                                            "The device has no arithmetic for the precision asked for: the "
                                            "engine emulated it or computed in another one.",
                                            "Do not read the number as what the precision can do; `devices` "
                                            "lists the precisions that the device has."};

constexpr DiagnosticKind kFileCutOff{
    "file_cut_off", Severity::kWarning,
    "The trace's file, or the compressed stream in it, ends before what it holds does.",
    "Copy the file again, and wait for the profiler to finish writing before the program ends; what stands "
    "before "
    "the cut was used."};
constexpr DiagnosticKind kTextRepaired{
    "text_repaired", Severity::kWarning,
    "The trace holds what JSON does not have (control characters, stray backslashes or commas, NaN); it was "
    "put right.",
    "Nothing, unless names look odd: known versions of the profiler write this."};
constexpr DiagnosticKind kEventsLost{
    "events_lost", Severity::kWarning,
    "Events of the trace are cut off, damaged beyond repair or have no usable time.",
    "Record the trace again where steps lack kernels; a newer profiler may write it properly."};
constexpr DiagnosticKind kLaunchesWithoutKernels{
    "launches_without_kernels", Severity::kWarning,
    "Launches of a step have no kernel in the trace: the profiler dropped device records, and the step's "
    "device time is "
    "too short.",
    "Profile fewer steps or shorter ones, synchronise before the profiler stops, and give it larger "
    "buffers."};
constexpr DiagnosticKind kKernelsWithoutLaunches{
    "kernels_without_launches", Severity::kNote,
    "Kernels have no launch in the trace, so what the host did to start them is not known.",
    "Start the profiler before the work is launched, with host activities recorded."};
constexpr DiagnosticKind kNegativeDurations{
    "negative_durations", Severity::kWarning, "Events end before they begin; they were left out.",
    "Record the trace again: the profiler's clock conversion failed."};
constexpr DiagnosticKind kOverlappingKernels{"overlapping_kernels", Severity::kNote,
                                             "Kernels of one stream overlap in time.",
                                             "Nothing on devices of compute capability 9 and later, whose "
                                             "kernels may begin before the one before them ends; "
                                             "elsewhere times are rounded, or the trace is damaged."};
constexpr DiagnosticKind kClockSkew{
    "clock_skew", Severity::kWarning,
    "Work on the device begins before its launch, or ends after a wait for it: the two clocks disagree.",
    "Read waits and launch times shorter than the disagreement with caution."};
constexpr DiagnosticKind kNoDeviceActivity{
    "no_device_activity", Severity::kWarning,
    "The trace has no work on a device: a run on the CPU, or a profiler that was not allowed to record it.",
    "Record with device activities (ProfilerActivity.CUDA); in containers the profiler's library must be "
    "allowed to."};
constexpr DiagnosticKind kNoShapes{"no_shapes", Severity::kNote,
                                   "The ops of the trace have no shapes, so their work is not known.",
                                   "Record with record_shapes=True."};
constexpr DiagnosticKind kProfilerInflation{
    "profiler_inflation", Severity::kWarning, "A step takes longer in the trace than without the profiler.",
    "Trust busy time more than idle time, and record fewer activities (no stacks, no memory)."};
constexpr DiagnosticKind kOpaqueGraphs{
    "opaque_graphs", Severity::kWarning, "Graphs were launched whose kernels the trace does not have.",
    "Record with a newer profiler or driver, or profile the same steps without graphs."};
constexpr DiagnosticKind kStepsDiffer{
    "steps_differ", Severity::kWarning,
    "The steps of the trace take different times or launch different numbers of kernels.",
    "Compare the steps one by one before trusting their mean; profile more of them."};
constexpr DiagnosticKind kHostRunsAhead{
    "host_runs_ahead", Severity::kNote,
    "The program launches steps before the device has done the ones before: a step's range is no time of its "
    "work.",
    "Nothing: a step is from the end of the work of the one before to the end of its own, which is what the "
    "program's throughput is made of. For the latency of one step, wait for the device in each."};
constexpr DiagnosticKind kColdStart{
    "cold_start", Severity::kNote,
    "The first step takes much longer than the others and is left out of averages.",
    "Let a few steps run before the profiler starts."};
constexpr DiagnosticKind kKernelsOutsideWindow{"kernels_outside_window", Severity::kWarning,
                                               "Kernels run when nothing of the host is recorded: before its "
                                               "first record, behind its last, or long after "
                                               "their launch.",
                                               "Start the profiler before the work is launched; where most "
                                               "kernels are outside, its clock conversion failed: "
                                               "record the trace again."};
constexpr DiagnosticKind kZeroDurations{
    "zero_durations", Severity::kNote, "Kernels take no time at all.",
    "Nothing where times are whole microseconds; elsewhere the profiler lost "
    "their ends."};
constexpr DiagnosticKind kEmptySteps{
    "empty_steps", Severity::kNote, "Steps launch nothing while others do; they are left out of averages.",
    "Nothing where the profiler's schedule ends with such a step; else look at what the program does in it."};
constexpr DiagnosticKind kStretchedByAnnotations{
    "stretched_by_annotations", Severity::kNote,
    "A named range is much longer than all that ran in the trace.",
    "Do not read the range's length as the work's; name the repeated part of the program instead."};
constexpr DiagnosticKind kLabelsDoNotSum{"labels_do_not_sum", Severity::kWarning,
                                         "The labels of the steps do not sum to their time.",
                                         "Report it with the trace: this is a fault of deepgap."};

constexpr DiagnosticKind kNoResults{"no_results", Severity::kError,
                                    "The file is of a known format and holds no results.",
                                    "Take the file of a run that ended and measured speed: runs for accuracy "
                                    "and aborted ones leave such files."};
constexpr DiagnosticKind kSumsDiffer{"sums_differ", Severity::kWarning,
                                     "The parts of a table do not sum to the total that it says.",
                                     "Take the file of the same run again: rows are missing or damaged."};
constexpr DiagnosticKind kRunNotValid{
    "run_not_valid", Severity::kWarning,
    "The tool that measured says that the run does not satisfy its own rules.",
    "Read the figures as those of a run that was too short, too slow for its target or met errors; run it "
    "again."};

constexpr DiagnosticKind kTelemetryLost{
    "telemetry_lost", Severity::kWarning,
    "Rows or values of a log of sensors are cut off, damaged, without a usable time or errors of the driver.",
    "Nothing where they are few: the rest was used. Otherwise log again and look at the line that is named."};
constexpr DiagnosticKind kTelemetryClockBack{
    "telemetry_clock_back", Severity::kWarning,
    "The times of a log of sensors go back: the clock was set, or logs were put together.",
    "Log in UTC on a machine whose clock is slewed, not set, and do not trust the join around that moment."};
constexpr DiagnosticKind kTelemetryRepeated{
    "telemetry_repeated", Severity::kNote,
    "Rows of a log of sensors stand in it twice; one of them was used.",
    "Nothing, unless the log should not have been put together."};
constexpr DiagnosticKind kTelemetryAssumption{
    "telemetry_assumption", Severity::kNote,
    "A log of sensors does not say when its rows were written, or in which time zone; the usual was taken.",
    "Log with times (nvidia-smi's query `timestamp`, dmon's `-o DT`), and name the zone with "
    "`--utc-offset`."};
constexpr DiagnosticKind kDevicesNotNamed{
    "devices_not_named", Severity::kWarning,
    "Rows of a log of sensors seem to be of several devices, and no column says of which.",
    "Log with `index` or `uuid` among the columns, or one device alone (`-i`)."};
constexpr DiagnosticKind kColumnsNotUsed{
    "columns_not_used", Severity::kNote,
    "A log has columns that are not known, say nothing or cannot be told apart without their names.",
    "Log with the line of names; `docs/formats` has what is used."};

}  // namespace diagnostics

namespace {

using namespace diagnostics;
constexpr std::array kAllDiagnostics{&kForeignLoad,
                                     &kStealTime,
                                     &kClockChanged,
                                     &kQuotaThrottled,
                                     &kTwoRegimes,
                                     &kLevelShift,
                                     &kDrift,
                                     &kPrecisionNotReached,
                                     &kFewSamples,
                                     &kNotSteady,
                                     &kSettingNotEffective,
                                     &kWorkerLost,
                                     &kOutOfMemory,
                                     &kPredictedNotToFit,
                                     &kUnsupportedPrecision,
                                     &kModelRemark,
                                     &kImportAssumption,
                                     &kCancelled,
                                     &kProcessesDiffer,
                                     &kEmulatedPrecision,
                                     &kFileCutOff,
                                     &kTextRepaired,
                                     &kEventsLost,
                                     &kLaunchesWithoutKernels,
                                     &kKernelsWithoutLaunches,
                                     &kNegativeDurations,
                                     &kOverlappingKernels,
                                     &kClockSkew,
                                     &kNoDeviceActivity,
                                     &kNoShapes,
                                     &kProfilerInflation,
                                     &kOpaqueGraphs,
                                     &kStepsDiffer,
                                     &kColdStart,
                                     &kHostRunsAhead,
                                     &kNoResults,
                                     &kRunNotValid,
                                     &kSumsDiffer,
                                     &kKernelsOutsideWindow,
                                     &kZeroDurations,
                                     &kEmptySteps,
                                     &kStretchedByAnnotations,
                                     &kLabelsDoNotSum,
                                     &kTelemetryLost,
                                     &kTelemetryClockBack,
                                     &kTelemetryRepeated,
                                     &kTelemetryAssumption,
                                     &kDevicesNotNamed,
                                     &kColumnsNotUsed};

}  // namespace

std::span<const DiagnosticKind* const> all_diagnostics() {
  return kAllDiagnostics;
}

Diagnostic diagnose(const DiagnosticKind& kind, std::string where, std::string text, std::int64_t count) {
  return {std::string(kind.id), kind.severity, std::move(where), std::move(text), count, {}};
}

std::vector<Diagnostic> gathered(std::span<const Diagnostic> diagnostics) {
  std::vector<Diagnostic> out;
  for (const Diagnostic& diagnostic : diagnostics) {
    const auto same = std::find_if(out.begin(), out.end(), [&diagnostic](const Diagnostic& other) {
      return other.id == diagnostic.id && other.where == diagnostic.where;
    });
    if (same == out.end()) {
      out.push_back(diagnostic);
      continue;
    }
    same->count += diagnostic.count;
    if (same->process != diagnostic.process) same->process.reset();
    if (diagnostic.severity > same->severity) {
      same->severity = diagnostic.severity;
      same->text = diagnostic.text;
    }
  }
  return out;
}

std::string_view remedy_of(std::string_view id) {
  for (const DiagnosticKind* kind : kAllDiagnostics) {
    if (kind->id == id) return kind->remedy;
  }
  return "";
}

}  // namespace deepgap
