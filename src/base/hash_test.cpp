#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace deepgap {
namespace {

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 % 256);
  return bytes;
}

// As `xxhsum -H2` prints them.
TEST(ContentHash, IsXxh3Of128Bits) {
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(content_hash("deepgap"), "efa5d00c5ac64c5c186ed2a43c9a280d");
  EXPECT_EQ(content_hash(pattern(100'000)), "4fb78cd2670dad5801271d2740e5fca3");
}

TEST(Hasher, GivesTheSameForPieces) {
  const std::string bytes = pattern(100'000);
  for (const std::size_t piece : {1UL, 63UL, 1024UL, 99'999UL}) {
    Hasher hasher;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      hasher.add(std::string_view(bytes).substr(at, piece));
    EXPECT_EQ(hasher.digest(), "4fb78cd2670dad5801271d2740e5fca3") << piece;
  }
}

TEST(Hasher, GoesOnAfterADigestAndAMove) {
  Hasher hasher;
  EXPECT_EQ(hasher.digest(), "99aa06d3014798d86001c324468d497f");
  hasher.add("deep");
  EXPECT_EQ(hasher.digest(), content_hash("deep"));
  Hasher moved = std::move(hasher);
  moved.add("");
  moved.add("gap");
  EXPECT_EQ(moved.digest(), "efa5d00c5ac64c5c186ed2a43c9a280d");
}

TEST(NewRandomHex, HasTheDigitsAskedForAndDiffers) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string hex = new_random_hex(16);
    EXPECT_EQ(hex.size(), 16U);
    EXPECT_EQ(hex.find_first_not_of("0123456789abcdef"), std::string::npos);
    seen.insert(hex);
  }
  EXPECT_EQ(seen.size(), 1000U);  // two alike among 64-bit numbers: probability 3e-14
  EXPECT_EQ(new_random_hex(1).size(), 1U);
  EXPECT_EQ(new_random_hex(33).size(), 33U);
  EXPECT_EQ(new_random_hex(0), "");
  EXPECT_EQ(new_random_hex(-1), "");
}

}  // namespace
}  // namespace deepgap
