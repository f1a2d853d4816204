#include "core/setting.h"

#include <gmock/gmock.h>

namespace deepgap {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Setting effective(std::string name, std::string value) {
  return {std::move(name), std::nullopt, std::move(value)};
}

std::vector<std::string> differences(const std::vector<Setting>& a, const std::vector<Setting>& b) {
  std::vector<std::string> names = deciding_differences(a, b);
  EXPECT_EQ(names, deciding_differences(b, a)) << "which side is which must not matter";
  return names;
}

TEST(DecidingDifferences, NoneBetweenEquals) {
  const std::vector<Setting> settings{effective("cpu.threads", "2"), effective("torch.tf32.matmul", "off")};
  EXPECT_THAT(differences(settings, settings), IsEmpty());
  EXPECT_THAT(differences({}, {}), IsEmpty());
}

TEST(DecidingDifferences, AreSortedByName) {
  EXPECT_THAT(differences({effective("memory.huge_pages", "never"), effective("cpu.threads", "2")},
                          {effective("cpu.threads", "4"), effective("memory.huge_pages", "always")}),
              ElementsAre("cpu.threads", "memory.huge_pages"));
}

TEST(DecidingDifferences, LeaveOutWhatOnlyTells) {
  EXPECT_THAT(
      differences(
          {effective("host.name", "alpha"), effective("run.seed", "1"), effective("run.target", "0.01")},
          {effective("host.name", "beta"), effective("run.seed", "2"), effective("run.target", "0.02")}),
      IsEmpty());
}

TEST(DecidingDifferences, CountNamesThatTheCatalogueDoesNotKnow) {
  EXPECT_THAT(differences({effective("torch.tf32.matmul", "on")}, {effective("torch.tf32.matmul", "off")}),
              ElementsAre("torch.tf32.matmul"));
}

TEST(DecidingDifferences, CountTheVersionOfTheEngineButNotOurOwn) {
  EXPECT_THAT(differences({effective("engine.version", "2.10.0"), effective("deepgap.version", "0.1.0")},
                          {effective("engine.version", "2.11.0"), effective("deepgap.version", "0.2.0")}),
              ElementsAre("engine.version"));
}

TEST(DecidingDifferences, CountAValueKnownOnOneSideOnly) {
  EXPECT_THAT(differences({effective("cpu.governor", "performance")}, {}), ElementsAre("cpu.governor"));
  EXPECT_THAT(
      differences({effective("cpu.governor", "performance")}, {{"cpu.governor", std::nullopt, std::nullopt}}),
      ElementsAre("cpu.governor"));
  // Nothing is known on either side.
  EXPECT_THAT(differences({{"cpu.governor", std::nullopt, std::nullopt}}, {}), IsEmpty());
}

TEST(DecidingDifferences, GoByWhatWasInForceNotByWhatWasAskedFor) {
  EXPECT_THAT(differences({{"cpu.threads", "auto", "2"}}, {{"cpu.threads", "2", "2"}}), IsEmpty());
  EXPECT_THAT(differences({{"cpu.threads", "auto", "2"}}, {{"cpu.threads", "auto", "4"}}),
              ElementsAre("cpu.threads"));
}

TEST(DecidingDifferences, FallBackToRequestsWhereNothingElseIsKnown) {
  EXPECT_THAT(differences({{"cpu.threads", "2", std::nullopt}}, {{"cpu.threads", "4", std::nullopt}}),
              ElementsAre("cpu.threads"));
  EXPECT_THAT(differences({{"cpu.threads", "2", std::nullopt}}, {{"cpu.threads", "2", std::nullopt}}),
              IsEmpty());
}

}  // namespace
}  // namespace deepgap
