#include "base/units.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/random.h"

namespace deepgap {
namespace {

using testing::HasSubstr;

std::int64_t parsed(std::string_view text) {
  const Result<Nanoseconds> duration = parse_duration(text);
  EXPECT_TRUE(duration.ok()) << text << ": " << (duration.ok() ? "" : duration.error().message());
  return duration.ok() ? duration->count() : -1;
}

std::string refused(std::string_view text) {
  const Result<Nanoseconds> duration = parse_duration(text);
  EXPECT_FALSE(duration.ok()) << text;
  return duration.ok() ? "" : duration.error().message();
}

std::string duration(std::int64_t nanoseconds) {
  return format_duration(Nanoseconds{nanoseconds});
}
std::string bytes(std::int64_t size) {
  return format_bytes(Bytes{size});
}

TEST(ParseDuration, KnowsEachUnit) {
  EXPECT_EQ(parsed("250us"), 250'000);
  EXPECT_EQ(parsed("7ns"), 7);
  EXPECT_EQ(parsed("500ms"), 500'000'000);
  EXPECT_EQ(parsed("6s"), 6'000'000'000);
  EXPECT_EQ(parsed("3m"), 180'000'000'000);
  EXPECT_EQ(parsed("3min"), 180'000'000'000);
  EXPECT_EQ(parsed("1h"), 3'600'000'000'000);
  EXPECT_EQ(parsed("0s"), 0);
}

// 40.4e6, 0.29e9 and 1.1e9 times 3 are not exact in binary fractions: 0.29 * 1e9 is 289'999'999.99999994 as a
// double.
TEST(ParseDuration, IsExact) {
  EXPECT_EQ(parsed("40.4ms"), 40'400'000);
  EXPECT_EQ(parsed("0.29s"), 290'000'000);
  EXPECT_EQ(parsed("1.005s"), 1'005'000'000);
  EXPECT_EQ(parsed("0.000000001s"), 1);
  EXPECT_EQ(parsed("9007199254740993ns"), 9'007'199'254'740'993);  // 2^53 + 1
  EXPECT_EQ(parsed("0.0000000000025h"), 9);                        // 3.6e12 * 2.5e-12
  EXPECT_EQ(parsed("1.50000000000000000000000000000m"), 90'000'000'000);
  EXPECT_EQ(parsed(".5s"), 500'000'000);
  EXPECT_EQ(parsed("5.s"), 5'000'000'000);
  EXPECT_EQ(parsed("  5 ms "), 5'000'000);
  EXPECT_EQ(parsed("00000000000000000000000000000001s"), 1'000'000'000);
}

TEST(ParseDuration, TheLongestIsTheLargestInteger) {
  EXPECT_EQ(parsed("9223372036854775807ns"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parsed("9223372036.854775807s"), std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(refused("9223372036854775808ns"), HasSubstr("292 years"));
  EXPECT_THAT(refused("9223372036.854775808s"), HasSubstr("292 years"));
  EXPECT_THAT(refused("2562048h"), HasSubstr("292 years"));
  EXPECT_THAT(refused("99999999999999999999999999999999999999999999999999h"), HasSubstr("292 years"));
}

TEST(ParseDuration, SaysWhatIsWrong) {
  EXPECT_EQ(refused("500"),
            "expected a duration such as 500ms, 6s or 3m, found '500': it has no unit; add one of "
            "ns, us, ms, s, m, h");
  EXPECT_EQ(
      refused("-5s"),
      "expected a duration such as 500ms, 6s or 3m, found '-5s': it is negative; write one that is not");
  EXPECT_THAT(refused("5 weeks"), HasSubstr("'weeks' is no unit known here"));
  EXPECT_THAT(refused("1h30m"), HasSubstr("'h30m' is no unit"));
  EXPECT_THAT(refused("1e3ms"), HasSubstr("'e3ms' is no unit"));
  EXPECT_THAT(refused("1,5s"), HasSubstr("',5s' is no unit"));
  EXPECT_THAT(refused(""), HasSubstr("it is empty"));
  EXPECT_THAT(refused(" \t"), HasSubstr("it is empty"));
  EXPECT_THAT(refused("ms"), HasSubstr("does not begin with a number"));
  EXPECT_THAT(refused(".s"), HasSubstr("does not begin with a number"));
  EXPECT_THAT(refused("+5s"), HasSubstr("does not begin with a number"));
  EXPECT_THAT(refused("inf"), HasSubstr("does not begin with a number"));
  EXPECT_THAT(refused("1.2.3s"), HasSubstr("'.3s' is no unit"));
  EXPECT_THAT(refused("0.5ns"), HasSubstr("finer than a nanosecond"));
  EXPECT_THAT(refused("0.3333333333s"), HasSubstr("finer than a nanosecond"));
  EXPECT_THAT(refused("0.0000000000000000000000000001h"), HasSubstr("finer than a nanosecond"));
  EXPECT_THAT(refused("5\x1b[2Js"), HasSubstr("5\\x1b[2Js"));
  EXPECT_EQ(parse_duration("500").error().kind(), ErrorKind::kUsage);
}

TEST(FormatDuration, HasFourDigitsInTheUnitThatFits) {
  EXPECT_EQ(duration(812), "812 ns");
  EXPECT_EQ(duration(3'214'000), "3.214 ms");
  EXPECT_EQ(duration(12'410'000'000), "12.41 s");
  EXPECT_EQ(duration(40'400'000), "40.4 ms");
  EXPECT_EQ(duration(1'000), "1 us");
  EXPECT_EQ(duration(999), "999 ns");
  EXPECT_EQ(duration(150'000'000'000), "2.5 min");
  EXPECT_EQ(duration(5'400'000'000'000), "1.5 h");
  EXPECT_EQ(duration(0), "0 ns");
}

TEST(FormatDuration, RoundsOnceHalfAwayFromZero) {
  EXPECT_EQ(duration(1'234'499), "1.234 ms");
  EXPECT_EQ(duration(1'234'500), "1.235 ms");
  EXPECT_EQ(duration(-1'234'500), "-1.235 ms");
  EXPECT_EQ(duration(10'005'000), "10.01 ms");  // 10.005 is below the tie as a double
}

TEST(FormatDuration, WhatRoundsUpToTheNextUnitIsShownInIt) {
  EXPECT_EQ(duration(999'960), "1 ms");
  EXPECT_EQ(duration(999'950), "1 ms");
  EXPECT_EQ(duration(999'949), "999.9 us");
  EXPECT_EQ(duration(999'950'000'000 / 1000), "1 s");
  EXPECT_EQ(duration(59'994'999'999), "59.99 s");
  EXPECT_EQ(duration(59'995'000'000), "1 min");
  EXPECT_EQ(duration(3'599'700'000'000), "1 h");  // 59.995 min
  EXPECT_EQ(duration(3'599'699'999'999), "59.99 min");
}

TEST(FormatDuration, KnowsTheEndsOfTheRange) {
  EXPECT_EQ(duration(std::numeric_limits<std::int64_t>::max()), "2562048 h");  // 2562047.79 h
  EXPECT_EQ(duration(std::numeric_limits<std::int64_t>::min()), "-2562048 h");
}

TEST(FormatDuration, IsReadBack) {
  for (const std::int64_t value : {1L, 812L, 40'400'000L, 150'000'000'000L, 5'400'000'000'000L}) {
    EXPECT_EQ(parsed(duration(value)), value);
  }
}

TEST(FormatBytes, HasDecimalPrefixes) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(612), "612 B");
  EXPECT_EQ(bytes(1'000), "1 kB");
  EXPECT_EQ(bytes(1'024), "1.024 kB");
  EXPECT_EQ(bytes(97'490'000), "97.49 MB");
  EXPECT_EQ(bytes(25'600'000), "25.6 MB");
  EXPECT_EQ(bytes(1'207'000'000), "1.207 GB");
  EXPECT_EQ(bytes(999'960), "1 MB");
  EXPECT_EQ(bytes(999'940), "999.9 kB");
  EXPECT_EQ(bytes(-999'960), "-1 MB");
  EXPECT_EQ(bytes(-612), "-612 B");
  EXPECT_EQ(bytes(std::numeric_limits<std::int64_t>::max()), "9.223 EB");
}

TEST(FormatCount, HasDecimalPrefixes) {
  EXPECT_EQ(format_count(25.56e6, ""), "25.56 M");
  EXPECT_EQ(format_count(7.8e9, "FLOP"), "7.8 GFLOP");
  EXPECT_EQ(format_count(4'090'000'000, "FLOP"), "4.09 GFLOP");
  EXPECT_EQ(format_count(812, "FLOP"), "812 FLOP");
  EXPECT_EQ(format_count(812, ""), "812");
  EXPECT_EQ(format_count(0, "FLOP"), "0 FLOP");
  EXPECT_EQ(format_count(0.25, "B"), "0.25 B");
  EXPECT_EQ(format_count(-1500, "B"), "-1.5 kB");
  EXPECT_EQ(format_count(999.96, "B"), "1 kB");
  EXPECT_EQ(format_count(999.94, "B"), "999.9 B");
  EXPECT_EQ(format_count(0.99996, "B"), "1 B");
  EXPECT_EQ(format_count(999'960'000, "B"), "1 GB");
  EXPECT_EQ(format_count(989.5e12, "FLOP/s"), "989.5 TFLOP/s");
  EXPECT_EQ(format_count(1.5e18, ""), "1.5 E");
  EXPECT_EQ(format_count(1.5e22, "B"), "15000 EB");
  EXPECT_EQ(format_count(std::numeric_limits<double>::quiet_NaN(), "B"), "nan B");
  EXPECT_EQ(format_count(-std::numeric_limits<double>::infinity(), ""), "-inf");
}

TEST(FormatNumber, HasAtMostTheDigitsAskedFor) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(1), "1");
  EXPECT_EQ(format_number(100), "100");
  EXPECT_EQ(format_number(1.5), "1.5");
  EXPECT_EQ(format_number(3.14159265), "3.142");
  EXPECT_EQ(format_number(3.14159265, 7), "3.141593");
  EXPECT_EQ(format_number(3.14159265, 1), "3");
  EXPECT_EQ(format_number(-0.012345), "-0.01235");  // the double is a little above the tie
  EXPECT_EQ(format_number(123456), "123500");
  EXPECT_EQ(format_number(999.96), "1000");
  EXPECT_EQ(format_number(0.099996), "0.1");
  EXPECT_EQ(format_number(0.1 + 0.2, 17), "0.30000000000000004");
  EXPECT_EQ(format_number(5, 0), "5");
}

TEST(FormatNumber, HasAnExponentOnlyFarFromOne) {
  EXPECT_EQ(format_number(1e-4), "0.0001");
  EXPECT_EQ(format_number(1.234e-4), "0.0001234");
  EXPECT_EQ(format_number(9.9994e-5), "9.999e-05");
  EXPECT_EQ(format_number(9.9996e-5), "0.0001");
  EXPECT_EQ(format_number(999'900'000), "999900000");
  EXPECT_EQ(format_number(999'960'000), "1e+09");
  EXPECT_EQ(format_number(1.5e9), "1.5e+09");
  EXPECT_EQ(format_number(-2.5e100), "-2.5e+100");
  EXPECT_EQ(format_number(std::numeric_limits<double>::denorm_min()), "4.941e-324");
}

// The shortcut for few digits against {fmt}'s exact rounding: random values, powers of ten with their
// neighbours, ties (1234.5, 0.125) with theirs.
TEST(FormatNumber, IsRoundedAsTheExactValueIs) {
  const auto expect_exact = [](double value) {
    for (const int digits : {1, 2, 4, 7, 9, 10, 17}) {
      const std::string exact = fmt::format("{:.{}e}", value, digits - 1);
      ASSERT_EQ(std::stod(format_number(value, digits)), std::stod(exact)) << exact << " " << digits;
    }
  };
  const auto with_neighbours = [&](double value) {
    for (const double one : {std::nextafter(value, 0.0), value, std::nextafter(value, 1e300)}) {
      expect_exact(one);
      expect_exact(-one);
    }
  };
  for (int exponent = -12; exponent <= 18; ++exponent) {
    const double power = std::stod(fmt::format("1e{}", exponent));
    with_neighbours(power);
    for (const double tie : {1.5, 2.5, 1.25, 1.75, 1.2345, 9.9995, 9.9985, 1.00005, 1.2345675})
      with_neighbours(tie * power);
  }
  for (const double tie : {0.125, 0.375, 1234.5, 1235.5, 12345.0, 12355.0, 0.00048828125})
    with_neighbours(tie);
  Random random(3);
  for (int i = 0; i < 20'000; ++i) expect_exact(std::exp(60 * random.uniform() - 25));
}

TEST(Amount, CountsInItsOwnUnit) {
  Bytes size{5};
  size += Bytes{3} * 2;
  EXPECT_EQ(size, Bytes{11});
  EXPECT_LT(size - Bytes{1}, size);
}

}  // namespace
}  // namespace deepgap
