#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace deepgap {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return bad_input("expected an even number");
  return value / 2;
}

Result<int> quarter(int value) {
  DEEPGAP_ASSIGN(const int once, half(value).in("first half"));
  DEEPGAP_ASSIGN(const int twice, half(once).in("second half"));
  return twice;
}

Result<void> check(int value) {
  DEEPGAP_RETURN_IF_ERROR([&]() -> Result<void> {
    if (value < 0) return usage_error("negative");
    return {};
  }());
  return {};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(half(8).value(), 4);
  const Result<int> odd = half(3);
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().kind(), ErrorKind::kBadInput);
  EXPECT_EQ(odd.error().message(), "expected an even number");
}

TEST(Result, AssignPassesTheErrorOnWithItsContexts) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(3).error().message(), "first half: expected an even number");
  EXPECT_EQ(quarter(6).in("outside").error().message(), "outside: second half: expected an even number");
}

TEST(Result, ReturnIfErrorReturnsTheErrorOfAVoidResult) {
  EXPECT_TRUE(check(1).ok());
  EXPECT_EQ(check(-1).in("x").error().message(), "x: negative");
  EXPECT_TRUE(check(1).in("x").ok());
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto pass = [&]() -> Result<int> {
    DEEPGAP_ASSIGN(const std::unique_ptr<int> value, make());
    return *value;
  };
  EXPECT_EQ(*pass(), 7);
}

// The table of section 7 of the design.
TEST(Result, EveryKindHasItsExitCode) {
  EXPECT_EQ(static_cast<int>(exit_code(ErrorKind::kUsage)), 2);
  EXPECT_EQ(static_cast<int>(exit_code(ErrorKind::kBadInput)), 3);
  EXPECT_EQ(static_cast<int>(exit_code(ErrorKind::kPartial)), 4);
  EXPECT_EQ(static_cast<int>(exit_code(ErrorKind::kCancelled)), 4);
  EXPECT_EQ(static_cast<int>(exit_code(ErrorKind::kMissing)), 5);
  EXPECT_EQ(static_cast<int>(exit_code(ErrorKind::kInternal)), 70);
}

}  // namespace
}  // namespace deepgap
