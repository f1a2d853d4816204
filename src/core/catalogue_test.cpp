#include <gmock/gmock.h>

#include <cctype>
#include <cstdlib>
#include <set>
#include <string>

#include "base/file_system.h"
#include "core/catalogue_docs.h"
#include "core/diagnostic.h"
#include "core/metric.h"
#include "core/setting.h"

namespace deepgap {
namespace {

using testing::HasSubstr;

bool is_sentence(std::string_view text) {
  const bool capital = !text.empty() && (std::isupper(static_cast<unsigned char>(text.front())) != 0 ||
                                         std::isdigit(static_cast<unsigned char>(text.front())) != 0);
  return capital && text.ends_with('.') && text.find("  ") == std::string_view::npos;
}

// Lower case, digits and `separator`, beginning with a letter.
bool is_name(std::string_view name, std::string_view separators) {
  if (name.empty() || std::islower(static_cast<unsigned char>(name.front())) == 0) return false;
  for (char character : name) {
    const bool allowed = std::islower(static_cast<unsigned char>(character)) != 0 ||
                         std::isdigit(static_cast<unsigned char>(character)) != 0 ||
                         separators.find(character) != std::string_view::npos;
    if (!allowed) return false;
  }
  return true;
}

TEST(MetricCatalogue, IdsAreUniqueAndMeaningsAreSentences) {
  std::set<std::string_view> ids;
  for (const Metric* metric : all_metrics()) {
    EXPECT_TRUE(ids.insert(metric->id).second) << metric->id;
    EXPECT_TRUE(is_name(metric->id, "_")) << metric->id;
    EXPECT_FALSE(metric->heading.empty()) << metric->id;
    EXPECT_TRUE(is_sentence(metric->meaning)) << metric->id;
  }
  EXPECT_EQ(ids.size(), 21U);
  EXPECT_FALSE(metrics::kThroughput.lower_is_better);
  EXPECT_EQ(metrics::kP99.unit, Unit::kNanoseconds);
}

TEST(DiagnosticCatalogue, IdsAreUniqueAndMeaningAndRemedyAreSentences) {
  std::set<std::string_view> ids;
  for (const DiagnosticKind* kind : all_diagnostics()) {
    EXPECT_TRUE(ids.insert(kind->id).second) << kind->id;
    EXPECT_TRUE(is_name(kind->id, "_")) << kind->id;
    EXPECT_TRUE(is_sentence(kind->meaning)) << kind->id;
    EXPECT_TRUE(is_sentence(kind->remedy)) << kind->id;
  }
  EXPECT_EQ(ids.size(), 49U);
}

TEST(DiagnosticCatalogue, DiagnosesCarryIdAndSeverityOfTheirKind) {
  const Diagnostic diagnostic =
      diagnose(diagnostics::kOutOfMemory, "resnet50/fake/cpu/fp32/b512", "no room", 3);
  EXPECT_EQ(diagnostic.id, "out_of_memory");
  EXPECT_EQ(diagnostic.severity, Severity::kError);
  EXPECT_EQ(diagnostic.where, "resnet50/fake/cpu/fp32/b512");
  EXPECT_EQ(diagnostic.text, "no room");
  EXPECT_EQ(diagnostic.count, 3);
  EXPECT_EQ(remedy_of(diagnostic.id), diagnostics::kOutOfMemory.remedy);
  EXPECT_EQ(remedy_of("of_a_newer_version"), "");
  for (Severity severity : {Severity::kNote, Severity::kWarning, Severity::kError}) {
    EXPECT_EQ(parse_severity(name_of(severity)), severity);
  }
  EXPECT_FALSE(parse_severity("fatal"));
}

TEST(SettingCatalogue, NamesAreUniqueAndDottedAndMeaningsAreSentences) {
  std::set<std::string_view> names;
  for (const SettingKind& kind : all_settings()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_TRUE(is_name(kind.name, "._")) << kind.name;
    EXPECT_NE(kind.name.find('.'), std::string_view::npos) << kind.name;
    EXPECT_TRUE(is_sentence(kind.meaning)) << kind.name;
    EXPECT_EQ(find_setting(kind.name), &kind);
  }
  EXPECT_EQ(names.size(), 31U);  // the constants of setting.h
  EXPECT_EQ(find_setting("torch.tf32.matmul"), nullptr);
}

TEST(Diagnostics, ThoseOfOneKindAreGathered) {
  const std::vector<Diagnostic> found{
      {.id = "steal_time", .severity = Severity::kNote, .where = "a", .text = "first", .count = 1},
      {.id = "few_samples", .severity = Severity::kNote, .where = "a", .text = "few", .count = 1},
      {.id = "steal_time", .severity = Severity::kWarning, .where = "a", .text = "worse", .count = 2},
      {.id = "steal_time", .severity = Severity::kNote, .where = "b", .text = "elsewhere", .count = 1}};
  const std::vector<Diagnostic> out = gathered(found);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].count, 3);
  EXPECT_EQ(out[0].text, "worse");
  EXPECT_EQ(out[1].id, "few_samples");
  EXPECT_EQ(out[2].where, "b");
}

// DEEPGAP_APPROVE=1 in the environment rewrites the page instead.
TEST(CatalogueDocs, ThePageIsWhatTheCataloguesSay) {
  const std::string path = std::string(DEEPGAP_SOURCE_FOLDER) + "/docs/metrics.md";
  const std::string expected = catalogues_as_markdown();
  if (const char* approve = std::getenv("DEEPGAP_APPROVE");
      approve != nullptr && std::string(approve) == "1") {
    const Result<void> written = write_file_atomically(path, expected);
    ASSERT_TRUE(written.ok()) << written.error().message();
  }
  const Result<std::string> page = RootedFileSystem().read(path);
  ASSERT_TRUE(page.ok()) << page.error().message();
  EXPECT_TRUE(*page == expected)
      << "docs/metrics.md is not what the catalogues say: run this test with DEEPGAP_APPROVE=1";
}

TEST(CatalogueDocs, HasARowForEachEntry) {
  const std::string page = catalogues_as_markdown();
  EXPECT_THAT(page, HasSubstr("| `p99` | ns | lower | 99 % of the calls"));
  EXPECT_THAT(page, HasSubstr("| `out_of_memory` | error | "));
  EXPECT_THAT(page, HasSubstr("| `cpu.threads` | decides | yes | "));
  EXPECT_THAT(page, HasSubstr("| `run.seed` | tells | `--seed` | "));
  EXPECT_THAT(page, HasSubstr("| `host.name` | tells | no | "));
}

}  // namespace
}  // namespace deepgap
