#include "core/estimate.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace deepgap {
namespace {

constexpr std::array kAllUnits{Unit::kNanoseconds, Unit::kSamplesPerSecond,
                               Unit::kRatio,       Unit::kCount,
                               Unit::kBytes,       Unit::kBytesPerSecond,
                               Unit::kFlops,       Unit::kFlopsPerSecond,
                               Unit::kHertz,       Unit::kWatts,
                               Unit::kJoules,      Unit::kCelsius};

TEST(Unit, NamesAreThoseOfTheDocumentsAndAreReadBack) {
  EXPECT_EQ(name_of(Unit::kNanoseconds), "ns");
  EXPECT_EQ(name_of(Unit::kSamplesPerSecond), "samples/s");
  EXPECT_EQ(name_of(Unit::kFlopsPerSecond), "FLOP/s");
  EXPECT_EQ(name_of(Unit::kCelsius), "degC");
  for (Unit unit : kAllUnits) EXPECT_EQ(parse_unit(name_of(unit)), unit);
  EXPECT_FALSE(parse_unit("ms"));
  EXPECT_FALSE(parse_unit(""));
}

struct ValueCase {
  double value;
  Unit unit;
  const char* text;
};

class FormatValue : public testing::TestWithParam<ValueCase> {};

TEST_P(FormatValue, IsExactly) {
  EXPECT_EQ(format_value(GetParam().value, GetParam().unit), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Times, FormatValue,
    testing::Values(
        ValueCase{3214000, Unit::kNanoseconds, "3.214 ms"}, ValueCase{812, Unit::kNanoseconds, "812 ns"},
        ValueCase{812.5, Unit::kNanoseconds, "812.5 ns"}, ValueCase{0, Unit::kNanoseconds, "0 ns"},
        ValueCase{0.25, Unit::kNanoseconds, "0.25 ns"}, ValueCase{40'400'000, Unit::kNanoseconds, "40.4 ms"},
        ValueCase{12.41e9, Unit::kNanoseconds, "12.41 s"}, ValueCase{3.2e6, Unit::kNanoseconds, "3.2 ms"},
        ValueCase{90e9, Unit::kNanoseconds, "1.5 min"}, ValueCase{7.2e12, Unit::kNanoseconds, "2 h"},
        ValueCase{-2'500, Unit::kNanoseconds, "-2.5 us"},
        // What rounds up to the next unit or the next digit is shown as such.
        ValueCase{999'949, Unit::kNanoseconds, "999.9 us"}, ValueCase{999'960, Unit::kNanoseconds, "1 ms"},
        ValueCase{9'999'600, Unit::kNanoseconds, "10 ms"},
        ValueCase{59.9999e9, Unit::kNanoseconds, "1 min"}));

INSTANTIATE_TEST_SUITE_P(
    OtherUnits, FormatValue,
    testing::Values(ValueCase{812.4, Unit::kSamplesPerSecond, "812.4"},
                    ValueCase{12345.6, Unit::kSamplesPerSecond, "12346"},  // never "12350"
                    ValueCase{1.23456, Unit::kRatio, "1.235"}, ValueCase{0.05, Unit::kRatio, "0.05"},
                    ValueCase{0.000123456, Unit::kRatio, "0.0001235"}, ValueCase{1, Unit::kRatio, "1"},
                    ValueCase{10000, Unit::kCount, "10000"}, ValueCase{25'557'032, Unit::kCount, "25557032"},
                    ValueCase{612, Unit::kBytes, "612 B"}, ValueCase{97.49e6, Unit::kBytes, "97.49 MB"},
                    ValueCase{204.8e9, Unit::kBytesPerSecond, "204.8 GB/s"},
                    ValueCase{4.09e9, Unit::kFlops, "4.09 GFLOP"},
                    ValueCase{66.91e12, Unit::kFlopsPerSecond, "66.91 TFLOP/s"},
                    ValueCase{1.98e9, Unit::kHertz, "1.98 GHz"}, ValueCase{0.35, Unit::kWatts, "0.35 W"},
                    ValueCase{350, Unit::kWatts, "350 W"}, ValueCase{1200, Unit::kJoules, "1.2 kJ"},
                    ValueCase{61.5, Unit::kCelsius, "61.5 degC"}, ValueCase{-4, Unit::kCelsius, "-4 degC"}));

TEST(FormatValue, OfWhatIsNoNumberIsADash) {
  EXPECT_EQ(format_value(std::numeric_limits<double>::quiet_NaN(), Unit::kRatio), "-");
  EXPECT_EQ(format_value(std::numeric_limits<double>::infinity(), Unit::kNanoseconds), "-");
}

Estimate estimate(double value, std::optional<double> lower, std::optional<double> upper, Unit unit) {
  return {value, lower, upper, 0.95, 100, unit, "test"};
}

TEST(RelativeHalfWidth, IsHalfTheIntervalOverTheValue) {
  const auto of = [](double value, std::optional<double> lower, std::optional<double> upper) {
    return relative_half_width({.value = value, .lower = lower, .upper = upper});
  };
  EXPECT_DOUBLE_EQ(of(200, 190, 214).value(), 0.06);
  EXPECT_FALSE(of(200, std::nullopt, 214));
  EXPECT_FALSE(of(200, 190, std::nullopt));
  EXPECT_FALSE(of(0, -1, 1));
  EXPECT_FALSE(of(-5, -6, -4));
}

TEST(FormatEstimate, BoundsShareUnitAndDecimalsOfTheValue) {
  EXPECT_EQ(format_estimate(estimate(3'214'000, 3'190'000, 3'240'000, Unit::kNanoseconds)),
            "3.214 ms [3.190, 3.240]");
  EXPECT_EQ(format_estimate(estimate(3'200'000, 3'190'000, 3'241'000, Unit::kNanoseconds)),
            "3.200 ms [3.190, 3.241]");
  // The unit is the value's, also where a bound would have another one.
  EXPECT_EQ(format_estimate(estimate(1'050'000, 980'000, 1'200'000, Unit::kNanoseconds)),
            "1.050 ms [0.980, 1.200]");
  EXPECT_EQ(format_estimate(estimate(812.44, 800.1, 825, Unit::kSamplesPerSecond)), "812.4 [800.1, 825.0]");
  EXPECT_EQ(format_estimate(estimate(1.5e9, 1.4e9, 1.6e9, Unit::kBytesPerSecond)),
            "1.500 GB/s [1.400, 1.600]");
}

TEST(FormatEstimate, WholeNumbersStayWhole) {
  EXPECT_EQ(format_estimate(estimate(612, 600, 640, Unit::kNanoseconds)), "612 ns [600, 640]");
  EXPECT_EQ(format_estimate(estimate(64, std::nullopt, std::nullopt, Unit::kCount)), "64 [-, -]");
}

TEST(FormatEstimate, AnAbsentBoundIsADash) {
  EXPECT_EQ(format_estimate(estimate(3'410'000, 3'120'000, std::nullopt, Unit::kNanoseconds)),
            "3.410 ms [3.120, -]");
  EXPECT_EQ(format_estimate(estimate(1.25, std::nullopt, 1.5, Unit::kRatio)), "1.250 [-, 1.500]");
}

TEST(FormatEstimate, ABoundThatRoundsToZeroHasNoSign) {
  EXPECT_EQ(format_estimate(estimate(1.25, -0.0001, 1.5, Unit::kRatio)), "1.250 [0.000, 1.500]");
}

}  // namespace
}  // namespace deepgap
