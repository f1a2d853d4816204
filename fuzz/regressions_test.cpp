// Each fuzz target over its seeds and over the inputs that once broke it, without a fuzzer.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "base/file_system.h"
#include "target.h"
#include "trace/importer.h"

namespace deepgap::fuzz {

// For the names of the tests.
void PrintTo(const Target* target, std::ostream* out) {
  *out << target->name;
}

namespace {

class Target : public testing::TestWithParam<const fuzz::Target*> {};

TEST_P(Target, SurvivesItsSeeds) {
  const std::vector<Seed> seeds = GetParam()->seeds();
  EXPECT_FALSE(seeds.empty());
  for (const Seed& seed : seeds) {
    SCOPED_TRACE(seed.name);
    GetParam()->run(seed.bytes);
  }
  GetParam()->run("");
  GetParam()->run(std::string_view(seeds[0].bytes).substr(0, seeds[0].bytes.size() / 2));
}

TEST_P(Target, SurvivesWhatOnceBrokeIt) {
  const RootedFileSystem files;
  const std::string folder =
      std::string(DEEPGAP_SOURCE_FOLDER) + "/fuzz/regressions/" + std::string(GetParam()->name);
  for (const std::string& name : files.list(folder)) {
    SCOPED_TRACE(name);
    GetParam()->run(files.read(folder + "/" + name).value());
  }
}

TEST(Targets, AreThereForEachImporter) {
  for (const trace::Importer* importer : trace::importers()) {
    std::string name = "import_" + std::string(importer->format().id);
    std::ranges::replace(name, '-', '_');
    EXPECT_NE(find_target(name), nullptr) << "a line in import_fuzz.cpp: " << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Target, testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& target) { return std::string(target.param->name); });

}  // namespace
}  // namespace deepgap::fuzz
