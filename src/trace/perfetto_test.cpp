#include "trace/perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "trace/importer.h"
#include "trace/timeline_builder.h"

namespace deepgap::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

nlohmann::json written(const Timeline& timeline) {
  const Steps steps = find_steps(timeline);
  std::string text;
  const Result<void> done =
      write_perfetto(timeline, steps, attribute(timeline, steps), [&](std::string_view piece) {
        text += piece;
        return Result<void>{};
      });
  EXPECT_TRUE(done.ok());
  return nlohmann::json::parse(text).at("traceEvents");
}

std::vector<nlohmann::json> slices(const nlohmann::json& events, std::string_view category) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json& each : events) {
    if (each.at("ph") == "X" && each.at("cat") == category) found.push_back(each);
  }
  return found;
}

TEST(Perfetto, HasTheEventsFromZeroAndTheLabels) {
  TimelineBuilder builder;
  builder.op("aten::relu", 1000, 8).launch(1002, 2, 1).kernel("relu \"1\"", 1020, 5, 1);
  const nlohmann::json events = written(builder.build());
  const auto kernels = slices(events, "kernel");
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0].at("name"), "relu \"1\"");
  EXPECT_DOUBLE_EQ(kernels[0].at("ts"), 20);
  EXPECT_DOUBLE_EQ(kernels[0].at("dur"), 5);
  EXPECT_EQ(kernels[0].at("args").at("correlation"), 1);
  double labelled = 0;
  for (const nlohmann::json& label : slices(events, "label")) labelled += label.at("dur").get<double>();
  EXPECT_NEAR(labelled, 25, 1e-9);
  EXPECT_THAT(slices(events, "step"), SizeIs(1));
}

TEST(Perfetto, AnArrowLeadsFromTheCallToItsKernel) {
  TimelineBuilder builder;
  builder.launch(2, 2, 1).kernel("relu", 20, 5, 1);
  const nlohmann::json events = written(builder.build());
  std::map<std::string, nlohmann::json> ends;
  for (const nlohmann::json& each : events) {
    if (each.at("ph") == "s" || each.at("ph") == "f") ends[each.at("ph")] = each;
  }
  ASSERT_THAT(ends, SizeIs(2));
  EXPECT_EQ(ends.at("s").at("id"), ends.at("f").at("id"));
  EXPECT_EQ(ends.at("s").at("tid"), slices(events, "cuda_runtime")[0].at("tid"));
  EXPECT_EQ(ends.at("f").at("tid"), slices(events, "kernel")[0].at("tid"));
}

TEST(Perfetto, SlicesOfATrackNestOrFollow) {
  TimelineBuilder builder;
  builder.kernel("a", 0, 10).kernel("b", 5, 10).kernel("c", 6, 2).kernel("d", 15, 5).kernel("e", 16, 0);
  const nlohmann::json events = written(builder.build());
  std::map<int, std::vector<std::pair<double, double>>> tracks;
  for (const nlohmann::json& each : slices(events, "kernel")) {
    tracks[each.at("tid")].emplace_back(each.at("ts"),
                                        each.at("ts").get<double>() + each.at("dur").get<double>());
  }
  EXPECT_THAT(tracks, SizeIs(2));
  for (const auto& [track, spans] : tracks) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      for (std::size_t j = i + 1; j < spans.size(); ++j) {
        const bool follows = spans[j].first >= spans[i].second;
        const bool nests = spans[j].second <= spans[i].second;
        EXPECT_TRUE(follows || nests) << track << ": " << i << " and " << j;
      }
    }
  }
  std::set<int> named;
  for (const nlohmann::json& each : events) {
    if (each.at("name") == "thread_name") named.insert(each.at("tid").get<int>());
  }
  for (const auto& [track, spans] : tracks) EXPECT_TRUE(named.contains(track));
}

TEST(Perfetto, AFullDiskEndsIt) {
  TimelineBuilder builder;
  builder.kernel("a", 0, 10);
  const Timeline timeline = builder.build();
  const Steps steps = find_steps(timeline);
  const Result<void> done = write_perfetto(timeline, steps, attribute(timeline, steps), [](std::string_view) {
    return Result<void>(bad_input("No space left on device"));
  });
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message(), HasSubstr("No space left"));
}

}  // namespace
}  // namespace deepgap::trace
