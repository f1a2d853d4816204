#include "store/encoding.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "store/json_columns.h"

namespace deepgap::store {
namespace {

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string hex(const std::string& blob) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : blob) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

std::vector<std::int64_t> integers_back(const std::string& blob, std::size_t count) {
  std::vector<std::int64_t> values;
  const Result<void> decoded = decode_integers(bytes(blob), count, values);
  EXPECT_TRUE(decoded.ok()) << decoded.error().message();
  return values;
}

// The bytes by hand from the table in docs/store.md: other programs read them.
TEST(Encoding, BytesAreAsDocumented) {
  const std::vector<std::int64_t> small = {1, 258, 4'294'967'295};
  EXPECT_EQ(hex(encode_integers(small)),
            "01"
            "01000000"
            "02010000"
            "ffffffff");
  const std::vector<std::int64_t> large = {-1, 3};
  EXPECT_EQ(hex(encode_integers(large)),
            "03"
            "ffffffffffffffff"
            "04000000");
  const std::vector<std::int64_t> falling = {4'294'967'296, 1};
  EXPECT_EQ(hex(encode_integers(falling)),
            "02"
            "0000000001000000"
            "0100000000000000");
  const std::vector<double> halves = {0.5, -2.0};  // 0x3f000000, 0xc0000000
  EXPECT_EQ(hex(encode_reals(halves)),
            "04"
            "0000003f"
            "000000c0");
  const std::vector<double> tenth = {0.1};  // 0x3fb999999999999a
  EXPECT_EQ(hex(encode_reals(tenth)),
            "05"
            "9a9999999999b93f");
}

TEST(Encoding, IntegersComeBack) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::vector<std::int64_t>> cases = {
      {},
      {0},
      {kMax},
      {kMin},
      {kMin, kMax},
      {kMax, kMin},
      {kMax, kMax},
      {kMin, kMin},
      {-1, -1, -1},
      {4'294'967'295},
      {4'294'967'296},
      {kMax - 1, kMax},
      {1'000'000'000'000, 1'000'000'000'000 + 4'294'967'295},
      {1'000'000'000'000, 1'000'000'000'000 + 4'294'967'296}};
  for (const std::vector<std::int64_t>& values : cases) {
    EXPECT_EQ(integers_back(encode_integers(values), values.size()), values);
  }
}

TEST(Encoding, RandomIntegersComeBack) {
  Random random(20261130);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::int64_t> values(random.below(50));
    const std::uint64_t shift = random.below(64);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random.next() >> shift);
    EXPECT_EQ(integers_back(encode_integers(values), values.size()), values);
  }
}

TEST(Encoding, TakesFourBytesForAnHourOfStarts) {
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i < 1000; ++i) starts.push_back(86'400'000'000'000 + i * 3'600'000'000);
  EXPECT_EQ(encode_integers(starts).size(), 1U + 8U + 999U * 4U);
}

TEST(Encoding, RealsComeBackBitForBit) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> cases = {
      {},       {1.5, 2.5},          {0.1}, {-0.0}, {1e300}, {infinity, -infinity}, {std::nan("")},
      {5e-324}, {3.4028235e38, 1e39}};
  for (const std::vector<double>& values : cases) {
    const std::string blob = encode_reals(values);
    std::vector<double> back;
    ASSERT_TRUE(decode_reals(bytes(blob), values.size(), back).ok());
    ASSERT_EQ(back.size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(back[i]), std::bit_cast<std::uint64_t>(values[i]));
    }
  }
}

TEST(Encoding, DamagedBlobsAreErrors) {
  std::vector<std::int64_t> values;
  std::vector<double> reals;
  const std::string good = encode_integers(std::vector<std::int64_t>{1, 2, 3});
  EXPECT_TRUE(decode_integers(bytes(good), 3, values).ok());
  EXPECT_EQ(decode_integers(bytes(good), 4, values).error().message(),
            "expected 4 numbers, found 3 in a column of 13 bytes");
  EXPECT_FALSE(decode_integers(bytes(std::string()), 0, values).ok());
  EXPECT_FALSE(decode_integers(bytes(good.substr(0, 12)), 3, values).ok());
  EXPECT_FALSE(
      decode_integers(bytes(std::string("\x03\x01\x02", 3)), 1, values).ok());  // no room for the first
  EXPECT_EQ(decode_integers(bytes(std::string("\x09\x01\x02\x03\x04", 5)), 1, values).error().message(),
            "expected an encoding from 1 to 5, found encoding 9");
  EXPECT_FALSE(decode_integers(bytes(encode_reals(std::vector<double>{1.0})), 1, values).ok());
  EXPECT_FALSE(decode_reals(bytes(good), 3, reals).ok());
}

TEST(JsonColumns, ComeBack) {
  const std::map<std::string, std::int64_t> dims{{"seq", 128},
                                                 {"most", std::numeric_limits<std::int64_t>::max()},
                                                 {"least", std::numeric_limits<std::int64_t>::min()}};
  EXPECT_EQ(dims_from_json(dims_to_json(dims)).value(), dims);
  const std::vector<std::vector<std::int64_t>> shapes{{1, 3, 224, 224}, {}, {-1}};
  EXPECT_EQ(shapes_from_json(shapes_to_json(shapes)).value(), shapes);
  EXPECT_EQ(dims_from_json("").value().size(), 0U);
}

// The JSON library would turn each of these numbers into some integer.
TEST(JsonColumns, NumbersThatAreNoIntegersOf64BitsAreErrors) {
  for (const char* number :
       {"1e30", "-1e30", "0.5", "128.0", "18446744073709551615", "9223372036854775808"}) {
    EXPECT_FALSE(dims_from_json(std::string(R"({"seq":)") + number + "}").ok()) << number;
    EXPECT_FALSE(shapes_from_json(std::string("[[1,") + number + "]]").ok()) << number;
  }
  EXPECT_FALSE(shapes_from_json(std::string(100'000, '[') + std::string(100'000, ']')).ok());
  EXPECT_FALSE(shapes_from_json("[[[1]]]").ok());
  EXPECT_FALSE(texts_from_json("[1]").ok());
}

}  // namespace
}  // namespace deepgap::store
