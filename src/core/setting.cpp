#include "core/setting.h"

#include <algorithm>
#include <array>

namespace deepgap {
namespace {

using namespace settings;

constexpr std::array kSettings{
    SettingKind{
        kThreads, Influence::kDecides, true,
        "Threads that compute one call: a number, or `auto` for the cores that the machine gives us."},
    SettingKind{kStreams, Influence::kDecides, true,
                "Calls that the engine computes side by side, each on its share of the threads: a number, or "
                "`auto`."},
    SettingKind{
        kAffinity, Influence::kDecides, true,
        "Logical processors that the engine may use, as a list such as `0-3,8`, or `none` for no pinning."},
    SettingKind{kHugePages, Influence::kDecides, true,
                "Transparent huge pages for the engine's memory: `always`, `madvise` or `never`."},
    SettingKind{kGovernor, Influence::kDecides, false,
                "Frequency governor of the processor as found, such as `performance` or `powersave`."},
    SettingKind{
        kInFlight, Influence::kDecides, true,
        "Calls submitted and not yet finished in throughput mode: a number, or `auto` for as many as the "
        "engine takes at once; 1 in latency mode.",
        "--in-flight"},
    SettingKind{kInputs, Influence::kDecides, false,
                "What the inputs hold: `random` (seeded values, indices within their range), never zeros."},
    SettingKind{kInputBuffers, Influence::kDecides, true,
                "Input buffers used in turn: a number; 1 keeps the input in the cache, more make it come "
                "from memory.",
                "--input-buffers"},
    SettingKind{kTransfers, Influence::kDecides, false,
                "Whether a call includes the copies to and from the device: `included` or `excluded`."},
    SettingKind{kSeed, Influence::kTells, true,
                "Seed of the input values and of the order of cells: a whole number.", "--seed"},
    SettingKind{
        kProtocol, Influence::kTells, false,
        "How many calls are made: `adaptive` (warm-up until steady, then until the target) or `fixed:W+N` (W "
        "warm-up calls, N timed ones)."},
    SettingKind{kTimeLimit, Influence::kTells, true,
                "Longest time of one cell, warm-up and timed calls of all its processes, loading excluded: a "
                "duration "
                "such as `60s`.",
                "--time-limit"},
    SettingKind{
        kTarget, Influence::kTells, true,
        "Half width of the median's 95 % interval, as a share of the median, at which the adaptive protocol "
        "stops: a ratio such as `0.01`.",
        "--target"},
    SettingKind{
        kLayout, Influence::kDecides, false,
        "Order of the tensors' dimensions in the engine: `nchw`, `nhwc`, or `engine` for its own choice."},
    SettingKind{kGraph, Influence::kDecides, false,
                "How the engine executes: `eager` (operator by operator), `compiled` (as one optimised "
                "graph) or `captured` "
                "(one recorded launch)."},
    SettingKind{kInferencePrecision, Influence::kDecides, false,
                "Arithmetic that the engine says it uses: a precision such as `fp32` or `bf16`."},
    SettingKind{kEngineVersion, Influence::kDecides, false,
                "Version of the engine, which changes the number; `compare` across versions is a question of "
                "its own."},
    SettingKind{kModelHash, Influence::kDecides, false, "Content hash of the ONNX file that ran."},
    SettingKind{kDeepgapVersion, Influence::kTells, false, "Version of deepgap that measured."},
    SettingKind{
        kProfiler, Influence::kDecides, false,
        "Profiler that ran beside the calls and took its own time, as the format that it writes: `kineto`."},
    SettingKind{kImportSource, Influence::kTells, false, "File that the measurement was imported from."},
    SettingKind{kHostName, Influence::kTells, false, "Name of the machine."},
    SettingKind{kHostOs, Influence::kTells, false, "Operating system and its version."},
    SettingKind{kHostKernel, Influence::kTells, false, "Release of the kernel."},
    SettingKind{kHostArchitecture, Influence::kTells, false,
                "Instruction set of the machine: `x86_64` or `aarch64`."},
    // What the CPU is decides, but as the device that is compared; these rows tell which machine held it.
    SettingKind{kHostCpuModel, Influence::kTells, false, "The machine's CPU by its own name."},
    SettingKind{kHostCpuSockets, Influence::kTells, false, "CPU packages of the machine."},
    SettingKind{kHostCpuCoresPerSocket, Influence::kTells, false, "Cores of each package."},
    SettingKind{kHostCpuThreadsPerCore, Influence::kTells, false, "Hardware threads of each core."},
    SettingKind{kHostCpuLogicalCpus, Influence::kTells, false, "CPUs that the system counts."},
    SettingKind{kHostMemTotalMb, Influence::kTells, false, "Memory of the machine in MiB."},
};

// What is known of one name on both sides.
struct Sides {
  const Setting* a = nullptr;
  const Setting* b = nullptr;
};

bool differ(const Sides& sides) {
  const auto effective = [](const Setting* setting) {
    return setting ? setting->effective : std::optional<std::string>{};
  };
  const auto requested = [](const Setting* setting) {
    return setting ? setting->requested : std::optional<std::string>{};
  };
  const std::optional<std::string> a = effective(sides.a);
  const std::optional<std::string> b = effective(sides.b);
  // Where neither side knows what was in force, different requests are all there is to go by.
  if (!a && !b) return requested(sides.a) != requested(sides.b);
  return a != b;
}

// Adds what a further row says to a text that may hold several: "powersave | performance".
void combine(std::optional<std::string>& known, const std::optional<std::string>& further) {
  if (!further) return;
  if (!known) {
    known = further;
    return;
  }
  constexpr std::string_view kSeparator = " | ";
  for (std::size_t begin = 0; begin <= known->size();) {
    const std::size_t end = std::min(known->find(kSeparator, begin), known->size());
    if (std::string_view(*known).substr(begin, end - begin) == *further) return;
    begin = end + kSeparator.size();
  }
  known->append(kSeparator).append(*further);
}

}  // namespace

std::span<const SettingKind> all_settings() {
  return kSettings;
}

const SettingKind* find_setting(std::string_view name) {
  const auto found = std::find_if(kSettings.begin(), kSettings.end(),
                                  [&](const SettingKind& kind) { return kind.name == name; });
  return found == kSettings.end() ? nullptr : &*found;
}

std::vector<Setting> joined(std::span<const Setting> settings) {
  std::vector<Setting> rows;
  std::map<std::string_view, std::size_t> positions;
  for (const Setting& setting : settings) {
    const auto [position, is_new] = positions.try_emplace(setting.name, rows.size());
    if (is_new) rows.push_back({.name = setting.name});
    combine(rows[position->second].requested, setting.requested);
    combine(rows[position->second].effective, setting.effective);
  }
  return rows;
}

std::vector<std::string> deciding_differences(std::span<const Setting> a, std::span<const Setting> b) {
  const std::vector<Setting> joined_a = joined(a);
  const std::vector<Setting> joined_b = joined(b);
  std::map<std::string_view, Sides> by_name;
  for (const Setting& setting : joined_a) by_name[setting.name].a = &setting;
  for (const Setting& setting : joined_b) by_name[setting.name].b = &setting;
  std::vector<std::string> names;
  for (const auto& [name, sides] : by_name) {
    const SettingKind* kind = find_setting(name);
    const bool decides = kind == nullptr || kind->influence == Influence::kDecides;
    if (decides && differ(sides)) names.emplace_back(name);
  }
  return names;
}

}  // namespace deepgap
