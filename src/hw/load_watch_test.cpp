#include "hw/load_watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/load_counters.h"
#include "hw/tree_file_system.h"

namespace deepgap::hw {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string process(int pid, std::int64_t own, std::int64_t children = 0, std::int64_t started = 7) {
  return fmt::format("{} (a (strange) name) S 1 {} {} 0 -1 4194560 1 2 3 4 {} 0 {} 0 20 0 1 0 {} 1000 50\n",
                     pid, pid, pid, own, children, started);
}

// A machine whose counters a test sets before each sample.
class Watched : public ::testing::Test {
 protected:
  Watched() {
    cpus({{0, 0, 0}, {0, 0, 0}});
    files.set("/proc/self/stat", process(100, 0));
  }
  struct Line {
    std::int64_t busy, idle, steal;
  };
  void cpus(const std::vector<Line>& lines) {
    std::string text = "cpu  1 2 3 4 5 6 7 8 9 10\n";
    for (std::size_t i = 0; i < lines.size(); ++i) {
      // A quarter of a busy tick's worth each in user, nice, system, softirq; guest time repeats what is in
      // user.
      const auto part = lines[i].busy / 5;
      text += fmt::format("cpu{} {} {} {} {} 0 0 {} {} {} 0\n", i, lines[i].busy - 3 * part, part, part,
                          lines[i].idle, part, lines[i].steal, part);
    }
    files.set("/proc/stat", text + "intr 5\n");
  }
  void advance() { clock.advance(seconds(1)); }

