#include "core/workload.h"

#include <gmock/gmock.h>

#include <string>

namespace deepgap {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CellKey cell(std::string model = "resnet50", std::int64_t batch = 8, Precision precision = Precision::kInt8,
             Mode mode = Mode::kLatency) {
  CellKey key;
  key.workload.model = std::move(model);
  key.workload.batch = batch;
  key.workload.precision = precision;
  key.workload.mode = mode;
  key.engine = "openvino";
  key.device = "cpu";
  return key;
}

bool matches(std::string_view selector, const CellKey& key) {
  const Result<Selector> parsed = Selector::parse(selector);
  EXPECT_TRUE(parsed.ok()) << selector;
  return parsed.ok() && parsed->matches(key, "Intel(R) Xeon(R) Processor", {"this", "host"});
}

std::string error_of(std::string_view selector) {
  const Result<Selector> parsed = Selector::parse(selector);
  EXPECT_FALSE(parsed.ok()) << selector;
  if (parsed.ok()) return "";
  EXPECT_EQ(parsed.error().kind(), ErrorKind::kUsage);
  return parsed.error().message();
}

TEST(CellKey, SelectorNamesTheModeOnlyWhereItIsNotLatency) {
  EXPECT_EQ(cell().selector(), "resnet50/openvino/cpu/int8/b8");
  EXPECT_EQ(cell("resnet50", 8, Precision::kInt8, Mode::kThroughput).selector(),
            "resnet50/openvino/cpu/int8/b8/throughput");
}

TEST(CellKey, SelectorSelectsItsCell) {
  for (Mode mode : all_modes()) {
    for (Precision precision : all_precisions()) {
      const CellKey key = cell("my.model.v2", 128, precision, mode);
      EXPECT_TRUE(matches(key.selector(), key)) << key.selector();
    }
  }
}

TEST(Selector, FivePartsMeanLatency) {
  EXPECT_TRUE(matches("resnet50/openvino/cpu/int8/b8", cell()));
  EXPECT_FALSE(
      matches("resnet50/openvino/cpu/int8/b8", cell("resnet50", 8, Precision::kInt8, Mode::kThroughput)));
  EXPECT_TRUE(
      matches("resnet50/openvino/cpu/int8/b8/*", cell("resnet50", 8, Precision::kInt8, Mode::kThroughput)));
}

TEST(Selector, AStarAloneIsEveryCellOfEveryMode) {
  for (Mode mode : all_modes()) EXPECT_TRUE(matches("*", cell("bert-base", 1, Precision::kFp32, mode)));
}

TEST(Selector, EachPartHasToMatch) {
  for (std::string_view other :
       {"resnet18/openvino/cpu/int8/b8", "resnet50/torch/cpu/int8/b8", "resnet50/openvino/cuda:0/int8/b8",
        "resnet50/openvino/cpu/fp32/b8", "resnet50/openvino/cpu/int8/b16",
        "resnet50/openvino/cpu/int8/b8/throughput"}) {
    EXPECT_FALSE(matches(other, cell())) << other;
  }
}

TEST(Selector, PartsMayHaveWildcards) {
  EXPECT_TRUE(matches("resnet*/*/c?u/*/b8", cell()));
  EXPECT_TRUE(matches("*/*/*/*/*", cell()));
  EXPECT_TRUE(matches("resnet50/openvino/cpu/int?/b?", cell()));
  EXPECT_FALSE(matches("resnet?0/openvino/cpu/fp*/b8", cell()));
}

TEST(Selector, BatchIsWrittenInThreeWays) {
  for (std::string_view batch : {"b8", "8", "b08", "b*", "*", "?"}) {
    EXPECT_TRUE(matches("resnet50/openvino/cpu/int8/" + std::string(batch), cell())) << batch;
  }
  EXPECT_TRUE(matches("resnet50/openvino/cpu/int8/b1*", cell("resnet50", 128)));
  EXPECT_FALSE(matches("resnet50/openvino/cpu/int8/b1*", cell("resnet50", 8)));
  EXPECT_FALSE(matches("resnet50/openvino/cpu/int8/b8", cell("resnet50", 88)));
}

TEST(Selector, ADeviceGoesByAddressNameOrAlias) {
  EXPECT_TRUE(matches("resnet50/openvino/*Xeon*/int8/b8", cell()));
  EXPECT_TRUE(matches("resnet50/openvino/host/int8/b8", cell()));
  EXPECT_FALSE(matches("resnet50/openvino/elsewhere/int8/b8", cell()));
}

TEST(Selector, AModelMayBeTheStemOfAFileWithDots) {
  EXPECT_TRUE(matches("yolo.v8.opt/openvino/cpu/int8/b8", cell("yolo.v8.opt")));
}

TEST(SelectorError, MissingPartsGetAnExample) {
  EXPECT_THAT(
      error_of("resnet50/openvino"),
      AllOf(HasSubstr("selector 'resnet50/openvino'"), HasSubstr("model/engine/device/precision/batch"),
            HasSubstr("found 2 parts"), HasSubstr("resnet50/openvino/cpu/fp32/b8")));
  EXPECT_THAT(error_of("resnet50"), HasSubstr("found 1 part:"));
  EXPECT_THAT(error_of("a/b/c/fp32/b1/latency/g"), HasSubstr("found 7 parts"));
}

TEST(SelectorError, AnEmptyPartIsNoWildcard) {
  EXPECT_THAT(error_of("resnet50//cpu/fp32/b8"),
              AllOf(HasSubstr("found an empty part"), HasSubstr("write * for any")));
  EXPECT_THAT(error_of("resnet50/openvino/cpu/fp32/b8/"), HasSubstr("found an empty part"));
}

TEST(SelectorError, UnknownPrecisionAndModeNameTheKnownOnes) {
  EXPECT_THAT(error_of("resnet50/openvino/cpu/fp23/b8"),
              AllOf(HasSubstr("precision 'fp23'"), HasSubstr("fp8-e5m2")));
  EXPECT_THAT(error_of("resnet50/openvino/cpu/fp32/b8/througput"),
              AllOf(HasSubstr("mode 'througput'"), HasSubstr("server")));
}

TEST(SelectorError, ABatchIsAPositiveNumber) {
  for (std::string_view batch : {"b0", "b-8", "b", "8x", "bb8", "b99999999999999999999"}) {
    EXPECT_THAT(error_of("resnet50/openvino/cpu/fp32/" + std::string(batch)),
                HasSubstr("expected a batch as b8, 8 or b*"))
        << batch;
  }
}

TEST(SelectorError, HostileTextIsMadePrintable) {
  EXPECT_THAT(error_of("\x1b[2J/b"), testing::Not(HasSubstr("\x1b")));
}

TEST(Selector, LooksLikeOneWithASlashOrAWildcard) {
  for (std::string_view text : {"*", "resnet50/openvino/cpu/fp32/b8", "resnet50/openvino", "resnet*"}) {
    EXPECT_TRUE(Selector::looks_like(text)) << text;
  }
  for (std::string_view text :
       {"", "0123456789abcdef", "resnet50", "/data/trace.json", "./a/b/c/d/e", "../x", "~/x"}) {
    EXPECT_FALSE(Selector::looks_like(text)) << text;
  }
}

TEST(WildcardMatch, LiteralsAndWildcards) {
  EXPECT_TRUE(wildcard_match("", ""));
  EXPECT_TRUE(wildcard_match("*", ""));
  EXPECT_TRUE(wildcard_match("a*b*c", "a-b-b-c"));
  EXPECT_TRUE(wildcard_match("*ab", "aaab"));  // needs the step back to the star
  EXPECT_TRUE(wildcard_match("a?c", "abc"));
  EXPECT_TRUE(wildcard_match("**", "anything"));
  EXPECT_FALSE(wildcard_match("", "a"));
  EXPECT_FALSE(wildcard_match("?", ""));
  EXPECT_FALSE(wildcard_match("abc", "ABC"));
  EXPECT_FALSE(wildcard_match("a*b", "a-b-c"));
  EXPECT_FALSE(wildcard_match("a", "ab"));
}

// The obvious definition.
bool obvious_match(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return obvious_match(pattern.substr(1), text) ||
           (!text.empty() && obvious_match(pattern, text.substr(1)));
  }
  return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front()) &&
         obvious_match(pattern.substr(1), text.substr(1));
}

TEST(WildcardMatch, AgreesWithTheObviousDefinitionOnAllShortPatterns) {
  const auto words = [](std::string_view letters, int longest) {
    std::vector<std::string> all{""};
    for (std::size_t begin = 0, length = 0; length < static_cast<std::size_t>(longest); ++length) {
      const std::size_t end = all.size();
      for (; begin < end; ++begin) {
        for (char letter : letters) all.push_back(all[begin] + letter);
      }
    }
    return all;
  };
  const std::vector<std::string> texts = words("ab", 5);
  for (const std::string& pattern : words("ab*?", 5)) {
    for (const std::string& text : texts) {
      ASSERT_EQ(wildcard_match(pattern, text), obvious_match(pattern, text)) << pattern << " on " << text;
    }
  }
}

TEST(WildcardMatch, ManyStarsDoNotTakeForever) {
  const std::string text(20'000, 'a');
  EXPECT_FALSE(wildcard_match("*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

}  // namespace
}  // namespace deepgap
