#include "base/text.h"

#include <gtest/gtest.h>

namespace deepgap {
namespace {

using Names = std::vector<std::string>;

TEST(Utf8, IsToldFromOtherBytes) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("m\xc3\xa4rz \xe2\x82\xac \xf0\x9f\x99\x82\n"));
  for (const char* other : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_FALSE(is_utf8(other)) << other;
}

TEST(Printable, KeepsText) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("aten::conv2d <3x3> 'x' \\"), "aten::conv2d <3x3> 'x' \\");
  EXPECT_EQ(printable("größe 模型 🙂"), "größe 模型 🙂");
}

TEST(Printable, EscapesControls) {
  EXPECT_EQ(printable("a\x1b[2J\r\n\t\x07z"), "a\\x1b[2J\\x0d\\x0a\\x09\\x07z");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m");  // C1: CSI in UTF-8
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");  // CSI as a bare byte
}

TEST(Printable, EscapesMarksThatReorderOrHide) {
  EXPECT_EQ(printable("\u202Etxt.exe"), "\\xe2\\x80\\xaetxt.exe");
  EXPECT_EQ(printable("\u2066a\u2069"), "\\xe2\\x81\\xa6a\\xe2\\x81\\xa9");
  EXPECT_EQ(printable("a\u200Bb"), "a\\xe2\\x80\\x8bb");
  EXPECT_EQ(printable("\u2028"), "\\xe2\\x80\\xa8");
  EXPECT_EQ(printable("\uFEFF"), "\\xef\\xbb\\xbf");
  EXPECT_EQ(printable("\U000E0041"), "\\xf3\\xa0\\x81\\x81");
  EXPECT_EQ(printable("\u2010\u202F\u2070"), "\u2010\u202F\u2070");  // neighbours that are shown
}

// The table 3-7 of the Unicode Standard, at its borders.
TEST(Printable, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(printable("\x80"), "\\x80");                    // a continuation alone
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut off
  EXPECT_EQ(printable("\xc3("), "\\xc3(");                  // not continued
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong /
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");  // overlong /
  EXPECT_EQ(printable("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");  // overlong U+07FF
  EXPECT_EQ(printable("\xe0\xa0\x80"), "\xe0\xa0\x80");     // U+0800
  EXPECT_EQ(printable("\xed\x9f\xbf"), "\xed\x9f\xbf");     // U+D7FF
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf0\x8f\xbf\xbf"), "\\xf0\\x8f\\xbf\\xbf");
  EXPECT_EQ(printable("\xf4\x8f\xbf\xbd"), "\xf4\x8f\xbf\xbd");  // U+10FFFD
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xf0\x9f\x99"), "\\xf0\\x9f\\x99");  // an emoji cut off
}

TEST(Printable, MarksWhereItCuts) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abc...");
  EXPECT_EQ(printable("ab\x1b\x1b", 9), "ab\\x1b...");
  EXPECT_EQ(printable("ab\x1b\x1b", 8), "ab...");  // no half of an escape
  EXPECT_EQ(printable("ab\x1b\x1b", 10), "ab\\x1b\\x1b");
  EXPECT_EQ(printable("äää ä", 8), "ää...");  // 9 bytes; no half of a character
  EXPECT_EQ(printable("abcdef", 2), "..");
  EXPECT_EQ(printable("abcdef", 0), "");
  EXPECT_EQ(printable("", 0), "");
}

TEST(Printable, StaysBelowItsLimit) {
  const std::string hostile = std::string(1000, '\x1b') + "\xc3";
  for (std::size_t limit = 0; limit < 50; ++limit) EXPECT_LE(printable(hostile, limit).size(), limit);
  EXPECT_EQ(printable(hostile).size(), 399U);  // 99 escapes of 4 bytes and the mark
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (Names{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (Names{""}));
  EXPECT_EQ(split("abc", ','), (Names{"abc"}));
}

TEST(Join, IsTheOppositeOfSplit) {
  EXPECT_EQ(join(split("a,,b,", ','), ","), "a,,b,");
  EXPECT_EQ(join(Names{}, ","), "");
  EXPECT_EQ(join(Names{"a", "b"}, " and "), "a and b");
}

TEST(Trim, RemovesWhiteSpaceAtTheEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Lower, ChangesAsciiLettersOnly) {
  EXPECT_EQ(lower("AZ[@ÄzZ"), "az[@Äzz");
}

TEST(NearestName, FindsSlips) {
  const Names names{"fake", "openvino", "onnxruntime", "torch", "tensorrt"};
  EXPECT_EQ(nearest_name("opnvino", names), "openvino");    // left out
  EXPECT_EQ(nearest_name("openvinno", names), "openvino");  // doubled
  EXPECT_EQ(nearest_name("oepnvino", names), "openvino");   // swapped
  EXPECT_EQ(nearest_name("tensorflow", names), "");         // 4 edits of 10
  EXPECT_EQ(nearest_name("tensorrr", names), "tensorrt");
  EXPECT_EQ(nearest_name("TORCH", names), "torch");
  EXPECT_EQ(nearest_name("trohc", names), "");  // 2 swaps of 5 are above a third
  EXPECT_EQ(nearest_name("xyz", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("torch", {}), "");
}

TEST(NearestName, KnowsItsThreshold) {
  EXPECT_EQ(nearest_name("ba", Names{"ab"}), "");                // 1 of 2
  EXPECT_EQ(nearest_name("bac", Names{"abc"}), "abc");           // 1 swap of 3
  EXPECT_EQ(nearest_name("abXX", Names{"abcd"}), "");            // 2 of 4
  EXPECT_EQ(nearest_name("abcdXX", Names{"abcdef"}), "abcdef");  // 2 of 6
  EXPECT_EQ(nearest_name("a", Names{"b"}), "");
}

TEST(NearestName, TakesTheNearestAndTheFirstOfSeveral) {
  EXPECT_EQ(nearest_name("resnet51", Names{"resnet18", "resnet50", "resnet52"}), "resnet50");
  EXPECT_EQ(nearest_name("resnet50", Names{"resnet18", "resnet5", "resnet50"}), "resnet50");
}

TEST(NearestName, DoesNotComputeForLongWords) {
  const std::string word(1'000'000, 'a');
  EXPECT_EQ(nearest_name(word, Names{word, "a"}), "");
}

TEST(UnknownName, SaysWhatIsKnown) {
  const Names names{"fake", "openvino"};
  EXPECT_EQ(unknown_name("engine", "opnvino", names),
            "unknown engine 'opnvino': did you mean 'openvino'? known are: fake, openvino");
  EXPECT_EQ(unknown_name("engine", "x\x1b", names), "unknown engine 'x\\x1b': known are: fake, openvino");
  EXPECT_EQ(unknown_name("engine", "x", {}), "unknown engine 'x': none is known");
}

TEST(Counted, OneIsNotMany) {
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(0, "step"), "0 steps");
  EXPECT_EQ(counted(12, "kernel"), "12 kernels");
}

}  // namespace
}  // namespace deepgap
