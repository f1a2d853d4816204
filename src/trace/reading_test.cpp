#include "trace/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deepgap::trace {
namespace {

using ::testing::Optional;
using Kind = Reading::Kind;

TEST(Reading, NumbersWithAndWithoutUnits) {
  for (const auto& [cell, value, unit] :
       {std::tuple{"33.09 W", 33.09, "W"}, std::tuple{" 98 %", 98.0, "%"}, std::tuple{"841MiB", 841.0, "MiB"},
        std::tuple{"-3", -3.0, ""}, std::tuple{"\"7 C\"", 7.0, "C"}, std::tuple{"0", 0.0, ""}}) {
    const Reading reading = read_reading(cell);
    EXPECT_EQ(reading.kind, Kind::kNumber) << cell;
    EXPECT_DOUBLE_EQ(reading.value, value) << cell;
    EXPECT_EQ(reading.text, unit) << cell;
  }
}

TEST(Reading, WordsForWhatIsNotThere) {
  for (const char* cell :
       {"", "-", " [N/A]", "N/A", "[Not Supported]", "nan", "inf", "[Insufficient Permissions]"})
    EXPECT_EQ(read_reading(cell).kind, Kind::kMissing) << cell;
  for (const char* cell : {"ERR!", "[Unknown Error]", "[GPU requires reset]"})
    EXPECT_EQ(read_reading(cell).kind, Kind::kFault) << cell;
  for (const char* cell : {"P0", "0x01", "NVIDIA H200", "1e300", "Not Active", "5 apples", "]["})
    EXPECT_EQ(read_reading(cell).kind, Kind::kText) << cell;
}

TEST(Reading, UnitsBecomeOurs) {
  const Sensor power{.quantity = "power", .unit = Unit::kWatts, .scale = 1};
  EXPECT_THAT(value_of(power, read_reading("1500 mW")), Optional(1.5));
  EXPECT_THAT(value_of(power, read_reading("3")), Optional(3.0));
  EXPECT_FALSE(value_of(power, read_reading("3 MiB")));
  const Sensor memory{.quantity = "memory.used", .unit = Unit::kBytes, .scale = 1024 * 1024};
  EXPECT_THAT(value_of(memory, read_reading("2 MiB")), Optional(2097152.0));
  EXPECT_THAT(value_of(memory, read_reading("2")), Optional(2097152.0));
  EXPECT_THAT(value_of(memory, read_reading("2 GiB")), Optional(2147483648.0));
}

TEST(Reading, Masks) {
  EXPECT_THAT(read_mask(" 0x0000000000000104"), Optional(0x104U));
  EXPECT_THAT(read_mask("12"), Optional(12U));
  for (const char* cell : {"", "0x", "-1", "0x1g", "0x10000000000000000"})
    EXPECT_FALSE(read_mask(cell)) << cell;
}

}  // namespace
}  // namespace deepgap::trace
