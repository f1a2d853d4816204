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

TEST(JoinedSettings, HaveOneRowANameWithEachValueOnce) {
  const std::vector<Setting> rows =
      joined(std::vector<Setting>{{"cpu.governor", std::nullopt, "powersave"},
                                  {"cpu.threads", "2", std::nullopt},
                                  {"cpu.governor", std::nullopt, "performance", 1},
                                  {"cpu.threads", "2", "2", 1},
                                  {"cpu.governor", std::nullopt, "powersave", 2}});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "cpu.governor");
  EXPECT_EQ(rows[0].effective, "powersave | performance");
  EXPECT_EQ(rows[0].requested, std::nullopt);
  EXPECT_EQ(rows[1].requested, "2");
  EXPECT_EQ(rows[1].effective, "2");
  EXPECT_FALSE(rows[0].process || rows[1].process);
}

TEST(DecidingDifferences, SeeEveryProcess) {
  const std::vector<Setting> changed{effective("cpu.governor", "powersave"),
                                     {"cpu.governor", std::nullopt, "performance", 1}};
  EXPECT_THAT(differences(changed, {effective("cpu.governor", "powersave")}), ElementsAre("cpu.governor"));
  EXPECT_THAT(differences(changed, changed), IsEmpty());
}

}  // namespace
}  // namespace deepgap