  TreeFileSystem files;
  FakeClock clock{Nanoseconds(5'000'000'000)};
};

TEST_F(Watched, ForeignIsBusyLessOurs) {
  files.set("/proc/200/stat", process(200, 0));
  LoadSampler sampler(files, clock, {.worker_pids = {200}, .cpus = {0, 1}});
  sampler.begin();
  advance();
  cpus({{100, 0, 0}, {60, 40, 0}});  // 160 of 200 ticks
  files.set("/proc/self/stat", process(100, 4));
  files.set("/proc/200/stat", process(200, 80));
  const LoadReport report = sampler.finish();
  EXPECT_EQ(report.span, seconds(1));
  EXPECT_EQ(report.cpus, 2);
  EXPECT_DOUBLE_EQ(report.foreign_share.value(), 0.38);  // (160 - 84) / 200
  EXPECT_DOUBLE_EQ(report.foreign_cores.value(), 0.76);
  EXPECT_DOUBLE_EQ(report.own_cores.value(), 0.84);
  EXPECT_DOUBLE_EQ(report.idle_share.value(), 0.2);
  EXPECT_DOUBLE_EQ(report.steal_share.value(), 0);
  const auto diagnostics = judge(report, "resnet50/openvino/cpu/fp32/b8");
  ASSERT_THAT(diagnostics, SizeIs(1));
  EXPECT_EQ(diagnostics[0].id, "foreign_load");
  EXPECT_EQ(diagnostics[0].where, "resnet50/openvino/cpu/fp32/b8");
  EXPECT_THAT(diagnostics[0].text, HasSubstr("38 %"));
  EXPECT_THAT(diagnostics[0].text, HasSubstr("0.76 cores"));
}

TEST_F(Watched, OnlyTheWatchedCpusCount) {
  LoadSampler sampler(files, clock, {.cpus = {1}});
  sampler.begin();
  advance();
  cpus({{100, 0, 0}, {0, 100, 0}});
  const LoadReport report = sampler.finish();
  EXPECT_EQ(report.cpus, 1);
  EXPECT_DOUBLE_EQ(report.foreign_share.value(), 0);
  EXPECT_THAT(judge(report, ""), IsEmpty());
}

TEST_F(Watched, OursAloneIsNoForeignLoad) {
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  for (std::int64_t second = 1; second <= 4; ++second) {
    advance();
    cpus({{100 * second, 0, 0}, {98 * second, 2 * second, 0}});
    files.set("/proc/self/stat",
              process(100, 200 * second));  // counted finer than the machine's: a little more
    sampler.sample();
  }
  advance();
  const LoadReport report = sampler.finish();
  EXPECT_DOUBLE_EQ(report.foreign_share.value(), 0);
  EXPECT_EQ(report.samples, 6);
  EXPECT_THAT(judge(report, ""), IsEmpty());
}

TEST_F(Watched, AFewTicksAreRounding) {
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  advance();
  cpus({{8, 12, 0}, {0, 20, 0}});  // 20 % of a fifth of a second
  EXPECT_THAT(judge(sampler.finish(), ""), IsEmpty());
}

TEST_F(Watched, StealTime) {
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  advance();
  cpus({{0, 95, 5}, {0, 95, 5}});
  const LoadReport report = sampler.finish();
  EXPECT_DOUBLE_EQ(report.steal_share.value(), 0.05);
  EXPECT_DOUBLE_EQ(report.foreign_share.value(), 0);
  const auto diagnostics = judge(report, "");
  ASSERT_THAT(diagnostics, SizeIs(1));
  EXPECT_EQ(diagnostics[0].id, "steal_time");
}

// 64 CPUs, all busy, one of them for another process: 1.6 % of all, but one thread in 64 is late.
TEST_F(Watched, OneForeignCoreAmongManyBusyOnes) {
  std::vector<Line> lines(64, {0, 0, 0});
  cpus(lines);
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  clock.advance(seconds(10));
  lines.assign(64, {1000, 0, 0});
  cpus(lines);
  files.set("/proc/self/stat", process(100, 63000));
  const LoadReport report = sampler.finish();
  EXPECT_NEAR(report.foreign_share.value(), 1.0 / 64, 1e-12);
  ASSERT_THAT(judge(report, ""), SizeIs(1));
  // With idle CPUs it is in nobody's way.
  LoadReport idle = report;
  idle.idle_share = 0.5;
  EXPECT_THAT(judge(idle, ""), IsEmpty());
}

TEST_F(Watched, CounterThatStepsBack) {
  cpus({{0, 1000, 0}, {0, 1000, 0}});
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  advance();
  cpus({{50, 990, 0}, {0, 1100, 0}});  // idle went back by 10
  const LoadReport report = sampler.finish();
  EXPECT_DOUBLE_EQ(report.foreign_share.value(), 50.0 / 150);
}

TEST_F(Watched, OfflineCpuAndComebacks) {
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  advance();
  cpus({{50, 50, 0}});  // cpu1 is gone
  sampler.sample();
  advance();
  cpus({{100, 100, 0}, {70, 30, 0}});  // and back
  const LoadReport report = sampler.finish();
  EXPECT_EQ(report.cpus, 1);
  EXPECT_DOUBLE_EQ(report.foreign_share.value(), 0.5);  // cpu0 alone, both seconds
}

TEST_F(Watched, ProcessesVanishAndAreReaped) {
  files.set("/proc/200/stat", process(200, 10));
  files.set("/proc/200/task/200/children", "201 \n");
  files.set("/proc/201/stat", process(201, 30));
  LoadSampler sampler(files, clock, {.worker_pids = {200}});
  sampler.begin();
  advance();
  cpus({{100, 0, 0}, {100, 0, 0}});
  files.set("/proc/201/stat", process(201, 90));  // +60
  files.set("/proc/200/stat", process(200, 20));  // +10
  sampler.sample();
  advance();
  cpus({{200, 0, 0}, {200, 0, 0}});
  files.remove("/proc/201/stat");  // used 40 more, ended, was waited for
  files.set("/proc/200/task/200/children", "");
  files.set("/proc/200/stat", process(200, 30, 130));
  sampler.sample();
  advance();
  cpus({{300, 0, 0}, {300, 0, 0}});
  files.remove("/proc/200/stat");  // the worker: 5 more
  files.set("/proc/self/stat", process(100, 0, 165));
  const LoadReport report = sampler.finish();
  // 60 + 10 + 40 + 10 + 5 = 125 of 600.
  EXPECT_DOUBLE_EQ(report.foreign_share.value(), 475.0 / 600);
}

TEST_F(Watched, ANumberThatIsAnotherProcessNow) {
  files.set("/proc/200/stat", process(200, 1000, 0, 7));
  LoadSampler sampler(files, clock, {.worker_pids = {200}});
  sampler.begin();
  advance();
  cpus({{100, 0, 0}, {100, 0, 0}});
  files.set("/proc/200/stat", process(200, 3, 0, 5000));
  EXPECT_GE(sampler.finish().foreign_share.value(), 0.98);
}

TEST_F(Watched, WithoutOurOwnTimeForeignIsUnknown) {
  files.remove("/proc/self/stat");
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  advance();
  cpus({{100, 0, 0}, {100, 0, 0}});
  const LoadReport report = sampler.finish();
  EXPECT_EQ(report.foreign_share, std::nullopt);
  EXPECT_TRUE(report.steal_share.has_value());
  EXPECT_THAT(judge(report, ""), IsEmpty());
}

TEST_F(Watched, MoreCpusThanASetHolds) {
  std::vector<Line> lines(1500, {0, 0, 0});
  cpus(lines);
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  advance();
  lines.assign(1500, {25, 75, 0});
  cpus(lines);
  const LoadReport report = sampler.finish();
  EXPECT_EQ(report.cpus, 1500);
  EXPECT_DOUBLE_EQ(report.foreign_share.value(), 0.25);
}

class WatchedClock : public Watched {
 protected:
  void set_clock(int policy, int kilohertz) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpufreq/policy{}", policy);
    files.set(folder + "/affected_cpus", std::to_string(policy));
    files.set(folder + "/scaling_cur_freq", std::to_string(kilohertz));
  }
  LoadReport run(const std::vector<int>& kilohertz) {
    LoadSampler sampler(files, clock, {.cpus = {0, 1}});
    set_clock(1, 800'000);  // idles
    for (std::size_t i = 0; i < kilohertz.size(); ++i) {
      set_clock(0, kilohertz[i]);
      if (i == 0) sampler.begin();
      if (i > 0 && i + 1 < kilohertz.size()) sampler.sample();
      if (i + 1 == kilohertz.size()) return sampler.finish();
      advance();
    }
    return {};
  }
};

TEST_F(WatchedClock, OfTheFastestCpuBetweenTheFirstAndTheLast) {
  const LoadReport report = run({900'000, 3'500'000, 3'400'000, 3'000'000, 1'000'000});
  EXPECT_DOUBLE_EQ(report.clock_min_hz.value(), 3.0e9);
  EXPECT_DOUBLE_EQ(report.clock_median_hz.value(), 3.4e9);
  EXPECT_DOUBLE_EQ(report.clock_max_hz.value(), 3.5e9);
  ASSERT_FALSE(report.telemetry.empty());
  EXPECT_EQ(report.telemetry[0].quantity, "clock.cpu");
  EXPECT_EQ(report.telemetry[0].unit, Unit::kHertz);
  EXPECT_THAT(report.telemetry[0].values, ElementsAre(9e8, 3.5e9, 3.4e9, 3e9, 1e9));
  EXPECT_EQ(report.telemetry[0].at_ns.front(), 5'000'000'000);
  EXPECT_EQ(report.telemetry[0].at_ns.back(), 9'000'000'000);
  const auto diagnostics = judge(report, "");
  ASSERT_THAT(diagnostics, SizeIs(1));
  EXPECT_EQ(diagnostics[0].id, "clock_changed");
  EXPECT_THAT(diagnostics[0].text, HasSubstr("between 3 and 3.5 GHz"));
}

TEST_F(WatchedClock, OneTurboStepIsNoChange) {
  EXPECT_THAT(judge(run({900'000, 3'500'000, 3'400'000, 3'500'000, 900'000}), ""), IsEmpty());
}

TEST_F(WatchedClock, TooShortToSay) {
  EXPECT_EQ(run({900'000, 3'500'000}).clock_min_hz, std::nullopt);
}

TEST_F(Watched, ClockOfCpuinfoOnlyWhereItMoves) {
  const auto run = [&](std::vector<const char*> megahertz) {
    LoadSampler sampler(files, clock, {});
    for (std::size_t i = 0; i < megahertz.size(); ++i) {
      files.set("/proc/cpuinfo", fmt::format("processor : 0\ncpu MHz : {}\n", megahertz[i]));
      i == 0 ? sampler.begin() : sampler.sample();
      advance();
    }
    return sampler.finish();
  };
  EXPECT_EQ(run({"2100.000", "2100.000", "2100.000"}).clock_max_hz, std::nullopt);
  const LoadReport moving = run({"2100.000", "3100.500", "3000.000"});
  EXPECT_DOUBLE_EQ(moving.clock_max_hz.value(), 3.1005e9);
  ASSERT_FALSE(moving.telemetry.empty());
  EXPECT_EQ(moving.telemetry[0].source, "proc:cpuinfo");
}

TEST_F(Watched, Quota) {
  const auto stat = [&](int periods, int throttled, int microseconds) {
    files.set("/sys/fs/cgroup/cpu.stat", fmt::format("nr_periods {}\nnr_throttled {}\nthrottled_usec {}\n",
                                                     periods, throttled, microseconds));
  };
  files.set("/sys/fs/cgroup/cgroup.controllers", "cpu");
  stat(1000, 900, 5'000'000);
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  advance();
  stat(1010, 904, 5'120'000);
  const LoadReport report = sampler.finish();
  EXPECT_EQ(report.quota_periods, 10);
  EXPECT_EQ(report.throttled_periods, 4);
  EXPECT_EQ(report.throttled_time, Nanoseconds(120'000'000));
  const auto diagnostics = judge(report, "");
  ASSERT_THAT(diagnostics, SizeIs(1));
  EXPECT_EQ(diagnostics[0].id, "quota_throttled");
  EXPECT_EQ(diagnostics[0].count, 4);
  EXPECT_THAT(diagnostics[0].text, HasSubstr("4 of 10 periods, for 120 ms"));
  EXPECT_EQ(sampler.finish().throttled_periods, 4);
}

TEST_F(Watched, BeginForgetsWhatWasBefore) {
  LoadSampler sampler(files, clock, {});
  sampler.begin();
  advance();
  cpus({{100, 0, 0}, {100, 0, 0}});
  EXPECT_DOUBLE_EQ(sampler.finish().foreign_share.value(), 1);
  sampler.begin();
  advance();
  cpus({{100, 100, 0}, {100, 100, 0}});
  EXPECT_DOUBLE_EQ(sampler.finish().foreign_share.value(), 0);
}

TEST(LoadCounters, Increases) {
  EXPECT_EQ(counter_increase(5, 9), 4);
  EXPECT_EQ(counter_increase(9, 5), 0);
  EXPECT_EQ(counter_increase(4294967290, 10), 16);  // wraps at 2^32
  EXPECT_EQ(counter_increase(4294967296, 10), 0);   // was never of 32 bits
  EXPECT_EQ(counter_increase(4294967290, 4294967280), 0);
}

TEST(LoadCounters, ProcessLine) {
  const auto ticks = parse_process_ticks(process(42, 17, 5, 99)).value();
  EXPECT_EQ(ticks.pid, 42);
  EXPECT_EQ(ticks.own, 17);
  EXPECT_EQ(ticks.children, 5);
  EXPECT_EQ(ticks.started, 99);
  for (const char* text :
       {"", "42", "42 (x", "42 (x) S 1", "x (y) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"}) {
    EXPECT_FALSE(parse_process_ticks(text).has_value()) << text;
  }
}

TEST(LoadWatch, ThisMachine) {
  RootedFileSystem files;
  SystemClock clock;
  CpuLoadWatch watch(files, clock, {.period = std::chrono::milliseconds(5)});
  watch.start();
  watch.start();  // a second is none
  clock.sleep(std::chrono::milliseconds(60));
  const LoadReport report = watch.stop();
  EXPECT_GE(report.span, Nanoseconds(60'000'000));
  EXPECT_GE(report.samples, 2);
  EXPECT_GE(report.cpus, 1);
  watch.start();  // again
  EXPECT_GE(watch.stop().samples, 2);
}

TEST(LoadWatch, EndsWithItsObject) {
  RootedFileSystem files;
  SystemClock clock;
  CpuLoadWatch watch(files, clock, {});
  watch.start();
}

}  // namespace
}  // namespace deepgap::hw
