#include "trace/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.h"

namespace deepgap::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> lines_of(const std::string& content) {
  TemporaryFolder folder;
  std::ofstream(folder / "x", std::ios::binary) << content;
  auto source = ByteSource::open(folder / "x");
  EXPECT_TRUE(source.ok());
  LineReader reader(*source);
  std::vector<std::string> lines;
  for (std::string line;;) {
    const auto more = reader.next(line);
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return lines;
    lines.push_back(line);
    EXPECT_EQ(reader.number(), static_cast<std::int64_t>(lines.size()));
  }
}

TEST(LineReader, EndsLinesAsEachSystemDoes) {
  EXPECT_THAT(lines_of("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(lines_of("\xef\xbb\xbf"
                       "a\n"),
              ElementsAre("a"));
  EXPECT_THAT(lines_of(""), IsEmpty());
  EXPECT_THAT(lines_of("\n"), ElementsAre(""));
}

TEST(LineReader, JoinsWhatPiecesCut) {
  const std::string longer(200'000, 'x');
  EXPECT_THAT(lines_of(longer + "\nb"), ElementsAre(longer, "b"));
}

TEST(LineReader, DropsTheRestOfAnEndlessLine) {
  const auto lines = lines_of(std::string(3 << 20, 'x') + "\nb");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].size(), std::size_t{1} << 20);
  EXPECT_EQ(lines[1], "b");
}

}  // namespace
}  // namespace deepgap::trace
