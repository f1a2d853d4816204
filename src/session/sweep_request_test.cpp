#include "session/sweep_request.h"

#include <gtest/gtest.h>

#include <limits>

namespace deepgap::session {
namespace {

RunOptions example() {
  RunOptions options;
  options.models = {"resnet50"};
  options.dims = {{"seq", 128}};
  options.precisions = {Precision::kFp32};
  options.batches = {1, 8};
  options.modes = {Mode::kLatency};
  options.repeats = 3;
  options.time_limit = std::chrono::seconds(6);
  options.target = 0.01;
  options.seed = std::numeric_limits<std::uint64_t>::max();
  options.asked = {.time_limit = true, .seed = true};
  return options;
}

// The example's request with one part of its text replaced.
Result<RunOptions> parsed_with(const std::string& part, const std::string& replacement) {
  std::string json = request_json(example());
  const std::size_t at = json.find(part);
  EXPECT_NE(at, std::string::npos) << json;
  return parse_request(json.replace(at, part.size(), replacement));
}

TEST(SweepRequest, ComesBack) {
  const Result<RunOptions> back = parse_request(request_json(example()));
  ASSERT_TRUE(back.ok()) << back.error().message();
  EXPECT_TRUE(request_differences(example(), *back).empty());
  EXPECT_EQ(back->seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(back->asked, example().asked);
}

TEST(SweepRequest, WhatWasAskedForIsKeptAndIsNoDifference) {
  RunOptions silent = example();
  silent.asked = {};
  EXPECT_TRUE(request_differences(example(), silent).empty());
  EXPECT_EQ(parse_request(request_json(silent))->asked, run::Asked{});
}

// The JSON library would turn each of these numbers into some integer.
TEST(SweepRequest, NumbersThatDoNotFitAreErrors) {
  EXPECT_TRUE(parsed_with(R"("repeats":3)", R"("repeats":4)").ok());
  EXPECT_FALSE(parsed_with(R"("repeats":3)", R"("repeats":4294967299)").ok());
  EXPECT_FALSE(parsed_with(R"("repeats":3)", R"("repeats":3.5)").ok());
  EXPECT_FALSE(parsed_with(R"("seed":18446744073709551615)", R"("seed":18446744073709551616)").ok());
  EXPECT_FALSE(parsed_with(R"("seed":18446744073709551615)", R"("seed":-1)").ok());
  EXPECT_FALSE(parsed_with(R"("time_limit_ns":6000000000)", R"("time_limit_ns":1e300)").ok());
  EXPECT_FALSE(parsed_with(R"([1,8])", R"([1,9223372036854775808])").ok());
  EXPECT_FALSE(parsed_with(R"({"seq":128})", R"({"seq":1e30})").ok());
}

TEST(SweepRequest, APathThatIsNoUtf8CanBeKept) {
  RunOptions options = example();
  options.models = {"/models/\xFF.onnx"};
  EXPECT_TRUE(parse_request(request_json(options)).ok());
}

}  // namespace
}  // namespace deepgap::session
