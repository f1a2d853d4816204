#include "trace/read_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace deepgap::trace {
namespace {

std::string all_of(ReadAhead& ahead, std::size_t piece, Result<std::size_t>* last = nullptr) {
  std::string text;
  std::string room(piece, '\0');
  for (;;) {
    Result<std::size_t> count = ahead.read(room);
    if (count.ok() && *count > 0) {
      text.append(room, 0, *count);
      continue;
    }
    if (last != nullptr) *last = std::move(count);
    return text;
  }
}

// Gives `text` in pieces of 1, 2, 3 ... bytes.
ReadAhead::Input growing(const std::string& text) {
  return [&text, at = std::size_t{0},
          step = std::size_t{0}](std::span<char> into) mutable -> Result<std::size_t> {
    const std::size_t count = std::min({into.size(), text.size() - at, ++step});
    std::copy_n(text.data() + at, count, into.data());
    at += count;
    return count;
  };
}

TEST(ReadAhead, GivesAllInOrder) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i);
  for (const std::size_t piece : {std::size_t{7}, std::size_t{100'000}, std::size_t{3'000'000}}) {
    ReadAhead ahead(growing(text));
    EXPECT_FALSE(ahead.ended());
    EXPECT_EQ(all_of(ahead, piece), text) << piece;
    EXPECT_TRUE(ahead.ended());
    EXPECT_EQ(*ahead.read(text), 0U) << "and again";
  }
}

TEST(ReadAhead, AnErrorComesBehindWhatWasRead) {
  for (const bool throws : {false, true}) {
    ReadAhead ahead([&, calls = 0](std::span<char> into) mutable -> Result<std::size_t> {
      if (++calls > 2 && throws) throw std::runtime_error("no room");
      if (calls > 2) return bad_input("no room");
      into[0] = 'x';
      return std::size_t{1};
    });
    Result<std::size_t> last = std::size_t{0};
    EXPECT_EQ(all_of(ahead, 10, &last), "xx");
    ASSERT_FALSE(last.ok());
    EXPECT_THAT(last.error().message(), ::testing::HasSubstr("no room"));
    EXPECT_TRUE(ahead.ended());
  }
}

// Neither a full ring nor an input that goes on for ever keeps it.
TEST(ReadAhead, MayBeLeftAtAnyTime) {
  for (int reads = 0; reads < 8; ++reads) {
    ReadAhead ahead([](std::span<char> into) -> Result<std::size_t> { return into.size(); });
    std::string room(100'000, '\0');
    for (int i = 0; i < reads; ++i) EXPECT_GT(*ahead.read(room), 0U);
  }
}

}  // namespace
}  // namespace deepgap::trace
