#include "session/preset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/sweep_request.h"

namespace deepgap::session {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Preset, TheStudiesGridsAreAsPublished) {
  for (const char* name : {"gdev-ai", "deep-gap"}) {
    const Preset& preset = **find_preset(name);
    EXPECT_THAT(preset.models, ElementsAre("resnet18", "resnet50", "resnet101"));
    EXPECT_THAT(preset.batches, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 384, 512));
    EXPECT_EQ(preset.sweeps * preset.repeats_per_sweep, 30);
    EXPECT_EQ(preset.warmup_iterations, 20);
    EXPECT_EQ(preset.timed_iterations, 100);
  }
  EXPECT_THAT((*find_preset("deep-gap"))->precisions,
              ElementsAre(Precision::kFp32, Precision::kFp16, Precision::kInt8));
  EXPECT_THAT((*find_preset("gdev-ai"))->precisions, ElementsAre(Precision::kFp32));
}

TEST(Preset, AnUnknownNameIsNamedWithTheNearest) {
  const Result<const Preset*> result = find_preset("gdevai");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind(), ErrorKind::kUsage);
  EXPECT_THAT(result.error().message(), HasSubstr("did you mean 'gdev-ai'?"));
}

TEST(Preset, WhatTheUserSaidWins) {
  RunOptions options{.models = {"resnet18"}, .batches = {4}};
  apply(**find_preset("gdev-ai"), options);
  EXPECT_THAT(options.models, ElementsAre("resnet18"));
  EXPECT_THAT(options.batches, ElementsAre(4));
  EXPECT_THAT(options.precisions, ElementsAre(Precision::kFp32));
}

TEST(Preset, PublishedCountsOnlyWhenAskedFor) {
  RunOptions published{.like_published = true};
  apply(**find_preset("gdev-ai"), published);
  apply_defaults(published);
  EXPECT_EQ(published.repeats, 30);
  EXPECT_EQ(published.most_repeats, 30);

  RunOptions adaptive{.preset = "gdev-ai"};
  apply(**find_preset("gdev-ai"), adaptive);
  apply_defaults(adaptive);
  EXPECT_EQ(adaptive.repeats, 4);
  EXPECT_EQ(adaptive.most_repeats, 12)
      << "goes on until the interval with process variation is within the target";
  EXPECT_FALSE(adaptive.time_limit.has_value());  // follows from the forecast of each cell
}

TEST(Preset, TypedPrecisionsAreNoneOfThePresets) {
  RunOptions open;
  apply(**find_preset("deep-gap"), open);
  EXPECT_TRUE(open.preset_precisions);
  RunOptions typed{.precisions = {Precision::kFp16}, .time_limit = std::chrono::seconds(5)};
  apply(**find_preset("deep-gap"), typed);
  apply_defaults(typed);
  EXPECT_FALSE(typed.preset_precisions);
  EXPECT_EQ(typed.time_limit, std::chrono::seconds(5));
}

TEST(Preset, DefaultsAreThoseOfTheCommandLine) {
  RunOptions options;
  apply_defaults(options);
  EXPECT_THAT(options.engines, ElementsAre("openvino"));
  EXPECT_THAT(options.devices, ElementsAre("cpu"));
  EXPECT_THAT(options.modes, ElementsAre(Mode::kLatency, Mode::kThroughput));
  EXPECT_THAT(options.batches, ElementsAre(1));
  EXPECT_EQ(options.repeats, 3);
  EXPECT_EQ(options.most_repeats, 3);
  EXPECT_EQ(options.time_limit, std::chrono::seconds(20));
}

TEST(SweepRequest, ReadsBackWhatItWrote) {
  RunOptions options{.models = {"resnet18", "my model.onnx"},
                     .dims = {{"seq", 128}},
                     .engines = {"fake"},
                     .devices = {"cpu"},
                     .precisions = {Precision::kBf16},
                     .batches = {1, 8},
                     .modes = {Mode::kThroughput},
                     .settings = {{"cpu.threads", "2"}},
                     .time_limit = std::chrono::seconds(3),
                     .target = 0.02,
                     .repeats = 4,
                     .most_repeats = 9,
                     .in_flight = 2,
                     .input_buffers = 1,
                     .hang_limit = std::chrono::seconds(9),
                     .seed = 18446744073709551615ULL,
                     .isolation = run::Isolation::kCell,
                     .preset = "gdev-ai",
                     .preset_precisions = true,
                     .like_published = true};
  const std::string json = request_json(options);
  const Result<RunOptions> read = parse_request(json);
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(request_json(*read), json);
  EXPECT_EQ(*read->seed, 18446744073709551615ULL);
  EXPECT_THAT(request_differences(options, *read), ElementsAre());
}

TEST(SweepRequest, DifferencesAreNamed) {
  RunOptions a{.models = {"resnet18"}, .batches = {1}};
  RunOptions b{.models = {"resnet18"}, .batches = {1, 2}, .target = 0.02};
  EXPECT_THAT(request_differences(a, b), ElementsAre("batches", "target"));
}

TEST(SweepRequest, ForeignTextIsAnError) {
  for (const char* text : {"", "{}", "[1]", "not json", R"({"models":["a"],"dims":3})"}) {
    const Result<RunOptions> result = parse_request(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().kind(), ErrorKind::kBadInput);
  }
}

}  // namespace
}  // namespace deepgap::session
