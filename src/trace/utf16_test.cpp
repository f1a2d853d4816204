#include "trace/utf16.h"

#include <gtest/gtest.h>

#include "trace/line_reader.h"
#include "trace/test_files.h"

namespace deepgap::trace {
namespace {

using namespace std::string_view_literals;

std::string utf16(std::u16string_view text, ByteOrder order) {
  std::string bytes = order == ByteOrder::kLittle ? "\xFF\xFE" : "\xFE\xFF";
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xFF);
    const char high = static_cast<char>(unit >> 8);
    bytes += order == ByteOrder::kLittle ? low : high;
    bytes += order == ByteOrder::kLittle ? high : low;
  }
  return bytes;
}

std::string decoded(std::string_view bytes, std::size_t piece) {
  const auto order = utf16_order(bytes);
  if (!order) return "none";
  Utf16Decoder decoder(*order);
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += piece) decoder.decode(bytes.substr(at, piece), text);
  return text;
}

TEST(Utf16, EachCharacterWhateverTheOrderAndThePieces) {
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
      EXPECT_EQ(decoded(utf16(u"a,\u00B5s,\u20AC,\U0001F600\r\n", order), piece),
                "a,\u00B5s,\u20AC,\U0001F600\r\n");
    }
  }
}

TEST(Utf16, WhatIsNoCharacterIsReplaced) {
  const std::u16string lone{u'a', 0xD83D, u'b', 0xDE00, 0xD83D, 0xD83D, 0xDE00};
  EXPECT_EQ(decoded(utf16(lone, ByteOrder::kLittle), 100), "a\uFFFDb\uFFFD\uFFFD\U0001F600");
}

TEST(Utf16, IsToldByItsMark) {
  EXPECT_EQ(utf16_order("a\0b\0"sv), std::nullopt);
  EXPECT_EQ(utf16_order("\xFF\xFE\0\0"sv), std::nullopt) << "UTF-32";
  EXPECT_EQ(utf16_order(""), std::nullopt);
}

TEST(Utf16, FilesAreReadAsUtf8) {
  std::u16string text = u"first\r\n";
  for (int i = 0; i < 50'000; ++i) text += u"\u20AC,12\r\n";
  text += u"last";
  TemporaryFolder folder;
  std::ofstream(folder / "x", std::ios::binary) << utf16(text, ByteOrder::kLittle);
  auto source = ByteSource::open(folder / "x");
  ASSERT_TRUE(source.ok());
  EXPECT_TRUE(source->head().starts_with("first\r\n"));
  LineReader lines(*source);
  std::string line;
  std::size_t count = 0;
  while (*lines.next(line)) {
    if (count > 0 && count <= 50'000) {
      ASSERT_EQ(line, "\u20AC,12");
    }
    ++count;
  }
  EXPECT_EQ(count, 50'002U);
  EXPECT_EQ(line, "");
}

}  // namespace
}  // namespace deepgap::trace
