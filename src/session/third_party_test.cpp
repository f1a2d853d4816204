// Every file of other projects that stands beside this one's folder, as `trace` takes it: what each is, and
// with which verdict. What is in them is tried beside each importer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "report/render.h"
#include "session/trace.h"

namespace deepgap::session {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

const std::string kThirdParty = DEEPGAP_SOURCE_FOLDER "/../shared/traces/third-party/";

struct Expected {
  std::string format;   // "": an error
  std::string verdict;  // or what the error says
};

// The exceptions of a folder's rule.
const std::map<std::string, Expected> kSpecial = {
    {"kineto/param_dlrm_kineto.tar.gz", {"", "a tar archive: unpack it first"}},
    {"derived/bare_array.json", {"kineto", "usable"}},
    {"derived/one_correlation_for_all_kernels.json", {"kineto", "usable"}},
    {"derived/reversed_order.json", {"kineto", "usable"}},
    {"derived/string_ts_dur.json", {"kineto", "usable"}},
    {"derived/two_members.json.gz", {"kineto", "usable"}},
    {"derived/deep_nesting.json", {"kineto", "unusable"}},
    {"derived/empty.json", {"", "an empty file"}},
    {"derived/html_error_page.json", {"", "a web page"}},
    {"derived/nsys_truncated.sqlite", {"nsys-sqlite", "unusable"}},
    {"ort/generated/ort1.30_failed_run_empty.json", {"", "an empty file"}},
    // A list of a device's attributes.
    {"trtexec/trex_resnet18_a100_fp16.metadata.json", {"", "text that begins with"}},
    {"trtexec/trex_resnet18_a100_fp32.metadata.json", {"", "text that begins with"}},
    {"derived/negative_dur.json", {"kineto", "unusable"}},  // in the only step that launches anything
    {"derived/trunc.json.gz", {"kineto", "unusable"}},
    {"derived/trunc_mid_event.json", {"kineto", "unusable"}},
};

TEST(ThirdPartyFiles, EachHasItsVerdict) {
  if (!std::ifstream(kThirdParty + "INDEX.md")) GTEST_SKIP() << "there is no ../shared/traces/third-party";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kThirdParty)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(entry.path(), kThirdParty);
    const std::string folder = name.substr(0, name.find('/'));
    const auto special = kSpecial.find(name);
    const bool has_rule = folder == "derived" || folder == "kineto" || folder == "mlperf" ||
                          folder == "ncu" || folder == "nvidia-smi" || folder == "ort" ||
                          folder == "nsys-sqlite" || folder == "trtexec" || folder == "triton-perf";
    if (special == kSpecial.end() && !has_rule) continue;
    const Result<Answer> answer = trace_file(entry.path(), {});
    if (special != kSpecial.end() && special->second.format.empty()) {
      ASSERT_FALSE(answer.ok()) << name;
      EXPECT_EQ(answer.error().kind(), ErrorKind::kBadInput) << name;
      EXPECT_THAT(answer.error().message(), HasSubstr(special->second.verdict)) << name;
      continue;
    }
    ASSERT_TRUE(answer.ok()) << name << ": " << answer.error().message();
    const auto json = nlohmann::json::parse(report::render_json(answer->document, "0"));
    const std::string verdict = json.at("quality").at("verdict");
    EXPECT_EQ(json.at("schema"), "deepgap.trace/1") << name;
    EXPECT_EQ(answer->exit, verdict == "unusable" ? ExitCode::kPartial : ExitCode::kDone) << name;
    if (special != kSpecial.end()) {
      EXPECT_EQ(json.at("format"), special->second.format) << name;
      EXPECT_EQ(verdict, special->second.verdict) << name;
    } else if (folder == "derived") {
      EXPECT_EQ(verdict, "usable_with_loss") << name << ": damaged, and put right or counted";
    } else {
      EXPECT_THAT(verdict, AnyOf("usable", "usable_with_loss")) << name;
    }
  }
}

}  // namespace
}  // namespace deepgap::session
