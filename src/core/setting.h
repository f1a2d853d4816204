// Settings of a run: everything besides workload, device and engine that decides a number, as rows.
//
//   name              requested   effective
//   cpu.threads       2           2
//   torch.tf32.matmul off         off
//
// The catalogue (setting.cpp) says what each means and whether two measurements that differ in it may be
// compared. An engine may report rows that the catalogue does not know: they are kept, and count as deciding.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deepgap {

struct Setting {
  std::string name;                      // dotted, lower case
  std::optional<std::string> requested;  // absent: nobody asked, this is what was found
  std::optional<std::string> effective;  // absent: not known
  std::optional<int> process = {};       // of the process that found otherwise; absent: of the whole cell
};

// One row a name, in the order of the first ones: what processes found otherwise joined to what holds for the
// whole cell, as in "powersave | performance".
std::vector<Setting> joined(std::span<const Setting> settings);

enum class Influence {
  kDecides,  // another value makes another number: unlike measurements are not compared
  kTells,    // recorded to tell where and when (host name, versions of libraries not on the path)
};

struct SettingKind {
  std::string_view name;
  Influence influence;
  bool user_may_set;             // through `run --set NAME=VALUE` or an option of its own
  std::string_view meaning;      // one sentence, with the values it takes
  std::string_view option = {};  // of `run`, where that and not --set sets it
};

namespace settings {
inline constexpr std::string_view kThreads = "cpu.threads";
inline constexpr std::string_view kStreams = "cpu.streams";
inline constexpr std::string_view kAffinity = "cpu.affinity";
inline constexpr std::string_view kHugePages = "memory.huge_pages";
inline constexpr std::string_view kInFlight = "run.in_flight";
inline constexpr std::string_view kInputs = "run.inputs";
inline constexpr std::string_view kInputBuffers = "run.input_buffers";
inline constexpr std::string_view kTransfers = "run.transfers";
inline constexpr std::string_view kSeed = "run.seed";
inline constexpr std::string_view kProtocol = "run.protocol";
inline constexpr std::string_view kTimeLimit = "run.time_limit";
inline constexpr std::string_view kTarget = "run.target";
inline constexpr std::string_view kLayout = "engine.layout";
inline constexpr std::string_view kGraph = "engine.graph";
inline constexpr std::string_view kInferencePrecision = "engine.inference_precision";
inline constexpr std::string_view kEngineVersion = "engine.version";
inline constexpr std::string_view kDeepgapVersion = "deepgap.version";
inline constexpr std::string_view kGovernor = "cpu.governor";
inline constexpr std::string_view kModelHash = "model.hash";
inline constexpr std::string_view kImportSource = "import.source";
inline constexpr std::string_view kProfiler = "run.profiler";
inline constexpr std::string_view kHostName = "host.name";
inline constexpr std::string_view kHostOs = "host.os";
inline constexpr std::string_view kHostKernel = "host.kernel";
inline constexpr std::string_view kHostArchitecture = "host.architecture";
inline constexpr std::string_view kHostCpuModel = "host.cpu_model";
inline constexpr std::string_view kHostCpuSockets = "host.cpu_sockets";
inline constexpr std::string_view kHostCpuCoresPerSocket = "host.cpu_cores_per_socket";
inline constexpr std::string_view kHostCpuThreadsPerCore = "host.cpu_threads_per_core";
inline constexpr std::string_view kHostCpuLogicalCpus = "host.cpu_logical_cpus";
inline constexpr std::string_view kHostMemTotalMb = "host.mem_total_mb";
}  // namespace settings

std::span<const SettingKind> all_settings();
// The kind of a name; nothing for a name of an engine's own.
const SettingKind* find_setting(std::string_view name);

// Names whose effective values differ and decide (a value known on one side only counts), sorted. Where
// neither side knows the effective value, the requests are compared. Of a cell's processes, joined() values.
std::vector<std::string> deciding_differences(std::span<const Setting> a, std::span<const Setting> b);

}  // namespace deepgap
