#include "trace/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"
#include "base/text.h"

namespace deepgap::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The records as "a|b", or the error behind those before it.
std::vector<std::string> records_of(const std::string& text) {
  TemporaryFolder folder;
  std::ofstream(folder / "x.csv", std::ios::binary) << text;
  Result<ByteSource> source = ByteSource::open(folder / "x.csv");
  EXPECT_TRUE(source.ok());
  CsvReader reader(*source);
  std::vector<std::string> found;
  std::vector<std::string> fields;
  for (;;) {
    const Result<bool> more = reader.next(fields);
    if (!more.ok()) {
      found.push_back("error: " + more.error().message());
      return found;
    }
    if (!*more) return found;
    found.push_back(std::to_string(reader.line()) + ": " + join(fields, "|"));
  }
}

TEST(Csv, ReadsWhatRfc4180Describes) {
  EXPECT_THAT(records_of("a,b\r\n1,2\r\n"), ElementsAre("1: a|b", "2: 1|2"));
  EXPECT_THAT(records_of("a,b\n1,2"), ElementsAre("1: a|b", "2: 1|2"));  // the last line break may be missing
  EXPECT_THAT(records_of("\"a, b\",\"say \"\"hi\"\"\",\"\"\n"), ElementsAre("1: a, b|say \"hi\"|"));
  EXPECT_THAT(records_of("\"two\nlines\",x\ny,z\n"), ElementsAre("1: two\nlines|x", "3: y|z"));
  EXPECT_THAT(records_of(",,\n"), ElementsAre("1: ||"));
  EXPECT_THAT(records_of("\xef\xbb\xbf"
                         "a,b\n\n\r\n1,2\n"),
              ElementsAre("1: a|b", "4: 1|2"));
  EXPECT_THAT(records_of(""), ElementsAre());
  EXPECT_THAT(records_of("\n\n"), ElementsAre());
}

TEST(Csv, NamesTheLineOfWhatIsNone) {
  EXPECT_THAT(records_of("a\nb\"c\n"), ElementsAre("1: a", HasSubstr("line 2: a quote inside a field")));
  EXPECT_THAT(records_of("\"a\"b\n"), ElementsAre(HasSubstr("line 1: text behind the closing quote")));
  EXPECT_THAT(records_of("a\n\"b\nc\nd"),
              ElementsAre("1: a", HasSubstr("the record of line 2 is never closed")));
  EXPECT_THAT(records_of("a\rb\n"), ElementsAre(HasSubstr("line 1: expected a line feed")));
  EXPECT_THAT(records_of("a\nb\r"), ElementsAre("1: a", HasSubstr("line 2: expected a line feed")));
  EXPECT_THAT(records_of(std::string("a\n\0b\n", 5)),
              ElementsAre("1: a", HasSubstr("line 2: found a NUL byte")));
  EXPECT_THAT(records_of("a\n" + std::string(2'000'000, 'x')),
              ElementsAre("1: a", HasSubstr("line 2: the record is longer than 1048576 bytes")));
}

// Fields across the reader's buffers of 64 KiB.
TEST(Csv, ReadsAcrossItsBuffers) {
  const std::string wide(100'000, 'w');
  std::string text;
  for (int i = 0; i < 5; ++i) text += wide + ",\"" + wide + "\"\n";
  const std::vector<std::string> records = records_of(text);
  ASSERT_EQ(records.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(records[i], std::to_string(i + 1) + ": " + wide + "|" + wide);
}

TEST(CsvFields, OfOneLine) {
  using Fields = std::vector<std::string>;
  EXPECT_EQ(csv_fields("a,b c,"), (Fields{"a", "b c", ""}));
  EXPECT_EQ(csv_fields(""), (Fields{""}));
  EXPECT_EQ(csv_fields("\"1,234\",\"say \"\"x\"\"\",\"\""), (Fields{"1,234", "say \"x\"", ""}));
  EXPECT_EQ(csv_fields("\"open"), std::nullopt);
  EXPECT_EQ(csv_fields("a\"b,c"), std::nullopt);
  EXPECT_EQ(csv_fields("\"a\"b"), std::nullopt);
}

}  // namespace
}  // namespace deepgap::trace
