#include "base/clock.h"
#include "hw/cpu.h"
#include "hw/load_watch.h"
#include "hw/machine.h"
#include "hw/tree_file_system.h"
#include "target.h"

namespace deepgap::fuzz {
namespace {

// A machine that changes from one capture to another.
class Changing final : public FileSystem {
 public:
  explicit Changing(const FileSystem& now) : now_(&now) {}
  void become(const FileSystem& next) { now_ = &next; }
  Result<std::string> read(const std::string& path) const override { return now_->read(path); }
  std::vector<std::string> list(const std::string& path) const override { return now_->list(path); }
  bool exists(const std::string& path) const override { return now_->exists(path); }

 private:
  const FileSystem* now_;
};

void watch(const FileSystem& before, const FileSystem& after) {
  Changing files(before);
  FakeClock clock;
  hw::LoadSampler sampler(files, clock, {.worker_pids = {1, -5, 0}, .cpus = {0, 1}});
  sampler.begin();
  clock.advance(std::chrono::milliseconds(250));
  sampler.sample();
  files.become(after);
  clock.advance(std::chrono::seconds(1));
  const hw::LoadReport report = sampler.finish();
  for (const auto& share : {report.foreign_share, report.idle_share, report.steal_share}) {
    require(share.value_or(0) >= 0 && share.value_or(0) <= 1, "a share is one");
  }
  for (const Diagnostic& doubt : judge(report, "cell")) require(!doubt.text.empty(), "a doubt has a text");
}

// One capture; or two, with a line of = between them, of the same machine a second later.
constexpr std::string_view kThen = "\n=\n";

void survive(std::string_view input) {
  const std::size_t then = std::min(input.find(kThen), input.size());
  const auto files = hw::TreeFileSystem::parse(input.substr(0, then));
  if (!checked(files)) return;
  const auto later = hw::TreeFileSystem::parse(input.substr(std::min(then + kThen.size(), input.size())));
  watch(*files, later.ok() ? *later : *files);
  (void)checked(hw::available_memory(*files));
  const auto cpu = hw::probe_cpu(*files, hw::no_cpuid());
  if (!checked(cpu)) return;
  require(cpu->usable_cpus >= 1 && cpu->logical_cpus >= 1, "there is a CPU");
  for (const auto& hertz :
       {cpu->clocks.base_hz, cpu->clocks.min_hz, cpu->clocks.max_hz, cpu->clocks.current_hz}) {
    require(hertz.value_or(1) > 0, "a clock runs");
  }
  for (const auto& bytes :
       {cpu->memory.total, cpu->memory.available, cpu->limits.memory_limit, cpu->limits.memory_left}) {
    require(bytes.value_or(Bytes{}).value >= 0, "memory is not negative");
  }
  describe_machine(*files, {}, *cpu);
  for (const DeviceFact& fact : to_device(*cpu).facts) require(!fact.value.empty(), "a fact has a value");
}

std::vector<Seed> seeds() {
  std::vector<Seed> seeds;
  // Not the large servers: their files are the same ones more often.
  for (const char* name :
       {"vm", "phone-arm64", "container-cgroup1", "container-cgroup2", "workstation-arm64-hybrid"}) {
    seeds.push_back({name, source_file(std::string("tests/roots/") + name + ".tree")});
  }
  const auto small = [](const std::string& numbers) {
    return "deepgap-root 1\n[/proc]\ncpuinfo = processor : 0\nstat:\n|cpu0 " + numbers + "\n|cpu1 " +
           numbers +
           "\n[/proc/1]\nstat = 1 (a) S 0 1 1 0 -1 0 0 0 0 0 5 5 2 2 20 0 1 0 77 0 "
           "0\n[/sys/devices/system/cpu]\n"
           "online = 0-1\n[/sys/fs/cgroup]\ncpu.max = 150000 100000\ncpu.stat:\n|nr_periods "
           "10\n|nr_throttled 2\n"
           "|throttled_usec 9\n";
  };
  seeds.push_back({"small", small("1 2 3 4 5 6 7 8")});
  seeds.push_back({"two", small("1 2 3 4 5 6 7 8") + std::string(kThen) + small("2 3 9 9 6 7 8 9")});
  return seeds;
}

}  // namespace

const Target kMachineTrees{"machine_trees", "another machine's /proc and /sys", survive, seeds};

}  // namespace deepgap::fuzz
