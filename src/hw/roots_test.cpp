// Every captured machine in tests/roots against what is expected of it: NAME.tree and NAME.expect.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "hw/cpu.h"
#include "hw/kernel_text.h"
#include "hw/machine.h"
#include "hw/tree_file_system.h"

namespace deepgap::hw {
namespace {

const std::string kRoots = std::string(DEEPGAP_SOURCE_FOLDER) + "/tests/roots";

std::vector<std::string> machines() {
  std::vector<std::string> names;
  for (const std::string& file : RootedFileSystem().list(kRoots)) {
    if (file.ends_with(".tree")) names.push_back(file.substr(0, file.size() - 5));
  }
  return names;
}

class Root : public ::testing::TestWithParam<std::string> {};

TEST_P(Root, IsSeenAsExpected) {
  const auto text = RootedFileSystem().read(kRoots + "/" + GetParam() + ".tree");
  ASSERT_TRUE(text.ok());
  const auto files = TreeFileSystem::parse(text.value());
  ASSERT_TRUE(files.ok()) << files.error().message();
  const auto cpu = probe_cpu(files.value(), no_cpuid());
  ASSERT_TRUE(cpu.ok()) << cpu.error().message();
  const Device device = to_device(cpu.value());
  const Device now{.facts = momentary_facts(cpu.value())};
  const MachineInfo machine = describe_machine(files.value(), {}, cpu.value());
  const auto ceiling = [&](std::string_view name) {
    return std::find_if(device.ceilings.begin(), device.ceilings.end(),
                        [&](const Ceiling& one) { return one.quantity == name; });
  };

  const auto expectations = RootedFileSystem().read(kRoots + "/" + GetParam() + ".expect");
  ASSERT_TRUE(expectations.ok()) << expectations.error().message();
  int checked = 0;
  for (const std::string_view line : lines_of(expectations.value())) {
    if (trim(line).empty() || line.starts_with('#')) continue;
    const std::size_t equals = line.find(" = ");
    ASSERT_NE(equals, std::string_view::npos) << line;
    const std::string key(line.substr(0, equals)), value(line.substr(equals + 3));
    ++checked;
    if (key == "name") {
      EXPECT_EQ(device.name, value);
    } else if (key == "alias") {
      EXPECT_NE(std::find(device.aliases.begin(), device.aliases.end(), value), device.aliases.end())
          << value << " is not among: " << join(device.aliases, ", ");
    } else if (key == "os") {
      EXPECT_EQ(machine.os, value);
    } else if (key == "available") {
      const auto available = available_memory(files.value());
      ASSERT_TRUE(available.ok());
      EXPECT_EQ(std::to_string(available->value), value);
    } else if (key.starts_with("now.")) {
      const std::string name = key.substr(4);
      EXPECT_EQ(device.fact(name), std::nullopt) << name << " changes, and the device would with it";
      EXPECT_EQ(now.fact(name).value_or("(absent)"), value) << name;
    } else if (key == "absent") {
      for (const std::string_view name : words_of(value)) EXPECT_EQ(device.fact(name), std::nullopt) << name;
    } else if (key == "no_ceiling") {
      for (const std::string_view name : words_of(value))
        EXPECT_EQ(ceiling(name), device.ceilings.end()) << name;
    } else if (key.starts_with("ceiling.")) {
      const auto found = ceiling(key.substr(8));
      ASSERT_NE(found, device.ceilings.end()) << key;
      EXPECT_NEAR(found->value, to_real(value).value(), 1e-9 * found->value) << key << ": " << found->note;
      EXPECT_FALSE(found->note.empty());
    } else {
      EXPECT_EQ(device.fact(key).value_or("(absent)"), value) << key;
    }
  }
  EXPECT_GT(checked, 0);
}

// What holds of any machine.
TEST_P(Root, HoldsTogether) {
  const auto files =
      TreeFileSystem::parse(RootedFileSystem().read(kRoots + "/" + GetParam() + ".tree").value());
  ASSERT_TRUE(files.ok());
  const CpuInfo cpu = probe_cpu(files.value(), no_cpuid()).value();
  EXPECT_GE(cpu.usable_cpus, 1);
  EXPECT_LE(cpu.usable_cpus, cpu.logical_cpus);
  EXPECT_EQ(cpu.online_cpus.size(), static_cast<std::size_t>(cpu.logical_cpus));
  std::size_t in_types = 0;
  int cores = 0;
  for (const CoreType& type : cpu.core_types) {
    in_types += type.cpus.size();
    cores += type.cores.value_or(0);
  }
  EXPECT_EQ(in_types, cpu.online_cpus.size());
  EXPECT_EQ(cores, cpu.physical_cores.value_or(0));
  std::size_t in_nodes = 0;
  for (const NumaNode& node : cpu.numa_nodes) in_nodes += node.cpus.size();
  EXPECT_LE(in_nodes, cpu.online_cpus.size());        // fewer where a node is offline
  std::map<std::pair<int, std::string>, int> cached;  // every cache level serves every CPU once
  for (const CpuCache& cache : cpu.caches)
    cached[{cache.level, cache.kind}] += cache.instances * cache.shared_by;
  for (const auto& [level, cpus] : cached) EXPECT_EQ(cpus, cpu.logical_cpus) << level.first << level.second;
  std::map<std::string, int> names;
  for (const DeviceFact& fact : to_device(cpu).facts) {
    EXPECT_EQ(++names[fact.name], 1) << fact.name << " is there twice";
    EXPECT_FALSE(fact.value.empty()) << fact.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Root, ::testing::ValuesIn(machines()), [](const auto& root) {
  std::string name = root.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Roots, CoverTheKindsOfMachines) {
  const auto names = machines();
  for (const char* name : {"laptop-hybrid", "server-two-socket", "server-arm64", "container-cgroup1",
                           "container-cgroup2", "vm"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

}  // namespace
}  // namespace deepgap::hw
