// Whatever stands in /proc and /sys, a probe ends, and invents nothing.
#include <gtest/gtest.h>

#include <array>

#include "base/clock.h"
#include "hw/cpu.h"
#include "hw/load_watch.h"
#include "hw/machine.h"
#include "hw/tree_file_system.h"

namespace deepgap::hw {
namespace {

TreeFileSystem load(const std::string& name) {
  const std::string path = std::string(DEEPGAP_SOURCE_FOLDER) + "/tests/roots/" + name + ".tree";
  return TreeFileSystem::parse(RootedFileSystem().read(path).value()).value();
}

void use(const TreeFileSystem& files) {
  FakeClock clock;
  LoadSampler sampler(files, clock, {.worker_pids = {1, -5, 0}, .cpus = {0, 1}});
  sampler.begin();
  clock.advance(std::chrono::seconds(1));
  const LoadReport report = sampler.finish();
  judge(report, "cell");
  (void)available_memory(files);
  const auto cpu = probe_cpu(files, no_cpuid());
  if (!cpu.ok()) {
    EXPECT_EQ(cpu.error().kind(), ErrorKind::kMissing);
    return;
  }
  EXPECT_GE(cpu->usable_cpus, 1);
  EXPECT_GE(cpu->logical_cpus, 1);
  for (const auto& hertz :
       {cpu->clocks.base_hz, cpu->clocks.min_hz, cpu->clocks.max_hz, cpu->clocks.current_hz}) {
    EXPECT_GT(hertz.value_or(1), 0);
  }
  for (const auto& bytes : {cpu->memory.total, cpu->limits.memory_limit}) {
    EXPECT_GE(bytes.value_or(Bytes{}).value, 0);
  }
  describe_machine(files, {}, cpu.value());
  for (const DeviceFact& fact : to_device(cpu.value()).facts) EXPECT_FALSE(fact.value.empty()) << fact.name;
}

const std::array<std::string, 10> kSpoiled = {
    "",
    "\n\n\n",
    "-1\n",
    "99999999999999999999999999\n",
    "9223372036854775807\n",
    "18446744073709551615",
    std::string("\0\xff\xfe\x1b[31m", 8),
    "processor : 4294967295\nprocessor : -1\nflags : \nCPU part : 0xffffffffffffffff\n",
    "cpu0 99999999999999999999 1 1 1\ncpu1 9223372036854775807 9223372036854775807 9223372036854775807 1 1 1 "
    "1 1\ncpu 1 2\n",
    "0-65535,0-65535",
};

class Spoiled : public ::testing::TestWithParam<const char*> {};

TEST_P(Spoiled, EachFileInTurn) {
  const TreeFileSystem whole = load(GetParam());
  for (const auto& [path, content] : whole.files()) {
    SCOPED_TRACE(path);
    TreeFileSystem files = whole;
    files.remove(path);
    use(files);
    for (const std::string& text : kSpoiled) {
      files.set(path, text);
      use(files);
    }
    files.set(path, content.substr(0, content.size() / 2));
    use(files);
  }
}

TEST_P(Spoiled, AllFilesAtOnce) {
  const TreeFileSystem whole = load(GetParam());
  for (const std::string& text : kSpoiled) {
    TreeFileSystem files;
    for (const auto& [path, content] : whole.files()) files.set(path, text);
    use(files);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Spoiled, ::testing::Values("vm", "container-cgroup1", "phone-arm64"),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Hostile, NothingAtAll) {
  const TreeFileSystem nothing;
  use(nothing);
  const auto cpu = probe_cpu(nothing, no_cpuid());
  ASSERT_FALSE(cpu.ok());
  EXPECT_NE(cpu.error().message().find("/proc/cpuinfo"), std::string::npos);
}

TEST(Hostile, NamesCannotSteerATerminal) {
  TreeFileSystem files;
  files.set("/proc/cpuinfo", "processor : 0\nmodel name : evil\x1b[2J\nmicrocode : \x1b[31m\n");
  EXPECT_EQ(probe_cpu(files, no_cpuid())->name.find('\x1b'), std::string::npos);
  EXPECT_EQ(probe_cpu(files, no_cpuid())->microcode->find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace deepgap::hw
