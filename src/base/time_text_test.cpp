#include "base/time_text.h"

#include <gtest/gtest.h>

namespace deepgap {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;

// Each by `date -u -d ... +%s`.
TEST(ParseTime, ReadsTheFormsThatLogsHave) {
  EXPECT_EQ(parse_time("2025-09-08T17:26:50+08:00"), 1757323610 * kSecond);
  EXPECT_EQ(parse_time("2025-09-08T09:26:50Z"), 1757323610 * kSecond);
  EXPECT_EQ(parse_time("2025-09-08 09:26:50 UTC"), 1757323610 * kSecond);
  EXPECT_EQ(parse_time("2025-09-08 14:56:50+0530"), 1757323610 * kSecond);
  EXPECT_EQ(parse_time("2025/06/13 00:27:52.195"), 1749774472 * kSecond + 195'000'000);
  EXPECT_EQ(parse_time("20250613 00:27:52"), 1749774472 * kSecond);
  EXPECT_EQ(parse_time("2026-11-30T15:57:33.938838525"), 1796054253 * kSecond + 938'838'525);
  EXPECT_EQ(parse_time("1970-01-01T00:00:00,5Z"), kSecond / 2);
}

TEST(ParseTime, AZoneOfItsOwnWinsOverTheClocks) {
  EXPECT_EQ(parse_time("2025/06/13 00:27:52", 2 * kHour), 1749774472 * kSecond - 2 * kHour);
  EXPECT_EQ(parse_time("2025-09-08T09:26:50Z", 2 * kHour), 1757323610 * kSecond);
}

TEST(ParseTime, NumbersAreSinceNineteenSeventy) {
  EXPECT_EQ(parse_time("1749774472"), 1749774472 * kSecond);
  EXPECT_EQ(parse_time("1749774472.195"), 1749774472 * kSecond + 195'000'000);
  EXPECT_EQ(parse_time("1749774472195"), 1749774472 * kSecond + 195'000'000);
  EXPECT_EQ(parse_time("1749774472195000.5"), 1749774472 * kSecond + 195'000'500);
  EXPECT_EQ(parse_time("1749774472195000001"), 1749774472 * kSecond + 195'000'001);
  EXPECT_EQ(parse_time("1749774472", 2 * kHour), 1749774472 * kSecond) << "these have no zone";
}

TEST(ParseTime, WhatIsNoneIsNone) {
  for (const char* text : {"",
                           "-",
                           "12:00:00",
                           "2025-02-29T00:00:00Z",
                           "2025-13-01 00:00:00",
                           "2025/06-13 00:27:52",
                           "2025-06-13",
                           "2025-06-13T24:00:00",
                           "2025-06-13T00:61:00",
                           "2025-06-13T00:00:00.",
                           "2025-06-13T00:00:00+99:00",
                           "2025-06-13T00:00:00 later",
                           "1969-12-31T23:59:59Z",
                           "2200-01-01 00:00:00",
                           "17497744",
                           "1749774472x",
                           "9999999999999999999",
                           "99999999999",
                           "1e9",
                           "1749774472.5.5",
                           "20250613",
                           "202506130 00:27:52"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

TEST(ParseUtcOffset, ReadsHoursAndMinutes) {
  EXPECT_EQ(parse_utc_offset("+02:00"), 2 * kHour);
  EXPECT_EQ(parse_utc_offset("-05:30"), -(5 * kHour + kHour / 2));
  EXPECT_EQ(parse_utc_offset("+0530"), 5 * kHour + kHour / 2);
  EXPECT_EQ(parse_utc_offset("2"), 2 * kHour);
  EXPECT_EQ(parse_utc_offset("Z"), 0);
  for (const char* text : {"", "+", "25", "+02:60", "+2:0", "02:00:00", "UTC", "+15:01", "++2"}) {
    EXPECT_FALSE(parse_utc_offset(text)) << text;
  }
}

}  // namespace
}  // namespace deepgap
