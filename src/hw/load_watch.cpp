#include "hw/load_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/cpu_list.h"
#include "base/text.h"
#include "hw/cgroup.h"
#include "hw/cpu_parts.h"
#include "hw/kernel_text.h"
#include "hw/load_counters.h"

namespace deepgap::hw {
namespace {

constexpr std::size_t kMostClocks = 16;  // frequency policies read a sample, spread over the watched CPUs
constexpr std::size_t kMostSamples = 1 << 16;  // kept of each series: over four hours at the default period
constexpr int kSameClockIsNominal = 4;         // readings of /proc/cpuinfo, equal to the last digit

struct Snapshot {
  Nanoseconds at{};
  std::map<int, CpuTicks> cpus;
  std::optional<ProcessTree> processes;
  std::vector<ThrottleCounters> throttling;
};

// At most `most` of them, evenly spread.
std::vector<FrequencyPolicy> spread(std::vector<FrequencyPolicy> all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<FrequencyPolicy> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

double share(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

double middle(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

}  // namespace

struct LoadSampler::State {
  State(const FileSystem& files_in, Clock& clock_in, LoadWatchOptions options_in)
      : files(files_in), clock(clock_in), options(std::move(options_in)) {}

  const FileSystem& files;
  Clock& clock;
  LoadWatchOptions options;

  CgroupPath cgroup;
  std::vector<FrequencyPolicy> policies;
  bool clock_from_cpuinfo = false;
  int same_clock = 0;
  std::optional<Snapshot> first, last;
  std::set<int> always_there;  // watched CPUs that every sample had
  TickSum ticks;
  std::int64_t own = 0;
  bool own_known = true;
  int samples = 0;
  TelemetrySeries clock_series, foreign_series, steal_series;

  Snapshot read() const {
    Snapshot now;
    now.at = clock.monotonic();
    std::map<int, CpuTicks> all = parse_cpu_ticks(files.read_trimmed("/proc/stat").value_or(""));
    // A list that names none of the CPUs there are is no list of ours.
    for (const int cpu : options.cpus) {
      if (const auto found = all.find(cpu); found != all.end()) now.cpus.insert(*found);
    }
    if (now.cpus.empty()) now.cpus = std::move(all);
    now.processes = read_processes(files, options.worker_pids);
    now.throttling = read_throttling(files, cgroup);
    return now;
  }

  // The fastest watched CPU's: idle ones slow down, and would hide the one that works.
  std::optional<double> read_clock() {
    std::optional<double> fastest;
    const auto keep = [&](std::optional<double> hertz) {
      if (hertz && (!fastest || *hertz > *fastest)) fastest = hertz;
    };
    for (const FrequencyPolicy& policy : policies)
      keep(read_kilohertz(files, policy.folder + "/scaling_cur_freq"));
    if (fastest || !clock_from_cpuinfo || same_clock >= kSameClockIsNominal) return fastest;
    const Cpuinfo cpuinfo(files.read_trimmed("/proc/cpuinfo").value_or(""));
    for (const Cpuinfo::Block& block : cpuinfo.blocks()) {
      if (!options.cpus.empty() &&
          std::find(options.cpus.begin(), options.cpus.end(), block.cpu) == options.cpus.end()) {
        continue;
      }
      const auto text = cpuinfo.value(block, "cpu MHz");
      const auto value = text ? to_real(*text) : std::nullopt;
      if (value && *value > 0 && *value < 1e5) keep(*value * 1e6);
    }
    const bool same = fastest && !clock_series.values.empty() && clock_series.values.back() == *fastest;
    same_clock = same ? same_clock + 1 : 1;
    return fastest;
  }

  static void keep(TelemetrySeries& series, Nanoseconds at, double value) {
    if (series.values.size() >= kMostSamples) return;
    series.at_ns.push_back(at.count());
    series.values.push_back(value);
  }

  void add_clock(Nanoseconds at) {
    if (!options.clocks) return;
    if (const auto hertz = read_clock()) keep(clock_series, at, *hertz);
  }

  void add(Snapshot now) {
    TickSum up;
    for (const auto& [cpu, ticks_now] : now.cpus) {
      const auto then = last->cpus.find(cpu);
      if (then == last->cpus.end()) continue;  // came online
      const TickSum one = increase(then->second, ticks_now);
      up.busy += one.busy;
      up.idle += one.idle;
      up.steal += one.steal;
    }
    std::erase_if(always_there, [&](int cpu) { return !now.cpus.contains(cpu); });
    ticks.busy += up.busy;
    ticks.idle += up.idle;
    ticks.steal += up.steal;
    std::int64_t own_up = 0;
    if (last->processes && now.processes) {
      own_up = increase(*last->processes, *now.processes);
      own += own_up;
    } else {
      own_known = false;
    }
    if (up.total() > 0) {
      if (own_known)
        keep(foreign_series, now.at, share(std::max<std::int64_t>(0, up.busy - own_up), up.total()));
      keep(steal_series, now.at, share(up.steal, up.total()));
    }
    add_clock(now.at);
    ++samples;
    last = std::move(now);
  }
};

LoadSampler::LoadSampler(const FileSystem& files, Clock& clock, LoadWatchOptions options)
    : state_(std::make_unique<State>(files, clock, std::move(options))) {}
LoadSampler::~LoadSampler() = default;
LoadSampler::LoadSampler(LoadSampler&&) noexcept = default;

void LoadSampler::begin() {
  auto fresh = std::make_unique<State>(state_->files, state_->clock, std::move(state_->options));
  state_ = std::move(fresh);
  State& s = *state_;
  s.cgroup = find_cgroups(s.files).cpu;
  if (s.options.clocks) {
    std::vector<int> cpus = s.options.cpus;
    if (cpus.empty())
      cpus = read_cpu_list(s.files, "/sys/devices/system/cpu/online").value_or(std::vector<int>());
    std::sort(cpus.begin(), cpus.end());
    s.policies = spread(frequency_policies(s.files, cpus), kMostClocks);
    std::erase_if(s.policies, [&](const FrequencyPolicy& policy) {
      return !read_kilohertz(s.files, policy.folder + "/scaling_cur_freq");
    });
    s.clock_from_cpuinfo = s.policies.empty();
  }
  s.first = s.read();
  s.last = s.first;
  for (const auto& [cpu, ticks] : s.first->cpus) s.always_there.insert(cpu);
  s.add_clock(s.first->at);
  s.samples = 1;
}

void LoadSampler::sample() {
  if (!state_->last) return begin();
  state_->add(state_->read());
}

LoadReport LoadSampler::finish() {
  sample();
  State& s = *state_;
  LoadReport report;
  report.span = s.last->at - s.first->at;
  report.cpus = static_cast<int>(s.always_there.size() - s.always_there.count(kAllCpus));
  report.samples = s.samples;
  const std::int64_t total = s.ticks.total();
  if (total > 0) {
    report.idle_share = share(s.ticks.idle, total);
    report.steal_share = share(s.ticks.steal, total);
    report.steal_ticks = static_cast<double>(s.ticks.steal);
  }
  if (total > 0 && s.own_known) {
    const std::int64_t foreign = std::max<std::int64_t>(0, s.ticks.busy - s.own);
    report.foreign_ticks = static_cast<double>(foreign);
    report.foreign_share = share(foreign, total);
    if (report.cpus > 0) {
      report.foreign_cores = *report.foreign_share * report.cpus;
      report.own_cores = share(s.own, total) * report.cpus;
    }
  }
  for (const ThrottleCounters& now : s.last->throttling) {
    for (const ThrottleCounters& then : s.first->throttling) {
      if (then.folder != now.folder) continue;
      const std::int64_t throttled = counter_increase(then.throttled, now.throttled);
      if (report.throttled_periods && *report.throttled_periods >= throttled) continue;
      report.throttled_periods = throttled;
      report.quota_periods = counter_increase(then.periods, now.periods);
      report.throttled_time = Nanoseconds(std::max<std::int64_t>(0, now.throttled_ns - then.throttled_ns));
      report.throttled_group = now.folder;
    }
  }
  // A clock out of /proc/cpuinfo that never moves is the nominal one, as virtual machines show it.
  std::vector<double> clocks = s.clock_series.values;
  if (s.clock_from_cpuinfo &&
      std::adjacent_find(clocks.begin(), clocks.end(), std::not_equal_to<>()) == clocks.end()) {
    clocks.clear();
  }
  if (!clocks.empty()) {
    s.clock_series.quantity = "clock.cpu";
    s.clock_series.unit = Unit::kHertz;
    s.clock_series.source =
        s.clock_from_cpuinfo ? "proc:cpuinfo" : fmt::format("cpufreq:{} policies", s.policies.size());
    report.telemetry.push_back(s.clock_series);
  }
  if (clocks.size() > 2) {  // at the first and the last the load is not there yet, or no more
    const auto [low, high] = std::minmax_element(clocks.begin() + 1, clocks.end() - 1);
    report.clock_min_hz = *low;
    report.clock_max_hz = *high;
    report.clock_median_hz = middle(std::vector<double>(clocks.begin() + 1, clocks.end() - 1));
  }
  for (const auto& [series, name] :
       {std::pair(&s.foreign_series, "load.foreign"), std::pair(&s.steal_series, "load.steal")}) {
    if (series->values.empty()) continue;
    series->quantity = name;
    series->unit = Unit::kRatio;
    series->source = "proc:stat";
    report.telemetry.push_back(*series);
  }
  return report;
}

struct CpuLoadWatch::State {
  State(const FileSystem& files, Clock& clock, LoadWatchOptions options)
      : period(options.period), sampler(files, clock, std::move(options)) {}
  Nanoseconds period;
  LoadSampler sampler;
  std::mutex mutex;
  std::condition_variable_any wake;
  std::jthread thread;
};

CpuLoadWatch::CpuLoadWatch(const FileSystem& files, Clock& clock, LoadWatchOptions options)
    : state_(std::make_unique<State>(files, clock, std::move(options))) {}

CpuLoadWatch::~CpuLoadWatch() =
    default;  // jthread stops and joins; it is the last member, so the first to go

void CpuLoadWatch::start() {
  State& s = *state_;
  if (s.thread.joinable()) return;
  s.sampler.begin();
  if (s.period <= Nanoseconds{}) return;
  try {
    s.thread = std::jthread([&s](const std::stop_token& stop) {
      std::unique_lock lock(s.mutex);
      while (!stop.stop_requested()) {
        s.wake.wait_for(lock, stop, s.period, [] { return false; });
        if (!stop.stop_requested()) s.sampler.sample();
      }
    });
  } catch (const std::system_error&) {
    // No thread to be had: the beginning and the end are still seen.
  }
}

LoadReport CpuLoadWatch::stop() {
  State& s = *state_;
  if (s.thread.joinable()) {
    s.thread.request_stop();
    s.thread.join();
  }
  return s.sampler.finish();
}

std::vector<Diagnostic> judge(const LoadReport& report, const std::string& where,
                              const LoadThresholds& thresholds) {
  std::vector<Diagnostic> found;
  const auto percent = [](double part) { return format_number(part * 100, 2); };
  const double rounding = std::sqrt(static_cast<double>(std::max(report.cpus, 1)));
  if (report.foreign_share && report.foreign_ticks.value_or(0) >= thresholds.least_ticks + rounding) {
    const bool much = *report.foreign_share > thresholds.foreign_share;
    const bool in_the_way = report.foreign_cores.value_or(0) > thresholds.foreign_cores_when_full &&
                            report.idle_share.value_or(1) < thresholds.full_idle_share;
    if (much || in_the_way) {
      found.push_back(
          diagnose(diagnostics::kForeignLoad, where,
                   fmt::format("other processes used {} % of the {} watched CPUs ({} cores) while it ran, {} "
                               "% were idle; expected at most {} %{}",
                               percent(*report.foreign_share), report.cpus,
                               format_number(report.foreign_cores.value_or(0), 2),
                               percent(report.idle_share.value_or(0)), percent(thresholds.foreign_share),
                               much ? ""
                                    : fmt::format(", and with no CPU idle at most {} cores",
                                                  format_number(thresholds.foreign_cores_when_full, 2)))));
    }
  }
  if (report.steal_share.value_or(0) > thresholds.steal_share &&
      report.steal_ticks.value_or(0) >= thresholds.least_steal_ticks) {
    found.push_back(diagnose(
        diagnostics::kStealTime, where,
        fmt::format(
            "the hypervisor gave {} % of the CPUs' time to others while it ran; expected at most {} %",
            percent(*report.steal_share), percent(thresholds.steal_share))));
  }
  if (report.clock_min_hz && report.clock_max_hz &&
      *report.clock_max_hz - *report.clock_min_hz > thresholds.clock_spread * *report.clock_max_hz) {
    found.push_back(diagnose(
        diagnostics::kClockChanged, where,
        fmt::format("the clock was between {} and {} GHz while it ran; expected within {} %",
                    format_number(*report.clock_min_hz / 1e9, 3),
                    format_number(*report.clock_max_hz / 1e9, 3), percent(thresholds.clock_spread))));
  }
  const std::int64_t throttled = report.throttled_periods.value_or(0);
  if (throttled > 0) {
    const std::int64_t periods = std::max(throttled, report.quota_periods.value_or(0));
    if (share(throttled, periods) > thresholds.throttled_share) {
      found.push_back(
          diagnose(diagnostics::kQuotaThrottled, where,
                   fmt::format("the CPU quota of {} stopped it in {} of {} periods, for {} in all",
                               report.throttled_group, throttled, periods,
                               format_duration(report.throttled_time.value_or(Nanoseconds{}))),
                   throttled));
    }
  }
  return found;
}

}  // namespace deepgap::hw
