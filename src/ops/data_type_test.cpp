#include "ops/data_type.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace deepgap::ops {
namespace {

TEST(DataType, SpellingsOfAllFrontEnds) {
  for (const char* text : {"float32", "FLOAT", "float", "f32", "torch.float32", " Float "}) {
    EXPECT_EQ(parse_data_type(text), DataType::kFloat32) << text;
  }
  EXPECT_EQ(parse_data_type("c10::Half"), DataType::kFloat16);
  EXPECT_EQ(parse_data_type("c10::BFloat16"), DataType::kBFloat16);
  EXPECT_EQ(parse_data_type("long int"), DataType::kInt64);
  EXPECT_EQ(parse_data_type("unsigned char"), DataType::kUInt8);
  EXPECT_EQ(parse_data_type("boolean"), DataType::kBool);
  EXPECT_EQ(parse_data_type("float8_e4m3fn"), DataType::kFloat8E4M3);
  EXPECT_EQ(parse_data_type("Scalar"), DataType::kUnknown);
  EXPECT_EQ(parse_data_type(""), DataType::kUnknown);
  EXPECT_EQ(parse_data_type(std::string(1000, 'f')), DataType::kUnknown);
}

TEST(DataType, NamesComeBack) {
  for (int i = 0; i <= static_cast<int>(DataType::kString); ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(parse_data_type(name_of(type)), type) << name_of(type);
  }
}

TEST(DataType, BytesArePackedAndBounded) {
  EXPECT_EQ(bytes_of(DataType::kFloat32, 10), Bytes{40});
  EXPECT_EQ(bytes_of(DataType::kInt4, 3), Bytes{2});
  EXPECT_EQ(bytes_of(DataType::kComplex128, 1), Bytes{16});
  EXPECT_EQ(bytes_of(DataType::kString, 3), std::nullopt);
  EXPECT_EQ(bytes_of(DataType::kUnknown, 3), std::nullopt);
  EXPECT_EQ(bytes_of(DataType::kFloat64, std::numeric_limits<std::int64_t>::max()), std::nullopt);
  EXPECT_EQ(bytes_of(DataType::kFloat64, -1), std::nullopt);
}

}  // namespace
}  // namespace deepgap::ops
