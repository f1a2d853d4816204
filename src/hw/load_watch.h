// Watches the CPUs while a cell runs: was there another load on them, did the hypervisor or a quota take them
// away, did their clock move?
//
//   CpuLoadWatch watch(files, clock, {.worker_pids = {worker.pid()}, .cpus = cpu.usable_cpu_list});
//   watch.start();
//   ... measure ...
//   LoadReport load = watch.stop();
//   for (Diagnostic& d : judge(load, "resnet50/openvino/cpu/fp32/b8")) ...
//
//   warning  foreign_load  other processes used 38 % of 2 CPUs (0.76 cores) while it ran ...
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/units.h"
#include "core/diagnostic.h"
#include "core/measurement.h"

namespace deepgap::hw {

struct LoadWatchOptions {
  std::vector<int> worker_pids;  // with their descendants these are ours, as is this process itself
  std::vector<int> cpus;         // CPUs that the load runs on; empty: all
  Nanoseconds period = std::chrono::milliseconds(250);  // between samples; cost of one: docs/hardware.md
  bool clocks = true;
};

// What happened between start and stop. A share is of the time of the watched CPUs; absent: the machine does
// not say.
struct LoadReport {
  Nanoseconds span{};
  int cpus = 0;  // watched, and online all the time
  int samples = 0;
  std::optional<double> foreign_share;  // busy with what is not ours; interrupts count as foreign
  std::optional<double> foreign_cores;  // the same, as a number of cores
  std::optional<double> own_cores;
  std::optional<double> idle_share;
  std::optional<double> steal_share;    // taken by the hypervisor
  std::optional<double> foreign_ticks;  // the CPU time that foreign_share rests on, in ticks of 10 ms
  std::optional<double> steal_ticks;
  std::optional<double> clock_min_hz, clock_median_hz,
      clock_max_hz;                           // of the fastest watched CPU, the first sample aside
  std::optional<std::int64_t> quota_periods;  // of the cgroup that was stopped most
  std::optional<std::int64_t> throttled_periods;
  std::optional<Nanoseconds> throttled_time;
  std::string throttled_group;
  std::vector<TelemetrySeries> telemetry;  // "clock.cpu" where readable; "load.foreign", "load.steal"
};

// When a report becomes a diagnostic. Each default says why.
struct LoadThresholds {
  // The intervals aim at 1 %, and an idle machine's daemons and interrupts use 0.5 to 2 % of two cores: 5 %
  // is neither.
  double foreign_share = 0.05;
  // On many cores a small share can be one whole core. Where none is idle, that core's thread comes late, and
  // a synchronised operator with it.
  double foreign_cores_when_full = 0.25;
  double full_idle_share = 0.05;
  // Busy time is counted in ticks: a few ticks of difference are rounding. To this many, the square root of
  // the number of CPUs is added, each of which rounds for itself.
  double least_ticks = 10;
  // Stolen time is lost to every thread that waits for the others; as large as the intervals' aim.
  double steal_share = 0.01;
  double least_steal_ticks = 3;
  // Times go as 1 / clock. One turbo step of 100 MHz is 2 to 4 %, which no machine holds still.
  double clock_spread = 0.05;
  // A stop lasts up to a period (100 ms): of 100 periods one is seen in p99 already.
  double throttled_share = 0.01;
};

// `where`: the cell, as diagnostics name it.
std::vector<Diagnostic> judge(const LoadReport& report, const std::string& where,
                              const LoadThresholds& thresholds = {});

// Counters and their differences, without a thread: begin, then sample any number of times, then finish.
class LoadSampler {
 public:
  // `files` and `clock` outlive it.
  LoadSampler(const FileSystem& files, Clock& clock, LoadWatchOptions options);
  ~LoadSampler();
  LoadSampler(LoadSampler&&) noexcept;

  void begin();
  void sample();
  LoadReport finish();  // takes the last sample itself; may be called again after another begin

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The same on a thread of its own. start and stop from one thread.
class CpuLoadWatch {
 public:
  CpuLoadWatch(const FileSystem& files, Clock& clock, LoadWatchOptions options);
  ~CpuLoadWatch();  // stops
  void start();
  LoadReport stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deepgap::hw
