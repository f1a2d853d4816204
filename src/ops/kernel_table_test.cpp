#include "ops/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace deepgap::ops {
namespace {

using testing::HasSubstr;

Result<std::vector<KernelPattern>> read(std::string_view toml) {
  const KernelNamesFile file{"a.toml", toml};
  return read_kernel_table({&file, 1});
}

TEST(KernelTable, WhatIsCompiledInIsWellFormed) {
  const auto table = read_kernel_table(kernel_names_files());
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->size(), kernel_table().size());
  EXPECT_GT(table->size(), 150U);
  std::set<std::string> seen;
  for (const KernelPattern& pattern : *table) {
    EXPECT_NE(pattern.origin, "") << pattern.place;
    // A pattern that stands twice never decides the second time.
    std::string conditions;
    for (const KernelCondition& condition : pattern.conditions) {
      conditions += std::to_string(static_cast<int>(condition.part)) + ":";
      for (const auto& pieces : condition.alternatives) {
        for (const std::string& piece : pieces) conditions += piece + "&";
        conditions += "|";
      }
    }
    EXPECT_TRUE(seen.insert(conditions).second) << pattern.place << " stands twice";
  }
}

TEST(KernelTable, APatternIsReadWhole) {
  const auto table = read(R"(# a comment
[[library]]
name = "cudnn"  # another
origin = "here"
patterns = [
  { name = "f", family = "fft" },
  { library = "x", family = "gemm", precision = "tf32", accumulation = "fp32", tensor_cores = "yes",
    read = "words", element = "2", accumulate = "3", name_starts = ["a & b",
      "c"], in = "d", text = "e" },
]
)");
  ASSERT_TRUE(table) << table.error().message();
  ASSERT_EQ(table->size(), 2U);
  const KernelPattern& first = (*table)[0];
  EXPECT_EQ(first.library, "cudnn");
  EXPECT_EQ(first.origin, "here");
  EXPECT_EQ(first.family, KernelFamily::kFft);
  EXPECT_EQ(first.grammar, KernelGrammar::kTypes);
  EXPECT_EQ(first.place, "a.toml line 6");
  const KernelPattern& second = (*table)[1];
  EXPECT_EQ(second.library, "x");
  EXPECT_EQ(second.precision, Precision::kTf32);
  EXPECT_EQ(second.accumulation, Precision::kFp32);
  EXPECT_TRUE(second.tensor_cores);
  EXPECT_EQ(second.grammar, KernelGrammar::kWords);
  EXPECT_EQ(second.element, 2);
  EXPECT_EQ(second.accumulate, 3);
  ASSERT_EQ(second.conditions.size(), 3U);
  EXPECT_THAT(second.conditions[0].alternatives,
              testing::ElementsAre(testing::ElementsAre("a", "b"), testing::ElementsAre("c")));
}

TEST(KernelTable, TheFirstPatternWhoseConditionsAllHoldDecides) {
  const auto table = read(R"([[library]]
name = "l"
origin = "o"
patterns = [
  { name = "f", in = "n::", text = ["float & half", "int"], family = "gemm" },
  { name_starts = "f & z", family = "fft" },
  { name_has = "f", family = "softmax" },
]
)");
  ASSERT_TRUE(table) << table.error().message();
  const auto family = [&](std::string_view name) {
    const KernelText text = take_apart(name);
    const KernelPattern* pattern = first_match(*table, text);
    return pattern == nullptr ? KernelFamily::kUnknown : pattern->family;
  };
  EXPECT_EQ(family("void n::f<int>(float)"), KernelFamily::kGemm);
  EXPECT_EQ(family("void n::f<float, half>()"), KernelFamily::kGemm);
  EXPECT_EQ(family("void n::f<float>(half)"), KernelFamily::kSoftmax);
  EXPECT_EQ(family("void m::f<int>()"), KernelFamily::kSoftmax);
  EXPECT_EQ(family("fooz"), KernelFamily::kFft);
  EXPECT_EQ(family("zoof"), KernelFamily::kSoftmax);
  EXPECT_EQ(family("n::g<f>"), KernelFamily::kUnknown);
}

TEST(KernelTable, AMalformedTableSaysWhere) {
  const std::string_view head = "[[library]]\nname = \"l\"\norigin = \"o\"\npatterns = [\n";
  const struct {
    std::string text;
    std::string_view said;
  } broken[] = {
      {"", "at least one pattern"},
      {"name", "'=' after 'name'"},
      {"name = l", "a text in quotation marks"},
      {"name = \"l", "on one line"},
      {"colour = \"red\"", "found 'colour'"},
      {"patterns = {", "'['"},
      {std::string(head) + "{ name = \"f\", family = \"gem\" }", "a.toml line 5"},
      {std::string(head) + "{ name = \"f\", family = \"gem\" }", "family = \"gem\""},
      {std::string(head) + "{ name = \"f\", precision = \"fp13\", family = \"gemm\" }",
       "precision = \"fp13\""},
      {std::string(head) + "{ name = \"f\", element = \"0\", family = \"gemm\" }", "element = \"0\""},
      {std::string(head) + "{ name = \"f\", read = \"tea\", family = \"gemm\" }", "read = \"tea\""},
      {std::string(head) + "{ name = \"f\", nom = \"f\", family = \"gemm\" }", "nom = \"f\""},
      {std::string(head) + "{ name = \"f\" }", "a family and a condition"},
      {std::string(head) + "{ family = \"gemm\" }", "a family and a condition"},
      {std::string(head) + "{ name = \"\", family = \"gemm\" }", "empty"},
      {std::string(head) + "{ name = \"a & \", family = \"gemm\" }", "empty"},
      {std::string(head) + "{ name = [], family = \"gemm\" }", "in the list"},
      {std::string(head) + "{ name = \"f\", family = \"gemm\" } {", "',' or ']'"},
      {std::string(head) + "{ name = \"f\" family = \"gemm\" }", "',' or '}'"},
      {std::string(head) + "{ name = \"f\", family = \"gemm\"", "',' or '}'"},
  };
  for (const auto& [text, said] : broken) {
    const auto table = read(text);
    ASSERT_FALSE(table) << text;
    EXPECT_THAT(table.error().message(), HasSubstr(said)) << text;
  }
}

}  // namespace
}  // namespace deepgap::ops
